"""Do two groups of different items differ in accuracy?"""

from __future__ import annotations

import math

from numpy.typing import ArrayLike

from explorer.stats.estimate import Estimate
from explorer.stats.gaps import drop_gaps, ties_wrong


def fisher(first: ArrayLike, second: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Accuracy of the first group minus that of the second, its Newcombe interval and Fisher's exact two-sided p.

    A tie counts as wrong: the test counts whole items.
    """
    from scipy.stats import fisher_exact
    from statsmodels.stats.proportion import confint_proportions_2indep

    (a,), gaps_a = drop_gaps(ties_wrong(first))
    (b,), gaps_b = drop_gaps(ties_wrong(second))
    if not a.size or not b.size:
        return Estimate.point(math.nan, a.size + b.size, left_out=gaps_a + gaps_b, reason="a group without outcomes")
    right_a, right_b = int(a.sum()), int(b.sum())
    # Fisher, not chi-squared: groups may be small and one of them nearly all right. Newcombe's interval joins the two
    # Wilson intervals, so that it stays within -1 and 1 where Wald's does not. Both take items as independent.
    table = [[right_a, a.size - right_a], [right_b, b.size - right_b]]
    low, high = confint_proportions_2indep(
        right_a, a.size, right_b, b.size, compare="diff", method="newcomb", alpha=1 - level
    )
    return Estimate(
        value=float(a.mean() - b.mean()),
        low=float(low),
        high=float(high),
        p=float(fisher_exact(table).pvalue),
        n=a.size + b.size,
        left_out=gaps_a + gaps_b,
    )
