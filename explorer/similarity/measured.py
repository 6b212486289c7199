"""A similarity, or the reason why there is none."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Similarity:
    """How alike two texts are, 1 for equal ones; nan with a reason where that is not defined."""

    value: float
    reason: str = ""


BOTH_EMPTY = Similarity(math.nan, "both texts are empty")
ONE_EMPTY = Similarity(0.0, "one text is empty")


def empty(first: str, second: str) -> Similarity | None:
    """The similarity of two texts one of which is empty, None where neither is."""
    if first.strip() and second.strip():
        return None
    return ONE_EMPTY if first.strip() or second.strip() else BOTH_EMPTY
