"""Did the same items get easier or harder?"""

from __future__ import annotations

import math
from dataclasses import dataclass

from numpy.typing import ArrayLike

from explorer.stats.gaps import drop_gaps, ties_wrong


@dataclass(frozen=True, slots=True)
class PairedChange:
    """How many of `n` items went from right to wrong (`lost`) and from wrong to right (`gained`), and the exact p."""

    lost: int
    gained: int
    p: float
    n: int
    before: float  # accuracies with ties counted as wrong
    after: float
    left_out: int = 0
    reason: str = ""


def mcnemar(before: ArrayLike, after: ArrayLike) -> PairedChange:
    """McNemar's exact two-sided test on the discordant pairs of outcomes; a tie counts as wrong."""
    from scipy.stats import binomtest

    (first, second), left_out = drop_gaps(ties_wrong(before), ties_wrong(after))
    if not first.size:
        return PairedChange(0, 0, math.nan, 0, math.nan, math.nan, left_out, "no pairs of outcomes")
    lost = int(((first == 1) & (second == 0)).sum())
    gained = int(((first == 0) & (second == 1)).sum())
    discordant = lost + gained
    p = float(binomtest(lost, discordant, 0.5).pvalue) if discordant else 1.0
    reason = "" if discordant else "no item changed"
    return PairedChange(lost, gained, p, first.size, float(first.mean()), float(second.mean()), left_out, reason)
