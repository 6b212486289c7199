"""Prefix-tree packing: token sequences in, packed rows out, each shared prefix computed once.

The sequences are sorted, so that those with a common prefix stand side by side; cut into stretches that fit a row, each
stretch is a forest of tries in depth-first order, and every new sequence adds only the tokens in which it leaves the
one before. A token's log-probability depends on its ancestors alone, so a node is scored once for all who share it.

    sequences, sorted      shared with the one before      row
    a b c d                0                               a b c d
    a b c e f              3                               a b c d e f          e's parent is c
    a g                    1                               a b c d e f g        g's parent is a
    h i                    0                               a b c d e f g h i    h has none: a second tree in the row

In sorted order no sequence shares more with an earlier one than with its neighbor, so comparing neighbors finds all.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from explorer.records import PackedRow

ROW_TOKENS = 128
COMPARED_SINGLY = 16  # tokens
ROOM_LEFT = 0.25  # what a token of room that a row leaves costs beside one that is repeated
TOKEN_BYTES = 4  # bytes of a token's number
MAX_GROWTH = 2048  # tokens; beyond, a row's mask costs more than a repeated prefix


@dataclass(frozen=True, slots=True)
class Place:
    """Where a sequence's scored tokens are found: `slots` index the scored tokens of row `row`; -1 is a token that
    nothing stands before, which has no score."""

    row: int
    slots: np.ndarray


@dataclass(frozen=True, slots=True)
class Packing:
    """Rows, and for each sequence, in the order asked, where its scored tokens are."""

    rows: list[PackedRow]
    places: list[Place]


def pack(sequences: Sequence[Sequence[int]], starts: Sequence[int], row_tokens: int = ROW_TOKENS) -> Packing:
    """Merges token sequences into rows of which about `row_tokens` are fed; `sequences[i][starts[i]:]` is scored.

    A row ends where the least is repeated in the next, between half full and full. It grows beyond `row_tokens` where
    ending it would repeat much: more than an eighth of a short row, a third of a long one, whose mask is large.
    """
    keys = [_sortable(sequence) for sequence in sequences]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    shared = [0, *(_shared_tokens(keys[first], keys[second]) for first, second in pairwise(order))]

    rows: list[PackedRow] = []
    places: list[Place | None] = [None] * len(sequences)
    for first, after in _divide_into_rows([len(sequences[i]) for i in order], shared, row_tokens):
        row = _Row()
        for k in range(first, after):
            row.add(order[k], sequences[order[k]], shared[k] if k > first else 0, starts[order[k]])
        rows.append(row.close(len(rows), places))
    return Packing(rows, [place for place in places if place is not None])


def _sortable(sequence: Sequence[int]) -> bytes:
    """Big-endian bytes, by which sequences sort as by their tokens, at the speed of memory."""
    tokens = array("I", sequence)
    if sys.byteorder == "little":
        tokens.byteswap()
    return tokens.tobytes()


def _shared_tokens(left: bytes, right: bytes) -> int:
    """How many first tokens two neighbors have in common, by what they are sorted by."""
    # Most part within a few tokens, where looking at them one by one is faster than making arrays.
    for place in range(0, min(len(left), len(right), TOKEN_BYTES * COMPARED_SINGLY), TOKEN_BYTES):
        if left[place : place + TOKEN_BYTES] != right[place : place + TOKEN_BYTES]:
            return place // TOKEN_BYTES
    if min(len(left), len(right)) <= TOKEN_BYTES * COMPARED_SINGLY:
        return min(len(left), len(right)) // TOKEN_BYTES
    return common_prefix(np.frombuffer(left, dtype=np.uint32), np.frombuffer(right, dtype=np.uint32))


# A row is fed without the last token of each sequence, which is predicted and never read, and rows that are scored
# together are padded to the longest. So what is counted is what is fed, and a border costs two things: what the next
# row repeats, and some of the room that it leaves, since rows of other lengths may be scored elsewhere.
def _divide_into_rows(lengths: Sequence[int], shared: Sequence[int], row_tokens: int) -> Iterator[tuple[int, int]]:
    """(first, after) of each row's sequences in sorted order; `shared[k]` is what sequence k has in common with k-1."""
    # First as far as the row may grow, then back to the cheapest border in its second half: where the next sequence
    # shares least with this row, the least is computed again in the next row.
    first = 0
    while first < len(lengths):
        sizes = [lengths[first] - 1]  # fed tokens of the row after each further sequence
        after = first + 1
        while after < len(lengths):
            goes_on = shared[after] == lengths[after - 1]  # the one before is the beginning of this one
            grown = sizes[-1] + max(0, lengths[after] - shared[after] - 1) + goes_on
            if grown > max(row_tokens, 3 * shared[after] + min(5 * shared[after], MAX_GROWTH)):
                break
            sizes.append(grown)
            after += 1
        if after < len(lengths):
            late = [k for k in range(first + 1, after + 1) if 2 * sizes[k - 1 - first] >= row_tokens]
            after = min(
                late,
                key=lambda k: (shared[k] + ROOM_LEFT * max(0, row_tokens - sizes[k - 1 - first]), -k),
                default=after,
            )
        yield first, after
        first = after


