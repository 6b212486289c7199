"""Many n-grams searched for at once: what the search finds is what stands in the tokens."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from explorer.popularity import brute_force
from explorer.popularity.manifest import SEPARATORS
from explorer.popularity.suffix_search import SuffixSearch


def write_shard(folder: Path, number: int, tokens: np.ndarray, width: int) -> None:
    """A shard as the engine's package writes it: tokens, and where each suffix begins, sorted byte by byte."""
    data = tokens.tobytes()
    begins = sorted(range(0, len(data), tokens.itemsize), key=lambda begin: data[begin:])
    (folder / f"tokenized.{number}").write_bytes(data)
    (folder / f"table.{number}").write_bytes(b"".join(begin.to_bytes(width, "little") for begin in begins))


@pytest.mark.parametrize(
    ("dtype", "ids"), [("u8", (0, 1, 200)), ("u16", (1, 256, 255, 700)), ("u32", (3, 70_000, 257))]
)
def test_every_ngram_of_every_shard_is_counted_whatever_the_width_of_tokens(tmp_path: Path, dtype: str, ids):
    # 256 and 255 are sorted by their bytes: 00 01 before FF 00.
    random = np.random.default_rng(3)
    shards = [
        random.choice([*ids, SEPARATORS[dtype]], size=size).astype(brute_force.DTYPES[dtype]) for size in (90, 41)
    ]
    for number, tokens in enumerate(shards):
        write_shard(tmp_path, number, tokens, width=2 + number)
    search = SuffixSearch(tmp_path, dtype)
    ngrams = [ngram for length in (1, 2, 3) for ngram in itertools.product(ids, repeat=length)]
    ngrams += [tuple(tokens[-length:].tolist()) for tokens in shards for length in (1, 2, 5)]  # at a shard's very end
    ngrams += [(*shards[0][-2:].tolist(), each) for each in ids]  # begins as the last suffix and goes on
    truth = [sum(brute_force.count(tokens, ngram) for tokens in shards) for ngram in ngrams]
    assert 0 in truth and max(truth) > 10
    assert search.counts(ngrams) == truth
    assert search.counts([]) == []


def test_a_pointer_beyond_the_tokens_is_no_place_and_no_error(tmp_path: Path):
    tokens = np.array([1, 2, 1, 2], dtype="<u2")
    write_shard(tmp_path, 0, tokens, width=1)
    (tmp_path / "table.0").write_bytes(bytes([255, 255, 255, 255]))
    assert SuffixSearch(tmp_path, "u16").counts([(1, 2), (9,)]) == [0, 0]
