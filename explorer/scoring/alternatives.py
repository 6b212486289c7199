"""What a model would have written at a place of a text: the likeliest tokens there, with their probabilities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from explorer.errors import ScoringError
from explorer.records import Request
from explorer.scoring.model import Encoding
from explorer.scoring.policy import PRESETS, Bos, ScoringPolicy, Split

DEFAULT_COUNT = 10


class NextTokenModel(Protocol):
    """A model that says which tokens it expects next; one behind an endpoint does not."""

    window: int

    def encode(self, context: str, continuation: str, bos: Bos, split: Split) -> Encoding: ...

    def decode(self, ids: Sequence[int]) -> tuple[str, ...]: ...

    def likeliest(self, ids: Sequence[int], count: int) -> list[tuple[int, float]]: ...


@dataclass(frozen=True, slots=True)
class Alternative:
    """A token that could stand at a place: its text, its log-probability in nats, whether it does stand there."""

    text: str
    logprob: float
    stands: bool

    @property
    def probability(self) -> float:
        return math.exp(self.logprob)


def likeliest(
    model: NextTokenModel,
    request: Request,
    place: int,
    policy: ScoringPolicy = PRESETS["natural"],
    count: int = DEFAULT_COUNT,
) -> list[Alternative]:
    """The likeliest tokens in the place of the continuation's token number `place` (from 0), the likeliest first.

    They are those of the forward pass that scores the token: the same context, BOS and split.
    """
    before, standing = tokens_before(model, request, place, policy)
    ranked = model.likeliest(before, count)
    return [Alternative(model.decode((token,))[0], logprob, token == standing) for token, logprob in ranked]


def tokens_before(
    model: NextTokenModel, request: Request, place: int, policy: ScoringPolicy = PRESETS["natural"]
) -> tuple[tuple[int, ...], int]:
    """The tokens that stand before the continuation's token number `place`, and that token."""
    encoding = model.encode(*policy.move(request.context, request.continuation), policy.bos, policy.split)
    at = encoding.start + place
    if not encoding.start <= at < len(encoding.ids):
        many = len(encoding.ids) - encoding.start
        raise ScoringError(f"The text has {many} tokens, so there is no token number {place + 1}.")
    if at == 0:
        raise ScoringError("Nothing stands before the first token, so the model expects nothing there.")
    if at > model.window:
        raise ScoringError(f"{at:,} tokens stand before it, more than the model's window of {model.window:,}.")
    return encoding.ids[:at], encoding.ids[at]
