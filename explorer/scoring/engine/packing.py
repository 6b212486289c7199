"""Packed rows as a model is fed them, and taken apart again for models that cannot be packed.

packed row        The  cat  sleeps  .  sleep  .        all but "The" are scored
index              0    1     2     3    4    5
fed               The  cat  sleeps     sleep           a last token is predicted, never read: it is left out
heads              0    1     2          3             fed tokens after which something is scored
targets           cat | sleeps, sleep | . | .          grouped by head: "cat" has two, and one softmax for both
target_heads       0      1       1     2   3          the head of each target
slots              0      1       3     2   4          where its score goes among the row's scored tokens
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from explorer.records import PackedRow
from explorer.scoring.engine import tree
from explorer.scoring.engine.contract import RowScores

# For all targets of a batch: log-probability in nats, whether it is the argmax; mean and deviation where asked for.
Scored = tuple[np.ndarray, ...]


@dataclass(frozen=True, slots=True)
class FedRow:
    """A row without the tokens that nothing scored comes after: those need not be fed at all."""

    row: int  # its number among the rows asked
    ids: np.ndarray
    positions: np.ndarray
    end: np.ndarray  # index after the last descendant, see tree.ends
    chain: bool  # a plain sequence: each token follows the one before
    heads: np.ndarray  # the fed tokens after which something is scored, ascending
    target_heads: np.ndarray  # for each scored token the index of its head, ascending, ...
    targets: np.ndarray  # ... its id, ...
    slots: np.ndarray  # ... and its place among the row's scored tokens

    def __len__(self) -> int:
        return len(self.ids)


def prepare(row: PackedRow, number: int = 0) -> FedRow:
    """What the model must be fed to score a row."""
    ids, parents = np.array(row.ids, dtype=np.int64), np.array(row.parents, dtype=np.int64)
    positions, scored = np.array(row.positions, dtype=np.int64), np.array(row.scored, dtype=bool)
    end = tree.ends(parents)
    is_fed = tree.scored_below(scored, end)
    before = np.concatenate([[0], np.cumsum(is_fed)])  # fed tokens before an index: its new index
    targets = np.flatnonzero(scored & (parents >= 0))  # nothing stands before a root: it stays unscored
    # By parent, so that the heads ascend (Head.score needs that) and targets of one head stand together.
    targets = targets[np.argsort(parents[targets], kind="stable")]
    heads, target_heads = np.unique(before[parents[targets]], return_inverse=True)
    ends, places = before[end[is_fed]], positions[is_fed]
    return FedRow(
        row=number,
        ids=ids[is_fed],
        positions=places,
        end=ends,
        chain=bool((ends == len(ends)).all() and (places == np.arange(len(places))).all()),
        heads=heads,
        target_heads=target_heads,
        targets=ids[targets],
        slots=(np.cumsum(scored) - 1)[targets],
    )


def paths(fed: FedRow) -> list[FedRow]:
    """The plain sequences of a row, for models that cannot be packed; each scored token is in exactly one of them."""
    place = np.arange(len(fed))
    # A token that several sequences share is scored in the first of them alone, so that no slot is written twice.
    unscored = np.ones(len(fed.heads), dtype=bool)
    sequences = []
    for leaf in np.flatnonzero(fed.end == place + 1):
        # The leaf and its ancestors, by the same inequality as the masks.
        nodes = np.flatnonzero((place <= leaf) & (fed.end > leaf))
        first_here = np.isin(fed.heads, nodes) & unscored
        unscored &= ~first_here
        targets = first_here[fed.target_heads]
        number = np.cumsum(first_here) - 1
        sequences.append(
            replace(
                fed,
                ids=fed.ids[nodes],
                positions=fed.positions[nodes],
                end=np.full(len(nodes), len(nodes)),
                chain=True,
                heads=np.searchsorted(nodes, fed.heads[first_here]),
                target_heads=number[fed.target_heads[targets]],
                targets=fed.targets[targets],
                slots=fed.slots[targets],
            )
        )
    return sequences


def pad(batch: Sequence[FedRow], length: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Token ids, positions and ends of a batch, each (rows, length), padded at the right."""
    ids, positions = np.zeros((2, len(batch), length), dtype=np.int64)
    # A padding token ends with itself: it is seen by none, and sees itself, so that no softmax is over nothing.
    ends = np.tile(np.arange(1, length + 1), (len(batch), 1))
    for row, fed in enumerate(batch):
        ids[row, : len(fed)], positions[row, : len(fed)], ends[row, : len(fed)] = fed.ids, fed.positions, fed.end
    return ids, positions, ends


def targets_of(batch: Sequence[FedRow], length: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What is scored in a batch padded to `length`, row after row.

    The heads' indices in the flattened batch, for each target the number of its head, and the targets' ids.
    """
    heads = np.concatenate([row * length + fed.heads for row, fed in enumerate(batch)])
    before = np.cumsum([0, *(len(fed.heads) for fed in batch[:-1])])
    target_heads = np.concatenate([count + fed.target_heads for count, fed in zip(before, batch, strict=True)])
    return heads, target_heads, np.concatenate([fed.targets for fed in batch])


def no_scores(rows: Sequence[PackedRow], *, moments: bool = False) -> list[RowScores]:
    """Room for the scores of rows, nan for now: what nothing stands before stays so."""
    sizes = [np.count_nonzero(row.scored) for row in rows]
    if moments:
        return [RowScores(np.full(n, np.nan), np.zeros(n, bool), *np.full((2, n), np.nan)) for n in sizes]
    return [RowScores(np.full(size, np.nan), np.zeros(size, bool)) for size in sizes]


def write_scores(batch: Sequence[FedRow], scored: Scored, results: Sequence[RowScores]) -> None:
    """Puts the scores of a batch's targets, row after row, to their places in the results."""
    cuts = np.cumsum([len(fed.targets) for fed in batch])[:-1]
    for fed, *parts in zip(batch, *(np.split(part, cuts) for part in scored), strict=True):
        row = results[fed.row]
        for room, part in zip((row.logprobs, row.greedy, row.means, row.deviations), parts, strict=False):
            if room is not None:
                room[fed.slots] = part
