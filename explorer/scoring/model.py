"""What the rest of the explorer asks of a model: the protocols, and nothing of torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from explorer.records import Generation, PackedRow, Request, Score
from explorer.scoring.engine.contract import Progress, RowScores
from explorer.scoring.policy import Bos, ScoringPolicy, Split


@dataclass(frozen=True, slots=True)
class Encoding:
    """A request as token ids: `ids[start:]` is the continuation; `bos` tokens at the front were added by policy."""

    ids: tuple[int, ...]
    start: int
    bos: int
    straddles: bool


class LanguageModel(Protocol):
    """A causal language model that scores packed rows."""

    name: str
    window: int  # the longest sequence in tokens

    def record(self) -> dict[str, str | int]:
        """Model id, revision or weights hash, tokenizer hash, dtype, device, versions."""

    def encode(self, context: str, continuation: str, bos: Bos, split: Split) -> Encoding: ...

    def decode(self, ids: Sequence[int]) -> tuple[str, ...]:
        """The text of each token."""

    def logprobs(self, rows: Sequence[PackedRow], progress: Progress | None = None) -> list[RowScores]: ...


class Scorer(Protocol):
    """Scores in the order asked; the same for an embedded model, a Hugging Face model and an endpoint."""

    name: str

    def score(
        self, requests: Sequence[Request], policy: ScoringPolicy = ..., progress: Progress | None = None
    ) -> list[Score]: ...


class Generator(Protocol):
    """Greedy or sampled text after each request's context, in the order asked."""

    name: str

    def generate(
        self,
        requests: Sequence[Request],
        *,
        max_new_tokens: int,
        temperature: float = 0.0,
        seed: int = 0,
        stop: Sequence[str] = (),
        progress: Progress | None = None,
    ) -> list[Generation]: ...


@dataclass(frozen=True, slots=True)
class Gap:
    """A word of a text that another may stand for: what is left of it, the word, what is right of it."""

    left: str
    word: str
    right: str


class Proposer(Protocol):
    """Says which words fit a gap; `method` tells how and by which model, and stands beside every result."""

    name: str
    method: str

    def record(self) -> Mapping[str, Any]:
        """What identifies the model, its `weights` among it."""

    def propose(self, gaps: Sequence[Gap], count: int) -> list[list[tuple[str, float]]]:
        """For each gap at most `count` words, the best first, each with the log-probability that ranks it, in nats."""


class Encoder(Protocol):
    """Texts to unit vectors, float32, shape (texts, dimensions)."""

    name: str

    def encode(self, texts: Sequence[str]) -> np.ndarray: ...
