"""JSON of bounded depth, length and size of numbers, and the bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

MAX_NUMBER = 1e18  # of any number, in a table, too
MAX_TEXT = 100_000  # characters of a text; tables may hold longer ones
MAX_DEPTH = 8
LATEST_DATE = 4_102_444_800.0  # seconds since 1970: the year 2100


def bounded(value: Any, deep: int = MAX_DEPTH) -> Any:
    """The value itself; ValueError where it goes beyond one of them."""
    if isinstance(value, Mapping):
        if not deep or len(value) > 10_000:
            raise ValueError("is nested too deeply or too large")
        for name, item in value.items():
            bounded(str(name), deep)
            bounded(item, deep - 1)
    elif isinstance(value, list | tuple):
        if not deep or len(value) > 100_000:
            raise ValueError("is nested too deeply or too large")
        for item in value:
            bounded(item, deep - 1)
    elif isinstance(value, str):
        if len(value) > MAX_TEXT:
            raise ValueError(f"holds a text of {len(value):,} characters")
    elif isinstance(value, int | float) and not (math.isfinite(value) and abs(value) <= MAX_NUMBER):
        raise ValueError("holds a number that is none")
    return value
