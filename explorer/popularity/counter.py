"""What the rest of the explorer asks of an n-gram counter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from explorer.errors import CountError
from explorer.popularity.next_tokens import Chance, Following
from explorer.records import Count

Progress = Callable[[int, int], None]  # n-grams done, n-grams in all


class TextNotEncoded(CountError):
    """One text cannot be turned into ids; others can."""


@dataclass(frozen=True, slots=True)
class Document:
    """A place in the corpus that holds an n-gram: text in pieces, each with whether it is the n-gram."""

    number: int  # the document's number in the index
    tokens: int  # its length in tokens (characters for a character index)
    pieces: tuple[tuple[str, bool], ...]
    source: str = ""  # file and line, where the index keeps them


class Counter(Protocol):
    """Counts token n-grams in one index; a count that could not be had is nan with a reason, never 0."""

    index: str  # the name under which counts are cached

    def encode(self, texts: Sequence[str], *, bare: bool = False) -> list[tuple[int, ...]]:
        """Token ids of each text in the index's own tokenizer, in running-text form (leading blank), no BOS.

        `bare` gives the form without the leading blank; the same ids where a tokenizer has no such form.
        """

    def decode(self, ids: Sequence[int]) -> tuple[str, ...]:
        """The text of each token."""

    def count(self, ngrams: Sequence[tuple[int, ...]], progress: Progress | None = None) -> list[Count]:
        """One Count per n-gram, in the order asked."""

    def total_tokens(self) -> float:
        """Corpus size in tokens, nan where unknown."""


@runtime_checkable
class RowCounter(Counter, Protocol):
    """A counter that can also take very many n-grams of one length, without an object for each."""

    @property
    def counts_at_once(self) -> bool:
        """Whether that is faster than `count`."""

    def count_rows(self, ngrams: np.ndarray, progress: Progress | None = None) -> np.ndarray:
        """How often the n-gram of each row occurs; nan where that could not be had."""


class DocumentCounter(Counter, Protocol):
    """A counter that can also show where an n-gram stands."""

    def documents(self, ids: Sequence[int], limit: int = 5) -> list[Document]:
        """The first `limit` places that hold the n-gram, about a thousand tokens each."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where an n-gram stands: how often in all, and the ranks of each shard's suffix array that begin with it."""

    count: int
    ranks: tuple[tuple[int, int], ...]  # first, one behind the last

    def first(self, limit: int) -> list[tuple[int, int]]:
        """The first `limit` places as (shard, rank)."""
        hits = [
            (shard, rank)
            for shard, (first, last) in enumerate(self.ranks)
            for rank in range(first, min(last, first + limit))
        ]
        return hits[:limit]


class TokenIndex(DocumentCounter, Protocol):
    """All that can be asked of an index of tokens, the same of a folder on this machine and of a service."""

    def find(self, ids: Sequence[int]) -> Places:
        """Where an n-gram stands (infini-gram's `find`)."""

    def document(self, ids: Sequence[int], shard: int, rank: int) -> Document:
        """The document at a place that `find` gave, the n-gram marked (`get_doc_by_rank`)."""

    def chance(self, ids: Sequence[int], *, back_off: bool = False) -> Chance:
        """How likely the last token is after the others: `prob`, or with `back_off` `infgram_prob`."""

    def following(self, ids: Sequence[int], *, back_off: bool = False) -> Following:
        """Which tokens follow: `ntd`, or with `back_off` `infgram_ntd`, after the longest ending that occurs at all."""
