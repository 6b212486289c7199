"""A number that was found with several seeds: its mean, and how much of its spread is the seed's doing."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from explorer.stats.gaps import numbers


@dataclass(frozen=True, slots=True)
class OverSeeds:
    """What runs that differ in their seed alone found together. Nothing here is a confidence interval of the mean.

    mean, sd         over seeds; sd is the sample's (n - 1), nan of one seed
    least, greatest  the range over seeds
    low, high        the mean ends of the single runs' 95% intervals: sampling error of one run, nan where none has one
    seeds            how many found it
    """

    mean: float
    sd: float
    least: float
    greatest: float
    low: float
    high: float
    seeds: int


# Two errors that are told apart. A run's own interval says what other items would have given with this seed; the spread
# over seeds what other seeds would have given with these items. Seeds .70 .72 .74, each with an interval of +- .05:
#
#     mean .72, sd over seeds .02, range .70 to .74, one run's interval on average .67 to .77
#
# More seeds narrow the first and leave the second as it is.
def over_seeds(values: ArrayLike, lows: ArrayLike, highs: ArrayLike) -> OverSeeds:
    """Values of one finding, one a seed, with the ends of their intervals; gaps are left out."""
    seed_values, low, high = numbers(values), numbers(lows), numbers(highs)
    is_known = np.isfinite(seed_values)
    known_values = seed_values[is_known]
    if not known_values.size:
        return OverSeeds(math.nan, math.nan, math.nan, math.nan, math.nan, math.nan, 0)
    bounded = is_known & np.isfinite(low) & np.isfinite(high)
    ends = (float(low[bounded].mean()), float(high[bounded].mean())) if bounded.any() else (math.nan, math.nan)
    return OverSeeds(
        float(known_values.mean()),
        float(known_values.std(ddof=1)) if known_values.size > 1 else math.nan,
        float(known_values.min()),
        float(known_values.max()),
        *ends,
        int(known_values.size),
    )
