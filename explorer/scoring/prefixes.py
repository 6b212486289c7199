"""Which prompts go together: token sequences in, groups that share a prefix worth reading once out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

DEEPEST = 50  # nested groups; sequences that each go on from the one before could nest without end


@dataclass(frozen=True, slots=True)
class Group:
    """Sequences, by their places, that share their first `depth` tokens; each has at least one more of its own."""

    depth: int
    members: tuple[int, ...]


def group(sequences: Sequence[tuple[int, ...]], cost: float) -> list[Group]:
    """Groups that cover all sequences; some stand apart where their longer prefix saves more than `cost` tokens."""
    order = sorted(range(len(sequences)), key=sequences.__getitem__)
    arrays = [np.asarray(sequences[place]) for place in order]
    shared = [common(one, other) for one, other in pairwise(arrays)]
    # The last token of a sequence is never shared: the model answers after it.
    most = [max(0, len(array) - 1) for array in arrays]
    found = _divide(0, len(order), shared, most, cost, DEEPEST) if order else []
    return [Group(depth, tuple(order[place] for place in places)) for depth, places in found]


def common(one: np.ndarray, other: np.ndarray) -> int:
    """How many first tokens two sequences have in common."""
    length = min(len(one), len(other))
    differs = one[:length] != other[:length]
    first = int(differs.argmax()) if length else 0
    return first if length and differs[first] else length


def _divide(
    first: int, after: int, shared: Sequence[int], most: Sequence[int], cost: float, levels: int
) -> list[tuple[int, list[int]]]:
    """Groups of the sorted sequences first..after-1, as depth and members; the last holds what stays together."""
    if after - first == 1:
        return [(0, [first])]
    depth = min(min(shared[first : after - 1]), min(most[first:after]))
    cuts = [place + 1 for place in range(first, after - 1) if shared[place] <= depth]
    if not cuts or not levels:
        return [(depth, list(range(first, after)))]
    apart: list[tuple[int, list[int]]] = []
    together: list[int] = []
    for start, stop in pairwise([first, *cuts, after]):
        *own, (deeper, members) = _divide(start, stop, shared, most, cost, levels - 1)
        apart += own
        if (len(members) - 1) * (deeper - depth) > cost:
            apart.append((deeper, members))
        else:
            together += members
    return [*apart, (depth, together)] if together else apart
