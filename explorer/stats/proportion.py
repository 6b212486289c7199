"""A share of right answers with its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass

from numpy.typing import ArrayLike

from explorer.stats.estimate import Estimate
from explorer.stats.gaps import drop_gaps, outcomes


@dataclass(frozen=True, slots=True, kw_only=True)
class Proportion(Estimate):
    """A share between 0 and 1 with its interval; `ties` of the `n` outcomes counted half."""

    ties: int = 0


def proportion(right: ArrayLike, *, level: float = 0.95) -> Proportion:
    """The share of right outcomes (1 right, 0.5 tie, 0 wrong) with its Wilson interval.

    A tie adds half a success. Outcomes with halves vary less than the zeros and ones that Wilson's formula is for
    (x² <= x between 0 and 1), so the interval then errs on the wide side.
    """
    from statsmodels.stats.proportion import proportion_confint

    (kept,), left_out = drop_gaps(outcomes(right))
    if not kept.size:
        return Proportion.point(math.nan, left_out=left_out, reason="no outcomes")
    successes = float(kept.sum())
    low, high = proportion_confint(successes, kept.size, alpha=1 - level, method="wilson")
    ties = int((kept == 0.5).sum())
    return Proportion(successes / kept.size, float(low), float(high), kept.size, left_out=left_out, ties=ties)
