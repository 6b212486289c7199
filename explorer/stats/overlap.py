"""How much two token sequences share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

PAIRS = 10_000  # sentence pairs a cell, as the priming paper drew (appendix D)


@dataclass(frozen=True, slots=True)
class OverlapMatrix:
    """Mean token F1 of sentences of the row's group with sentences of the column's, over `pairs` drawn pairs a cell."""

    names: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]
    pairs: int


def token_f1(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """2 x shared / (tokens of both), a token shared as often as both have it; two empty sequences are equal (1.0)."""
    if not first and not second:
        return 1.0
    shared = sum((Counter(first) & Counter(second)).values())
    return 2 * shared / (len(first) + len(second))


# Every sentence is a row of counts over one vocabulary, and the shared tokens of two sentences are the sum of the
# smaller counts. So a cell's 10,000 pairs are one elementwise minimum of two sparse tables, not 10,000 counters:
#
#              the  cat  sat                   the diagonal: the partner of sentence i is drawn as i + 1 .. i + n - 1,
#     first     2    1    0    min  1  1  0    modulo n, which is every sentence but itself, each as likely
#     second    1    1    1    shared 2 of 3 + 3 tokens: F1 2 x 2 / 6
def overlap_matrix(
    groups: Mapping[str, Sequence[Sequence[Hashable]]], *, pairs: int = PAIRS, seed: int = 0
) -> OverlapMatrix:
    """Mean token F1 (of tokens, or of dependency labels) for every pair of groups, over random pairs of sentences.

    On the diagonal a sentence is never paired with itself; a group of one sentence has no diagonal (nan).
    """
    from scipy.sparse import vstack

    vocabulary: dict[Hashable, int] = {}
    for sentences in groups.values():
        for token in (token for sentence in sentences for token in sentence):
            vocabulary.setdefault(token, len(vocabulary))
    counted = [_word_counts(sentences, vocabulary) for sentences in groups.values()]
    starts = np.cumsum([0, *(table.shape[0] for table in counted)])
    table = vstack(counted, format="csr")
    lengths = np.asarray(table.sum(axis=1)).ravel()
    rng = np.random.default_rng(seed)
    values = np.full((len(counted), len(counted)), np.nan)
    for i, j in np.ndindex(values.shape):
        rows, others = starts[i + 1] - starts[i], starts[j + 1] - starts[j]
        if not rows or not others or (i == j and rows < 2):
            continue
        first = rng.integers(0, rows, pairs)
        second = (first + rng.integers(1, rows, pairs)) % rows if i == j else rng.integers(0, others, pairs)
        first, second = first + starts[i], second + starts[j]
        shared = np.asarray(table[first].minimum(table[second]).sum(axis=1)).ravel()
        total = lengths[first] + lengths[second]
        values[i, j] = np.where(total > 0, 2 * shared / np.maximum(total, 1), 1.0).mean()
    return OverlapMatrix(tuple(groups), tuple(map(tuple, values.tolist())), pairs)


def _word_counts(sentences: Sequence[Sequence[Hashable]], vocabulary: Mapping[Hashable, int]):
    from scipy.sparse import csr_matrix

    rows = np.repeat(np.arange(len(sentences)), [len(sentence) for sentence in sentences])
    columns = [vocabulary[token] for sentence in sentences for token in sentence]
    ones = np.ones(len(columns))
    return csr_matrix((ones, (rows, columns)), shape=(len(sentences), len(vocabulary)))  # adds up repeated tokens
