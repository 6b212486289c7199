"""Did a measure of the same items move?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from explorer.stats.bootstrap import RESAMPLES, bootstrap, weighted_medians
from explorer.stats.estimate import Estimate
from explorer.stats.gaps import drop_gaps, numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedShift(Estimate):
    """The median change of `n` items, its bootstrap interval and Wilcoxon's two-sided p; `zeros` did not change."""

    statistic: float
    zeros: int = 0


def wilcoxon(before: ArrayLike, after: ArrayLike, *, resamples: int = RESAMPLES, seed: int = 0) -> PairedShift:
    """Wilcoxon's signed-rank test of after - before; zeros are ranked and then dropped (Pratt 1959).

    With `resamples=0` the median has no interval, which is quicker on tens of thousands of rows.
    """
    from scipy.stats import wilcoxon as scipy_wilcoxon

    (first, second), left_out = drop_gaps(numbers(before), numbers(after))
    # Pratt ranks the zeros before dropping them, so that many items that did not move weaken the case of those that
    # did.
    change = second - first
    zeros = int((change == 0).sum())
    if not change.size:
        return PairedShift.point(math.nan, left_out=left_out, reason="no pairs", statistic=math.nan)
    median = float(np.median(change))
    interval: Estimate = (
        bootstrap(
            lambda values: float(np.median(values)), change, weighted=weighted_medians, resamples=resamples, seed=seed
        )
        if resamples
        else Estimate.point(median, change.size)
    )
    if zeros == change.size:
        reason = "no item changed"
        return PairedShift(0.0, 0.0, 0.0, change.size, 1.0, left_out, reason, statistic=0.0, zeros=zeros)
    test = scipy_wilcoxon(change, zero_method="pratt")
    return PairedShift(
        value=interval.value,
        low=interval.low,
        high=interval.high,
        statistic=float(test.statistic),
        p=float(test.pvalue),
        n=change.size,
        zeros=zeros,
        left_out=left_out,
        reason=interval.reason,
    )
