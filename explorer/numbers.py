"""Numbers in text and JSON that come from outside: a number, or what says that there is none."""

from __future__ import annotations

import math
from typing import Any

DIGITS = 15  # as many are exact in every program that reads them


def whole(text: str) -> int | None:
    """The whole number that the text writes in plain digits, or none: no "²", no sign, no thousands of digits."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= DIGITS else None


def number(value: Any) -> float:
    """A number of JSON; nan for text, truth values, null, what is not finite, and what is too large to be one."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return math.nan
    try:
        return float(value) if math.isfinite(value) else math.nan
    except OverflowError:
        return math.nan
