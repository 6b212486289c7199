"""What was measured of one instance, as screens read it: the same from a stored run and from a model just now."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import pandas as pd


@dataclass(frozen=True, slots=True)
class Measured:
    """A number about an instance: nan has its reason; -1 as option is the whole instance, as part none."""

    name: str
    value: float
    reason: str = ""
    option: int = -1
    part: int = -1


@dataclass(frozen=True, slots=True)
class Judgment:
    """Everything that was measured of an instance."""

    measured: tuple[Measured, ...]

    @classmethod
    def of_rows(cls, rows: Iterable[Mapping[str, Any]]) -> Self:
        """From rows of `measures`, made just now or stored."""
        return cls(
            tuple(
                Measured(
                    str(row["measure"]),
                    float(row["value"]),
                    str(row["reason"] or ""),
                    _whole_number(row.get("option")),
                    _whole_number(row.get("part")),
                )
                for row in rows
            )
        )

    def get(self, name: str) -> Measured:
        """The first measure of this name; nan without a reason where there is none."""
        return next((measure for measure in self.measured if measure.name == name), Measured(name, math.nan))

    def value(self, name: str) -> float:
        """Its value."""
        return self.get(name).value

    def reason(self, name: str) -> str:
        """Why the measure is what it is: a tie, undecided, too long."""
        return self.get(name).reason


def _whole_number(value: Any) -> int:
    return -1 if pd.isna(value) else int(value)  # None, nan and NA alike
