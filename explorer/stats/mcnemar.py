"""Did the same items get easier or harder?"""

from __future__ import annotations

import math
from dataclasses import dataclass

from numpy.typing import ArrayLike

from explorer.stats.estimate import Estimate
from explorer.stats.gaps import drop_gaps, ties_wrong


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedChange(Estimate):
    """The change of accuracy of `n` items and its exact p; `lost` went from right to wrong, `gained` the other way."""

    lost: int
    gained: int
    before: float  # accuracies with ties counted as wrong
    after: float


# The table of 100 items before and after, of which only the corner pair is tested:
#
#                     after right   after wrong
#     before right         70            9         lost
#     before wrong          2           19         gained
#
# 11 flips, 9 of them one way: p = 0.065, however many did not flip.
def mcnemar(before: ArrayLike, after: ArrayLike) -> PairedChange:
    """McNemar's exact two-sided test on the discordant pairs of outcomes; a tie counts as wrong."""
    from scipy.stats import binomtest

    (first, second), left_out = drop_gaps(ties_wrong(before), ties_wrong(after))
    if not first.size:
        return PairedChange.point(
            math.nan,
            left_out=left_out,
            reason="no pairs of outcomes",
            lost=0,
            gained=0,
            before=math.nan,
            after=math.nan,
        )
    # Only items whose outcome changed say which way it went: under the null each of them was as likely to be lost as
    # to be gained. The exact binomial is used since flips are few. It takes items as independent; where paradigms
    # repeat a template it is a test of these items, not of the paradigms they stand for.
    lost = int(((first == 1) & (second == 0)).sum())
    gained = int(((first == 0) & (second == 1)).sum())
    discordant = lost + gained
    p = float(binomtest(lost, discordant, 0.5).pvalue) if discordant else 1.0
    reason = "" if discordant else "no item changed"
    before, after = float(first.mean()), float(second.mean())
    return PairedChange.point(
        after - before,
        first.size,
        p=p,
        left_out=left_out,
        reason=reason,
        lost=lost,
        gained=gained,
        before=before,
        after=after,
    )
