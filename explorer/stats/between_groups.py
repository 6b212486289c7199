"""Do groups of items differ in a measure, and how much of its variation lies between them?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from explorer.stats.estimate import Estimate
from explorer.stats.gaps import drop_gaps, numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDifference(Estimate):
    """The share of rank variation between groups (epsilon squared, 0 to 1), with the Kruskal-Wallis H and its p."""

    statistic: float
    groups: int


def between_groups(values: ArrayLike, groups: ArrayLike) -> GroupDifference:
    """The Kruskal-Wallis test with ties corrected; the share is H / (n - 1) (Tomczak and Tomczak 2014)."""
    from scipy.stats import kruskal

    (present, names), left_out = drop_gaps(numbers(values), groups)
    parts = [present[names == name] for name in dict.fromkeys(names.tolist())]
    problem = ""
    if len(parts) < 2:
        problem = "at least two groups are needed"
    elif np.ptp(present) == 0:
        problem = "the measure is constant"
    if problem:
        return GroupDifference.point(
            math.nan, present.size, left_out=left_out, reason=problem, statistic=math.nan, groups=len(parts)
        )
    # Ranks, not an analysis of variance: nats and perplexities have long tails.
    test = kruskal(*parts)
    statistic = float(test.statistic)
    return GroupDifference.point(
        statistic / (present.size - 1),
        present.size,
        p=float(test.pvalue),
        left_out=left_out,
        statistic=statistic,
        groups=len(parts),
    )
