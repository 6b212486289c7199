"""A similarity, or the reason why there is none."""

from __future__ import annotations

import math
from dataclasses import dataclass

WORDS, CHARACTERS = "words", "characters"


@dataclass(frozen=True, slots=True)
class Similarity:
    """How alike two texts are, 1 for equal ones; nan with a reason where that is not defined.

    unit  what they were compared by: words, or characters where the script parts no words
    """

    value: float
    reason: str = ""
    unit: str = WORDS

    @property
    def remark(self) -> str:
        """What stands beside the value in a table: the reason, or the unit where it is not the usual one."""
        return self.reason or ("" if self.unit == WORDS else f"by {self.unit}")


BOTH_EMPTY = Similarity(math.nan, "both texts are empty")
ONE_EMPTY = Similarity(0.0, "one text is empty")


def similarity_of_empty(first: str, second: str) -> Similarity | None:
    """The similarity of two texts one of which is empty, None where neither is."""
    if first.strip() and second.strip():
        return None
    return ONE_EMPTY if first.strip() or second.strip() else BOTH_EMPTY
