"""A share of right answers with its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from numpy.typing import ArrayLike

from explorer.stats.bootstrap import bootstrap_mean
from explorer.stats.estimate import Estimate
from explorer.stats.gaps import drop_gaps, outcomes


@dataclass(frozen=True, slots=True, kw_only=True)
class Proportion(Estimate):
    """A share between 0 and 1 with its interval; `ties` of the `n` outcomes counted half.

    `units` is how many groups the interval is over, None where it is over the outcomes themselves.
    """

    ties: int = 0
    units: int | None = None


def proportion(right: ArrayLike, groups: ArrayLike | None = None, *, level: float = 0.95) -> Proportion:
    """The share of right outcomes (1 right, 0.5 tie, 0 wrong) with its Wilson interval.

    A tie adds half a success. Outcomes with halves vary less than the zeros and ones that Wilson's formula is for
    (x² <= x between 0 and 1), so the interval then errs on the wide side. Where `groups` names each outcome's, whose
    items share material, the interval is from whole groups drawn anew; where all outcomes are alike it is Wilson's, of
    as many outcomes as there are groups.
    """
    if groups is not None:
        return _over_groups(right, groups, level)
    (judged,), left_out = drop_gaps(outcomes(right))
    if not judged.size:
        return Proportion.point(math.nan, left_out=left_out, reason="no outcomes")
    successes = float(judged.sum())
    # Wilson, not Wald: accuracies near 0 and 1 and groups of ten are common here, where Wald's interval ends outside.
    low, high = wilson(successes, judged.size, level)
    ties = int((judged == 0.5).sum())
    return Proportion(successes / judged.size, low, high, judged.size, left_out=left_out, ties=ties)


def _over_groups(right: ArrayLike, groups: ArrayLike, level: float) -> Proportion:
    over = bootstrap_mean(outcomes(right), groups, level=level)
    (judged, _), _ = drop_gaps(outcomes(right), groups)
    ties = int((judged == 0.5).sum())
    low, high = over.low, over.high
    # Where all are right, or none, every resample says the same; other groups need not.
    if over.value in (0, 1) and low == high:
        low, high = wilson(over.value * over.units, over.units, level)
    return Proportion(
        over.value, low, high, over.n, left_out=over.left_out, reason=over.reason, ties=ties, units=over.units
    )


def wilson(successes: float, n: float, level: float) -> tuple[float, float]:
    """The ends of Wilson's score interval: the shares p that lie within z standard errors of the one that was seen.

    Solving |share - p| = z sqrt(p (1 - p) / n) for p gives (Wilson 1927; Newcombe 1998, method 3)

        (share + z²/2n ± z sqrt(share (1 - share)/n + z²/4n²)) / (1 + z²/n)

    Written out, since importing statsmodels for it took longer than the rest of what an accuracy run concludes.
    """
    share, z = successes / n, NormalDist().inv_cdf((1 + level) / 2)
    middle = share + z**2 / (2 * n)
    half = z * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return (middle - half) / (1 + z**2 / n), (middle + half) / (1 + z**2 / n)
