"""Packed rows as a model is fed them, and taken apart again for models that cannot be packed."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from explorer.records import PackedRow
from explorer.scoring.engine import tree


@dataclass(frozen=True, slots=True)
class Work:
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


def prepare(row: PackedRow, number: int = 0) -> Work:
    """What the model must be fed to score a row."""
    ids, parents = np.array(row.ids, dtype=np.int64), np.array(row.parents, dtype=np.int64)
    positions, scored = np.array(row.positions, dtype=np.int64), np.array(row.scored, dtype=bool)
    end = tree.ends(parents)
    fed = tree.scored_below(scored, end)
    before = np.concatenate([[0], np.cumsum(fed)])  # fed tokens before an index
    wanted = np.flatnonzero(scored & (parents >= 0))  # nothing stands before a root: it stays unscored
    wanted = wanted[np.argsort(parents[wanted], kind="stable")]
    heads, target_heads = np.unique(before[parents[wanted]], return_inverse=True)
    ends, places = before[end[fed]], positions[fed]
    return Work(
        row=number,
        ids=ids[fed],
        positions=places,
        end=ends,
        chain=bool((ends == len(ends)).all() and (places == np.arange(len(places))).all()),
        heads=heads,
        target_heads=target_heads,
        targets=ids[wanted],
        slots=(np.cumsum(scored) - 1)[wanted],
    )


def paths(work: Work) -> list[Work]:
    """The plain sequences of a row, for models that cannot be packed; each scored token is in exactly one of them."""
    place = np.arange(len(work))
    free = np.ones(len(work.heads), dtype=bool)
    found = []
    for leaf in np.flatnonzero(work.end == place + 1):
        nodes = np.flatnonzero((place <= leaf) & (work.end > leaf))
        mine = np.isin(work.heads, nodes) & free
        free &= ~mine
        targets = mine[work.target_heads]
        number = np.cumsum(mine) - 1
        found.append(
            replace(
                work,
                ids=work.ids[nodes],
                positions=work.positions[nodes],
                end=np.full(len(nodes), len(nodes)),
                chain=True,
                heads=np.searchsorted(nodes, work.heads[mine]),
                target_heads=number[work.target_heads[targets]],
                targets=work.targets[targets],
                slots=work.slots[targets],
            )
        )
    return found
