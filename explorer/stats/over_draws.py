"""How accuracy changes when texts are changed at random several times: over items and over draws."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from explorer.stats.bootstrap import percentile_interval
from explorer.stats.clustered import Clustered
from explorer.stats.estimate import FEWEST, Estimate

RESAMPLES = 1_000


@dataclass(frozen=True, slots=True)
class OverDraws:
    """The mean change in percent of the original, and how much of its spread is the draws'.

    sd, least, greatest  of the changes of single draws over all items; a spread over draws, no interval
    """

    change: Estimate
    draws: int
    sd: float
    least: float
    greatest: float


# Two things were drawn: the items, and which synonym each word got. A resample draws both anew, so that the interval
# is as wide as either makes it:
#
#     before 1 1 1 1    draw 1: 1 1 0 1    draw 2: 1 0 0 1      changes -25 % and -50 %, mean -37.5 %
#
# Items that share material (a paradigm's) are drawn together.
def change_over_draws(
    before: np.ndarray, after: np.ndarray, groups: np.ndarray | None = None, *, seed: int = 0
) -> OverDraws:
    """Outcomes before, shape (n,), and after each draw, shape (n, draws), without gaps.

    Items and draws are both units: there is an interval from five of each.
    """
    n, draws = after.shape
    base = float(before.mean()) if n else 0.0
    if not base:
        why = "the original accuracy is 0" if n else "no item was judged before and after every draw"
        return OverDraws(Estimate.point(math.nan, n, reason=why), draws, math.nan, math.nan, math.nan)
    single = 100 * (after.mean(axis=0) - base) / base
    codes = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1]
    units = int(codes.max()) + 1
    sums = np.array([np.bincount(codes, column, units) for column in (before, *after.T)])
    chance = np.random.default_rng(seed)
    resampled = []
    for _ in range(RESAMPLES):
        weights = np.bincount(chance.integers(units, size=units), minlength=units)
        totals = sums @ weights
        picked = totals[1:][chance.integers(draws, size=draws)]
        resampled.append(100 * (picked.mean() - totals[0]) / totals[0] if totals[0] else math.nan)
    low, high, _ = percentile_interval(np.array(resampled), 0.95, units)
    reason = ""
    if min(units, draws) < FEWEST:
        low = high = math.nan
        few = f"{units} unit" if units < FEWEST else f"{draws} draw"
        reason = f"no interval: {few}{'' if few.startswith('1 ') else 's'}, at least {FEWEST} are needed"
    change = Clustered(float(single.mean()), low, high, n, reason=reason, units=units)
    return OverDraws(
        change, draws, float(single.std(ddof=1)) if draws > 1 else math.nan, float(single.min()), float(single.max())
    )
