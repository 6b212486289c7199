"""By how much the share of right items changed, when each item was asked twice."""

from __future__ import annotations

import math
from statistics import NormalDist

from explorer.stats.estimate import Estimate


# Of 100 items 8 were right before and wrong after (lost) and 2 the other way (gained): the change is -6%. Items that
# stayed as they were say nothing of it, so that the interval follows from lost and gained, here (2.5 - 8.5) / 102 with
# an error of 3.2% to either side, -12.2% to 0.4%.
def paired_shares(lost: int, gained: int, n: int, level: float = 0.95) -> Estimate:
    """The share after less the share before with its interval, from how many of `n` items were lost and gained.

    Agresti and Min (2005): half an item is added to each cell of the table of outcomes before and after, and Wald's
    formula used on it, which keeps its level where few items change.
    """
    if not n:
        return Estimate.point(math.nan, reason="no items")
    adjusted_gains, adjusted_losses, all_items = gained + 0.5, lost + 0.5, n + 2
    middle = (adjusted_gains - adjusted_losses) / all_items
    error = (
        math.sqrt((adjusted_gains + adjusted_losses) - (adjusted_gains - adjusted_losses) ** 2 / all_items) / all_items
    )
    half = NormalDist().inv_cdf((1 + level) / 2) * error
    return Estimate((gained - lost) / n, max(-1.0, middle - half), min(1.0, middle + half), n)
