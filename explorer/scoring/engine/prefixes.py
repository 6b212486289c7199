"""What prompts have in common: sequences in, groups that share a prefix out, and forests in which they are read.

A group's prefix is read once and kept for the next call (decoder.PrefixCache); what its members share beyond it is
merged into rows of trees (`forest`), as tree.py does for scoring, and read in one pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from explorer.scoring.engine import tree

DEEPEST = 50  # nested groups; sequences that each go on from the one before could nest without end


@dataclass(frozen=True, slots=True)
class Group:
    """Sequences, by their places, that share their first `depth` tokens; each has at least one more of its own."""

    depth: int
    members: tuple[int, ...]


def group(sequences: Sequence[tuple[int, ...]], cost: float) -> list[Group]:
    """Groups that cover all sequences; some stand apart where their longer prefix saves more than `cost` tokens."""
    # Prompts of thousands of tokens that differ in the last ones are told apart by these alone.
    start = common_start(sequences)
    tails = [sequence[start:] for sequence in sequences]
    order = sorted(range(len(sequences)), key=tails.__getitem__)
    arrays = [np.asarray(tails[place], dtype=np.int64) for place in order]
    shared = [start + tree.common_prefix(left, right) for left, right in pairwise(arrays)]
    # The last token of a sequence is never shared: the model answers after it.
    most = [max(0, start + len(array) - 1) for array in arrays]
    divided = _divide(0, len(order), shared, most, cost, DEEPEST) if order else []
    return [Group(depth, tuple(order[place] for place in places)) for depth, places in divided]


def common_start(sequences: Sequence[tuple[int, ...]]) -> int:
    """How many tokens all of the sequences begin with."""
    if not sequences:
        return 0
    start = sequences[0]
    for sequence in sequences:
        if sequence[: len(start)] != start:
            start = start[: tree.common_prefix(np.asarray(start), np.asarray(sequence))]
    return len(start)


def _divide(
    first: int, after: int, shared: Sequence[int], most: Sequence[int], cost: float, levels: int
) -> list[tuple[int, list[int]]]:
    """Groups of the sorted sequences first..after-1, as depth and members; the last holds what stays together."""
    if after - first == 1:
        return [(0, [first])]
    # Of sorted sequences, what two neighbors share least is what all of them share.
    depth = min(min(shared[first : after - 1]), min(most[first:after]))
    cuts = [place + 1 for place in range(first, after - 1) if shared[place] <= depth]
    if not cuts or not levels:
        return [(depth, list(range(first, after)))]
    apart: list[tuple[int, list[int]]] = []
    together: list[int] = []
    for start, stop in pairwise([first, *cuts, after]):
        *settled, (deeper, members) = _divide(start, stop, shared, most, cost, levels - 1)
        apart += settled
        # Apart they are a batch of their own, which costs passes; together every member but one reads again what they
        # share beyond the common depth.
        if (len(members) - 1) * (deeper - depth) > cost:
            apart.append((deeper, members))
        else:
            together += members
    return [*apart, (depth, together)] if together else apart


@dataclass(frozen=True, slots=True)
class Forest:
    """Sequences merged where they begin alike, in rows of tokens in depth-first order, padded at the right."""

    ids: np.ndarray  # (rows, tokens)
    depths: np.ndarray  # of each token in its sequence, from 0
    ends: np.ndarray  # index after the last descendant, see tree.ends; a padding token ends with itself
    row: np.ndarray  # the row of each sequence, in the order given ...
    paths: tuple[np.ndarray, ...]  # ... and its tokens' places in that row
    tokens: int  # without the padding


def forest(sequences: Sequence[tuple[int, ...]], row_tokens: int) -> Forest:
    """The sequences in rows of at most `row_tokens` tokens, longer only where a single sequence is."""
    order = sorted(range(len(sequences)), key=sequences.__getitem__)
    rows = [_Row()]
    row = np.zeros(len(sequences), dtype=np.int64)
    paths: dict[int, np.ndarray] = {}
    for place in order:
        array = np.asarray(sequences[place])
        if rows[-1].ids and len(rows[-1].ids) + len(array) - rows[-1].shared(array) > row_tokens:
            rows.append(_Row())
        paths[place] = rows[-1].add(array)
        row[place] = len(rows) - 1
    shape = len(rows), max(len(row_of_tokens.ids) for row_of_tokens in rows)
    ids, depths = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    # Padding: each token ends with itself, so it is seen by none and sees itself (a softmax over nothing is nan).
    ends = np.tile(np.arange(1, shape[1] + 1), (shape[0], 1))
    for number, row_of_tokens in enumerate(rows):
        size = len(row_of_tokens.ids)
        ids[number, :size], depths[number, :size] = row_of_tokens.ids, row_of_tokens.depths
        ends[number, :size] = tree.ends(np.asarray(row_of_tokens.parents))
    ordered = tuple(paths[place] for place in range(len(sequences)))
    return Forest(ids, depths, ends, row, ordered, sum(len(row_of_tokens.ids) for row_of_tokens in rows))


class _Row:
    """A row in the making; sequences come in sorted order."""

    def __init__(self) -> None:
        self.ids: list[int] = []
        self.parents: list[int] = []
        self.depths: list[int] = []
        self.last: np.ndarray = np.empty(0, dtype=np.int64)
        self.path: np.ndarray = np.empty(0, dtype=np.int64)

    def shared(self, array: np.ndarray) -> int:
        return tree.common_prefix(self.last, array)

    def add(self, array: np.ndarray) -> np.ndarray:
        shared, size = self.shared(array), len(self.ids)
        fresh = np.arange(size, size + len(array) - shared)
        self.path = np.concatenate([self.path[:shared], fresh])
        self.ids += array[shared:].tolist()
        self.parents += ([-1] if not shared else [int(self.path[shared - 1])])[: len(fresh)] + fresh[:-1].tolist()
        self.depths += range(shared, len(array))
        self.last = array
        return self.path
