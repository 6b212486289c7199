"""Do groups of items differ in a measure, and how much of its variation lies between them?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from explorer.stats.gaps import drop_gaps, numbers


@dataclass(frozen=True, slots=True)
class GroupDifference:
    """The Kruskal-Wallis H over `groups` groups of together `n` items, its p, and the share of rank variation between
    groups (epsilon squared, 0 to 1)."""

    statistic: float
    p: float
    share: float
    n: int
    groups: int
    left_out: int = 0
    reason: str = ""


def between_groups(values: ArrayLike, groups: ArrayLike) -> GroupDifference:
    """The Kruskal-Wallis test with ties corrected; the share is H / (n - 1) (Tomczak and Tomczak 2014)."""
    from scipy.stats import kruskal

    (kept, names), left_out = drop_gaps(numbers(values), groups)
    parts = [kept[names == name] for name in dict.fromkeys(names.tolist())]
    nan = math.nan
    if len(parts) < 2:
        return GroupDifference(nan, nan, nan, kept.size, len(parts), left_out, "at least two groups are needed")
    if np.ptp(kept) == 0:
        return GroupDifference(nan, nan, nan, kept.size, len(parts), left_out, "the measure is constant")
    found = kruskal(*parts)
    statistic = float(found.statistic)
    return GroupDifference(statistic, float(found.pvalue), statistic / (kept.size - 1), kept.size, len(parts), left_out)
