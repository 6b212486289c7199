"""What a run against a paid endpoint will cost, before it is made."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from explorer.records import Request

BYTES_A_TOKEN = 4  # English text in the tokenizers of OpenAI's models
TOKENS_A_TURN = 4  # marks around each turn of a conversation


@dataclass(frozen=True, slots=True)
class Estimate:
    """Calls, tokens and their price; tokens are estimated from bytes, the answers taken at their longest."""

    requests: int
    prompt_tokens: int
    new_tokens: int
    cost: float  # in the currency of the prices; nan where they were not given


def estimate(
    requests: Sequence[Request], max_new_tokens: int, price_in: float = math.nan, price_out: float = math.nan
) -> Estimate:
    """The most that the requests will cost; prices are per million tokens, read and written."""
    asked = sum(map(_tokens, requests))
    written = len(requests) * max_new_tokens
    return Estimate(len(requests), asked, written, (asked * price_in + written * price_out) / 1e6)


def _tokens(request: Request) -> int:
    turns = request.conversation or (("", request.context + request.continuation),)
    marks = TOKENS_A_TURN if request.conversation else 0
    return sum(marks + max(len(text.split()), math.ceil(len(text.encode()) / BYTES_A_TOKEN)) for _, text in turns)
