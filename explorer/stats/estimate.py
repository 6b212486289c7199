"""What every statistic comes to: a number, how sure it is, and over how many."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self


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
