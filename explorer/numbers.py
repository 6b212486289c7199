"""Numbers in text and JSON that come from outside: a number, or what says that there is none."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

DIGITS = 15  # as many are exact in every program that reads them


def whole(text: str) -> int | None:
    """The whole number that the text writes in plain digits, or none: no "²", no sign, no thousands of digits."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= DIGITS else None


def whole_or(text: str, otherwise: int) -> int:
    """The whole number that the text writes in plain digits, else the other one."""
    number = whole(text)
    return otherwise if number is None else number


def places(texts: Iterable[str], many: int) -> list[int]:
    """The texts that write a place among so many (0 to many - 1), as numbers; the others are left out."""
    return [place for text in texts if (place := whole(text)) is not None and place < many]


def number(value: Any) -> float:
    """A number of JSON; nan for text, truth values, null, what is not finite, and what is too large to be one."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return math.nan
    try:
        return float(value) if math.isfinite(value) else math.nan
    except OverflowError:
        return math.nan