class _Row:
    """A row in the making: each sequence is added as the tokens in which it leaves the one before.

    The row is in depth-first order (every token stands behind its parent, and a subtree is one stretch) only because
    sequences come in sorted order; `ends` and all masks rest on that.
    """

    # Lists, not arrays: a benchmark's sequences add a few tokens each, and an array costs as much as thirty of them.
    def __init__(self) -> None:
        self.ids: list[int] = []
        self.parents: list[int] = []
        self.depths: list[int] = []
        self.path: list[int] = []  # the nodes of the sequence added last
        self.nodes: list[int] = []  # of all members' continuations, one after another
        self.members: list[tuple[int, int]] = []  # number, and how many nodes

    def add(self, member: int, sequence: Sequence[int], shared: int, start: int) -> None:
        first, fresh = len(self.ids), len(sequence) - shared
        if fresh:
            self.parents.append(self.path[shared - 1] if shared else -1)
            self.parents.extend(range(first, first + fresh - 1))
            self.ids.extend(sequence[shared:])
            self.depths.extend(range(shared, len(sequence)))
        del self.path[shared:]
        self.path.extend(range(first, first + fresh))
        self.nodes.extend(self.path[start:])
        self.members.append((member, len(sequence) - start))

    def close(self, number: int, places: list[Place | None]) -> PackedRow:
        nodes = np.array(self.nodes, dtype=np.int64)
        scored = np.zeros(len(self.ids), dtype=bool)
        scored[nodes] = True
        # Nothing stands before a first token; it has no score, and its slot is -1.
        scored &= np.array(self.parents) >= 0
        slots = np.where(scored, np.cumsum(scored) - 1, -1)[nodes]
        first = 0
        for member, size in self.members:
            places[member] = Place(number, slots[first : first + size])
            first += size
        return PackedRow(
            ids=tuple(self.ids),
            parents=tuple(self.parents),
            positions=tuple(self.depths),
            scored=tuple(scored.tolist()),
        )


def common_prefix(left: np.ndarray, right: np.ndarray) -> int:
    """How many first tokens two sequences have in common."""
    length = min(len(left), len(right))
    differs = left[:length] != right[:length]
    first = int(differs.argmax()) if length else 0
    return first if length and differs[first] else length


def ends(parents: np.ndarray) -> np.ndarray:
    """For each token of a depth-first row the index after its last descendant.

    Token j is i itself or an ancestor of i exactly if j <= i < ends[j].
    """
    # Long rows have thousands of tokens and few branches, so the loop goes over branches. Until a branch, the path from
    # the root is kept as stretches of indices; a branch closes the part of it that is deeper than its parent.
    size = len(parents)
    after_last = np.full(size, size, dtype=np.int64)
    # Only where a token does not follow its parent does anything end: all that is deeper than that parent.
    open_stretches: list[tuple[int, int]] = []  # stretches of tokens on the path so far
    first = 0
    for branch in np.flatnonzero(parents != np.arange(-1, size - 1)):
        if branch == 0:
            continue
        open_stretches.append((first, int(branch)))
        parent = int(parents[branch])
        while open_stretches and open_stretches[-1][1] > parent + 1:
            start, stop = open_stretches.pop()
            cut = max(start, parent + 1)
            after_last[cut:stop] = branch
            if start < cut:
                open_stretches.append((start, cut))
        first = int(branch)
    return after_last


def scored_below(scored: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Whether a token has a scored descendant: the others need not be fed to the model at all."""
    before = np.concatenate([[0], np.cumsum(scored)])  # scored tokens before an index
    size = len(scored)
    # Descendants of token i are the stretch i + 1 .. end[i] - 1.
    return before[end] - before[np.arange(1, size + 1)] > 0
