"""What every statistic comes to: a number, how sure it is, and over how many."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar

FEWEST = 5  # units from which an interval is drawn


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its 95% interval; nan with a reason where it could not be had.

    A statistic that has more to say adds fields to it (`Proportion` its ties), so that what takes an estimate takes it.
    """

    value: float
    low: float
    high: float
    n: int
    p: float = math.nan
    left_out: int = 0
    reason: str = ""

    @classmethod
    def point(
        cls, value: float, n: int = 0, *, p: float = math.nan, left_out: int = 0, reason: str = "", **more: Any
    ) -> Self:
        """A number without an interval: a count, a test's result, or nan with the reason."""
        return cls(value, math.nan, math.nan, n, p, left_out, reason, **more)


@dataclass(frozen=True, slots=True, kw_only=True)
class Range(Estimate):
    """A mean whose low and high are the least and the greatest of what it is the mean of: no interval."""

    of: str  # what it is the mean of: "3 orders"


E = TypeVar("E", bound=Estimate)


def units_of(estimate: Estimate) -> int:
    """How many units its interval is over: groups where whole groups were drawn, else its n."""
    units = getattr(estimate, "units", None)
    return estimate.n if units is None else int(units)


def without_interval(estimate: E, why: str) -> E:
    """The estimate with neither interval nor p, and the reason for that."""
    return replace(estimate, low=math.nan, high=math.nan, p=math.nan, reason=why)


def drawn_from_enough(estimate: E, *, fewest: int = FEWEST) -> E:
    """The estimate, without interval where it comes from fewer than `fewest` sampled units; a range stays as it is.

    Resampling three suites gives at most ten different means, and three equal ones an interval of no width: what comes
    out says how few there are, and nothing of other suites. The p goes with it where it is over the same few units.
    """
    units = units_of(estimate)
    if isinstance(estimate, Range) or units >= fewest or math.isnan(estimate.low):
        return estimate
    clustered = units != estimate.n
    few_units = f"{units} {'group' if clustered else 'unit'}{'' if units == 1 else 's'}"
    why = f"no interval: {few_units}, at least {fewest} are needed"
    p = math.nan if clustered else estimate.p
    return replace(estimate, low=math.nan, high=math.nan, p=p, reason="; ".join(filter(None, (estimate.reason, why))))
