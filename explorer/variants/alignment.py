"""Which words two versions of a text share, and whether two changed versions still differ at exactly the same words."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence


def matching_blocks(first: Sequence[str], second: Sequence[str]) -> list[tuple[bool, slice, slice]]:
    """Runs of words that two texts share (True) or not (False), in order."""
    matcher = difflib.SequenceMatcher(None, first, second, autojunk=False)
    return [(operation == "equal", slice(a, b), slice(c, d)) for operation, a, b, c, d in matcher.get_opcodes()]


def shared_positions(first: Sequence[str], second: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Pairs of places at which both texts have the same word."""
    for same, in_first, in_second in matching_blocks(first, second):
        if same:
            yield from zip(range(in_first.start, in_first.stop), range(in_second.start, in_second.stop), strict=True)


def replaced_positions(first: Sequence[str], second: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Pairs of places at which one word stands in the place of one other."""
    for same, in_first, in_second in matching_blocks(first, second):
        if not same and in_first.stop - in_first.start == in_second.stop - in_second.start:
            yield from zip(range(in_first.start, in_first.stop), range(in_second.start, in_second.stop), strict=True)


def same_difference(
    first: Sequence[str], second: Sequence[str], new_first: Sequence[str], new_second: Sequence[str]
) -> bool:
    """True where the new words (one for each old word) are equal wherever the old were, and differ where they did."""
    for same, in_first, in_second in matching_blocks(first, second):
        if same or in_first.stop - in_first.start == in_second.stop - in_second.start:
            words = zip(first[in_first], second[in_second], new_first[in_first], new_second[in_second], strict=True)
            if any((a == b) != (c == d) for a, b, c, d in words):
                return False
        if not same and " ".join(new_first[in_first]) == " ".join(new_second[in_second]):
            return False
    return True
