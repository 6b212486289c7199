"""What the rest of the explorer asks of an n-gram counter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from explorer.records import Count


class Counter(Protocol):
    """Counts token n-grams in one index; a count that could not be had is nan with a reason, never 0."""

    index: str  # the name under which counts are cached

    def encode(self, texts: Sequence[str]) -> list[tuple[int, ...]]:
        """Token ids of each text in the index's own tokenizer, in running-text form (leading blank), no BOS."""

    def decode(self, ids: Sequence[int]) -> tuple[str, ...]:
        """The text of each token."""

    def count(
        self, ngrams: Sequence[tuple[int, ...]], progress: Callable[[int, int], None] | None = None
    ) -> list[Count]:
        """One Count per n-gram, in the order asked."""

    def total_tokens(self) -> float:
        """Corpus size in tokens, nan where unknown."""
