"""Counts by looking at every token of an index: slow, and right beyond doubt."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

DTYPES = {"u8": "<u1", "u16": "<u2", "u32": "<u4"}
WINDOW = 1 << 25  # tokens looked at in one go


def count(tokens: np.ndarray, ngram: Sequence[int]) -> int:
    """How often the n-gram stands in the token stream, overlapping occurrences included."""
    total, n = 0, len(ngram)
    for first in range(0, max(len(tokens) - n + 1, 0), WINDOW):
        window = tokens[first : first + WINDOW + n - 1]
        starts = np.flatnonzero(window[: len(window) - n + 1] == ngram[0])
        for i in range(1, n):
            starts = starts[window[starts + i] == ngram[i]]
        total += len(starts)
    return total


def token_stream(folder: Path, dtype: str, shard: int = 0) -> np.ndarray:
    """All tokens of a shard with its document separators, as a view of the file."""
    return np.memmap(folder / f"tokenized.{shard}", dtype=DTYPES[dtype], mode="r")


def sample_ngrams(
    tokens: np.ndarray, separator: int, amount: int, seed: int, longest: int = 10
) -> list[tuple[int, ...]]:
    """N-grams of 1 to `longest` tokens: three in four stand somewhere in the stream, the rest have one id changed."""
    random = np.random.default_rng(seed)
    ngrams: list[tuple[int, ...]] = []
    for _ in range(100 * amount):
        if len(ngrams) == amount:
            break
        n = int(random.integers(1, longest + 1))
        start = int(random.integers(0, max(len(tokens) - n, 1)))
        ngram = tokens[start : start + n].astype(int).tolist()
        if random.random() < 0.25:
            ngram[int(random.integers(0, len(ngram)))] = int(tokens[int(random.integers(0, len(tokens)))])
        if separator not in ngram:
            ngrams.append(tuple(ngram))
    return ngrams
