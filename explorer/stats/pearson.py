"""Do two measures rise together in a straight line?"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from explorer.stats.estimate import Estimate
from explorer.stats.gaps import drop_gaps, numbers
from explorer.stats.permutation import PERMUTATIONS, pairing_p

FEWEST = 4  # with 3 points the smallest two-sided permutation p is 1/3


def pearson(
    x: ArrayLike, y: ArrayLike, *, level: float = 0.95, permutations: int = PERMUTATIONS, seed: int = 0
) -> Estimate:
    """Pearson's r with its Fisher interval and two-sided permutation p.

    The p is exact for up to 8 points, else from `permutations` random pairings.
    Undefined, with the reason, for fewer than 4 points or a constant series.
    """
    from scipy.stats import pearsonr

    (a, b), left_out = drop_gaps(numbers(x), numbers(y))
    problem = ""
    if a.size < FEWEST:
        problem = f"{a.size} points, at least {FEWEST} are needed"
    elif np.ptp(a) == 0 or np.ptp(b) == 0:
        problem = "a constant series has no correlation"
    if problem:
        return Estimate.point(math.nan, a.size, left_out=left_out, reason=problem)
    correlation = pearsonr(a, b)
    low, high = (float(end) for end in correlation.confidence_interval(level))
    # A permutation p, not that of t: the in-context study has four or five values of k, far from any normal law.
    p = pairing_p(a, b, permutations=permutations, seed=seed)
    return Estimate(float(correlation.statistic), low, high, a.size, p, left_out)
