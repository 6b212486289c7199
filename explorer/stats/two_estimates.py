"""How far two estimates lie apart, from their intervals alone."""

from __future__ import annotations

import math

from explorer.stats.estimate import Estimate


# 0.80 [0.76, 0.83] less 0.70 [0.64, 0.75] is 0.10; its lower end lies sqrt(0.04^2 + 0.05^2) = 0.064 below, its upper
# end sqrt(0.03^2 + 0.06^2) = 0.067 above. Whether two intervals overlap is another, stricter question.
def difference_of(first: Estimate, second: Estimate) -> Estimate:
    """One less the other with its 95% interval, for estimates of different items or models.

    The ends lie as far from the difference as the estimates' own ends do, squared and added (Newcombe 1998, method 10,
    for shares; Zou and Donner 2008 for any estimates). Estimates over the same items go together, so that the interval
    is then wider than a paired one.
    """
    if not all(map(math.isfinite, (first.value, first.low, first.high, second.value, second.low, second.high))):
        return Estimate.point(math.nan, reason="an interval is missing")
    gap = first.value - second.value
    return Estimate(
        gap,
        gap - math.hypot(first.value - first.low, second.high - second.value),
        gap + math.hypot(first.high - first.value, second.value - second.low),
        min(first.n, second.n),
    )
