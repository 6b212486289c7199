"""Did a measure of the same items move?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from explorer.stats.bootstrap import RESAMPLES, Interval, bootstrap
from explorer.stats.gaps import drop_gaps, numbers


@dataclass(frozen=True, slots=True)
class PairedShift:
    """The median change of `n` items, its bootstrap interval and Wilcoxon's two-sided p; `zeros` did not change."""

    median: float
    low: float
    high: float
    statistic: float
    p: float
    n: int
    zeros: int = 0
    left_out: int = 0
    reason: str = ""


def wilcoxon(before: ArrayLike, after: ArrayLike, *, resamples: int = RESAMPLES, seed: int = 0) -> PairedShift:
    """Wilcoxon's signed-rank test of after - before; zeros are ranked and then dropped (Pratt 1959).

    With `resamples=0` the median has no interval, which is quicker on tens of thousands of rows.
    """
    from scipy.stats import wilcoxon as scipy_wilcoxon

    (first, second), left_out = drop_gaps(numbers(before), numbers(after))
    change = second - first
    zeros = int((change == 0).sum())
    if not change.size:
        return PairedShift(math.nan, math.nan, math.nan, math.nan, math.nan, 0, 0, left_out, "no pairs")
    median = float(np.median(change))
    interval = (
        bootstrap(lambda values: float(np.median(values)), change, resamples=resamples, seed=seed)
        if resamples
        else Interval(median, math.nan, math.nan, change.size, change.size, left_out)
    )
    if zeros == change.size:
        return PairedShift(0.0, 0.0, 0.0, 0.0, 1.0, change.size, zeros, left_out, "no item changed")
    test = scipy_wilcoxon(change, zero_method="pratt")
    return PairedShift(
        median=interval.value,
        low=interval.low,
        high=interval.high,
        statistic=float(test.statistic),
        p=float(test.pvalue),
        n=change.size,
        zeros=zeros,
        left_out=left_out,
        reason=interval.reason,
    )
