"""Which words two versions of a text share, and whether two changed versions still differ at exactly the same words."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence


def blocks(first: Sequence[str], second: Sequence[str]) -> list[tuple[bool, slice, slice]]:
    """Runs of words that two texts share (True) or not (False), in order."""
    matcher = difflib.SequenceMatcher(None, first, second, autojunk=False)
    return [(what == "equal", slice(a, b), slice(c, d)) for what, a, b, c, d in matcher.get_opcodes()]


def shared(first: Sequence[str], second: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Pairs of places at which both texts have the same word."""
    for same, here, there in blocks(first, second):
        if same:
            yield from zip(range(here.start, here.stop), range(there.start, there.stop), strict=True)


def replaced(first: Sequence[str], second: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Pairs of places at which one word stands in the place of one other."""
    for same, here, there in blocks(first, second):
        if not same and here.stop - here.start == there.stop - there.start:
            yield from zip(range(here.start, here.stop), range(there.start, there.stop), strict=True)


def same_difference(
    first: Sequence[str], second: Sequence[str], new_first: Sequence[str], new_second: Sequence[str]
) -> bool:
    """True where the new words (one for each old word) are equal wherever the old were, and differ where they did."""
    for same, here, there in blocks(first, second):
        if same or here.stop - here.start == there.stop - there.start:
            words = zip(first[here], second[there], new_first[here], new_second[there], strict=True)
            if any((a == b) != (c == d) for a, b, c, d in words):
                return False
        if not same and " ".join(new_first[here]) == " ".join(new_second[there]):
            return False
    return True
