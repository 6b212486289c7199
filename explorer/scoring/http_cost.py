"""What a run against a paid endpoint will cost, before it is made."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from explorer.records import Request

BYTES_A_TOKEN = 4  # English text in the tokenizers of OpenAI's models
TOKENS_A_TURN = 4  # marks around each turn of a conversation


@dataclass(frozen=True, slots=True)
class Prices:
    """Per million tokens, read and written, in any currency; 0 where not given."""

    read: float = 0.0
    written: float = 0.0


@dataclass(frozen=True, slots=True)
class Planned:
    """Requests that will be made, each `times` times (or ones as long), and the most new tokens of an answer."""

    requests: Sequence[Request]
    new_tokens: int
    times: int = 1


@dataclass(frozen=True, slots=True)
class Estimate:
    """Calls, tokens and their price; tokens are estimated from bytes, the answers taken at their longest."""

    requests: int
    prompt_tokens: int
    new_tokens: int
    cost: float  # in the currency of the prices; nan where they were not given

    def in_words(self, server: str) -> str:
        """One sentence for the person who pays."""
        price = "less than 0.01" if 0 < self.cost < 0.01 else f"{self.cost:,.2f}"
        price = "" if math.isnan(self.cost) else f", {price} at the prices given"
        return (
            f"At most {self.requests:,} requests to {server}: about {self.prompt_tokens:,} tokens read and up to "
            f"{self.new_tokens:,} written{price}."
        )


def estimate(planned: Iterable[Planned], prices: Prices = Prices()) -> Estimate:
    """The most that the requests will cost."""
    requests = prompt_tokens = written = 0
    for each in planned:
        count = len(each.requests) * each.times
        requests += count
        prompt_tokens += sum(map(_tokens, each.requests)) * each.times
        written += count * each.new_tokens
    cost = (prompt_tokens * prices.read + written * prices.written) / 1e6
    return Estimate(requests, prompt_tokens, written, cost if prices.read or prices.written else math.nan)


def _tokens(request: Request) -> int:
    turns = request.conversation or (("", request.context + request.continuation),)
    marks = TOKENS_A_TURN if request.conversation else 0
    return sum(marks + max(len(text.split()), math.ceil(_bytes(text) / BYTES_A_TOKEN)) for _, text in turns)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
