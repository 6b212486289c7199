"""How often many n-grams occur, all searched at once in the suffix array of an index.

The engine searches for one n-gram at a time and starts a thread for it, which takes longer than the search. Here each
step of the search is done for all n-grams together:

    table      ranks 0 1 2 ...    where in the tokens the suffix of this rank begins; suffixes stand in their order
    tokens     ... 7 4 9 4 ...    the corpus, in the order of its bytes: of two tokens the one with the lower first byte
    (4, 9)     the ranks from the first suffix that is not below (4, 9) to the first above all that begin with (4, 9)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

# Bytes of a token by the engine's name of its type. The suffixes were sorted byte by byte and a token's lowest byte
# stands first, so that read with the highest byte first tokens compare as their bytes do.
AS_SORTED = {"u8": ">u1", "u16": ">u2", "u32": ">u4"}


@dataclass(frozen=True, slots=True)
class Shard:
    """One shard's tokens in the order of their bytes, and where each suffix begins (bytes of a pointer, a row each)."""

    tokens: np.ndarray
    table: np.ndarray

    def begins(self, ranks: np.ndarray, width: int) -> np.ndarray:
        """The places of tokens at which the suffixes of these ranks begin."""
        pointers = np.zeros((len(ranks), 8), dtype=np.uint8)
        pointers[:, : self.table.shape[1]] = self.table[ranks]
        return pointers.view("<u8")[:, 0].astype(np.int64) // width


class SuffixSearch:
    """The shards of an index in `folder`, opened as they lie."""

    def __init__(self, folder: Path, dtype: str) -> None:
        self._type = np.dtype(AS_SORTED[dtype])
        self._shards = [self._open(folder, number) for number in range(len(list(folder.glob("tokenized.*"))))]

    def counts(self, ngrams: Sequence[Sequence[int]]) -> list[int]:
        """How often each n-gram occurs, in the order asked; quickest for n-grams in their own order."""
        counts = np.zeros(len(ngrams), dtype=np.int64)
        lengths = np.array([len(ngram) for ngram in ngrams])
        for length in np.unique(lengths):
            places = np.flatnonzero(lengths == length)
            counts[places] = self.count_rows(np.array([ngrams[place] for place in places.tolist()], dtype="<u4"))
        return counts.tolist()

    def count_rows(self, ngrams: np.ndarray) -> np.ndarray:
        """How often the n-gram of each row occurs; quickest for rows in order."""
        wanted = ngrams.astype(self._type.newbyteorder("<")).view(self._type)
        counts = np.zeros(len(ngrams), dtype=np.int64)
        for shard in self._shards:
            counts += self._count(shard, wanted)
        return counts

    def _open(self, folder: Path, number: int) -> Shard:
        tokens = np.memmap(folder / f"tokenized.{number}", dtype=self._type, mode="r")
        table = np.memmap(folder / f"table.{number}", dtype=np.uint8, mode="r")
        return Shard(tokens, table.reshape(len(tokens), -1))

    def _count(self, shard: Shard, wanted: np.ndarray) -> np.ndarray:
        first = self._search(shard, wanted, above=False)
        counts = np.zeros(len(wanted), dtype=np.int64)
        # Most n-grams of a small corpus never occur: only for the others it matters where they end.
        occurring = np.flatnonzero(first < len(shard.tokens))
        occurring = occurring[self._compare(shard, first[occurring], wanted[occurring]) == 0]
        counts[occurring] = self._search(shard, wanted[occurring], above=True) - first[occurring]
        return counts

    def _search(self, shard: Shard, wanted: np.ndarray, *, above: bool) -> np.ndarray:
        """The rank of the first suffix that is not below each n-gram, or of the first above all that begin with it."""
        low = np.zeros(len(wanted), dtype=np.int64)
        high = np.full(len(wanted), len(shard.tokens), dtype=np.int64)
        while len(open_ones := np.flatnonzero(low < high)):
            middle = (low[open_ones] + high[open_ones]) // 2
            order = self._compare(shard, middle, wanted[open_ones])
            is_before = order <= 0 if above else order < 0
            low[open_ones[is_before]] = middle[is_before] + 1
            high[open_ones[~is_before]] = middle[~is_before]
        return low

    def _compare(self, shard: Shard, ranks: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """-1 where the suffix of a rank is below the n-gram, 0 where it begins with it, 1 where it is above."""
        begins = shard.begins(ranks, self._type.itemsize)
        order = np.zeros(len(ranks), dtype=np.int8)
        for place in range(wanted.shape[1]):
            equal = np.flatnonzero(order == 0) if place else slice(None)
            at = begins[equal] + place
            there = shard.tokens[np.minimum(at, len(shard.tokens) - 1)]
            asked = wanted[equal, place]
            # A suffix that ends before the n-gram does is below it.
            order[equal] = np.where((at >= len(shard.tokens)) | (there < asked), -1, there > asked)
        return order
