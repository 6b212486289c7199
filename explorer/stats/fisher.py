"""Do two groups of different items differ in accuracy?"""

from __future__ import annotations

import math
from dataclasses import dataclass

from numpy.typing import ArrayLike

from explorer.stats.gaps import drop_gaps, ties_wrong


@dataclass(frozen=True, slots=True)
class AccuracyDifference:
    """Accuracy of the first group minus that of the second, its Newcombe interval and Fisher's exact two-sided p."""

    difference: float
    low: float
    high: float
    p: float
    n_first: int
    n_second: int
    left_out: int = 0
    reason: str = ""


def fisher(first: ArrayLike, second: ArrayLike, *, level: float = 0.95) -> AccuracyDifference:
    """The difference in accuracy of two groups of outcomes; a tie counts as wrong: the test counts whole items."""
    from scipy.stats import fisher_exact
    from statsmodels.stats.proportion import confint_proportions_2indep

    (a,), gaps_a = drop_gaps(ties_wrong(first))
    (b,), gaps_b = drop_gaps(ties_wrong(second))
    if not a.size or not b.size:
        nothing = (math.nan,) * 4
        return AccuracyDifference(*nothing, a.size, b.size, gaps_a + gaps_b, "a group without outcomes")
    right_a, right_b = int(a.sum()), int(b.sum())
    table = [[right_a, a.size - right_a], [right_b, b.size - right_b]]
    low, high = confint_proportions_2indep(
        right_a, a.size, right_b, b.size, compare="diff", method="newcomb", alpha=1 - level
    )
    return AccuracyDifference(
        difference=float(a.mean() - b.mean()),
        low=float(low),
        high=float(high),
        p=float(fisher_exact(table).pvalue),
        n_first=a.size,
        n_second=b.size,
        left_out=gaps_a + gaps_b,
    )
