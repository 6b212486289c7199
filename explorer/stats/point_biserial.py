"""Is a measure higher where the model is right?"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from explorer.stats.estimate import Estimate
from explorer.stats.gaps import drop_gaps, numbers, ties_wrong


def point_biserial(right: ArrayLike, measure: ArrayLike, *, level: float = 0.95) -> Estimate:
    """The correlation of outcomes (ties wrong) with a measure, its Fisher interval and two-sided t-test p.

    It is positive where right answers have the higher values.
    """
    from scipy.stats import pearsonr, pointbiserialr

    (outcome, value), left_out = drop_gaps(ties_wrong(right), numbers(measure))
    problem = ""
    if outcome.size < 4:
        problem = f"{outcome.size} items, at least 4 are needed"
    elif np.ptp(outcome) == 0:
        problem = "every outcome is the same"
    elif np.ptp(value) == 0:
        problem = "the measure is constant"
    if problem:
        return Estimate.point(math.nan, outcome.size, left_out=left_out, reason=problem)
    correlation = pointbiserialr(outcome, value)
    # Pearson's r of a 0/1 column is the point-biserial correlation, so that its Fisher interval serves.
    low, high = (float(end) for end in pearsonr(outcome, value).confidence_interval(level))
    return Estimate(float(correlation.statistic), low, high, outcome.size, float(correlation.pvalue), left_out)
