"""Lists of models as people write them: several names, braces, and "..." for the checkpoints in between.

    A B                         two models
    A@step{0,1,2,4}             four checkpoints of A
    A@step{0,1,2,4,...,143000}  the known checkpoints of A from 0 to 143000; where A's are not known, the doubling or
                                the even steps of the last numbers before the dots go on

A shell opens braces before we see them, so that the last line arrives as six words, one of them `A@step...`: both are
read alike.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from explorer import numbers
from explorer.errors import UsageError
from explorer.scoring import suites
from explorer.settings import path_of

MAX_NAMES = 1_000  # names in a list
DOTS = "..."
_BRACES = re.compile(r"\{([^{}]*)\}")


def expand(texts: Sequence[str]) -> list[str]:
    """Every name once, in the order written; UsageError where dots stand between no numbers."""
    opened = [name for text in texts for name in _expand_braces(text)]
    names: list[str] = []
    for place, name in enumerate(opened):
        is_list = name.endswith(DOTS) and not os.path.isdir(path_of(name))
        names += _fill_dots(opened, place) if is_list else [name]
    names = list(dict.fromkeys(names))
    if len(names) > MAX_NAMES:
        raise UsageError(f"The list has {len(names):,} names, expected {MAX_NAMES:,} at most. Name fewer checkpoints.")
    return names


def _expand_braces(text: str) -> list[str]:
    """The text once for each choice in its first pair of braces, and so on; a folder's name as it is."""
    match = _BRACES.search(text)
    if match is None or os.path.isdir(path_of(text)):
        return [text]
    choices = [choice.strip() for choice in match[1].split(",")]
    return [name for choice in choices for name in _expand_braces(text[: match.start()] + choice + text[match.end() :])]


def _fill_dots(names: Sequence[str], place: int) -> list[str]:
    """What stands for the dots at this place: names between the one before and the one after."""
    stem = names[place].removesuffix(DOTS)
    before = [number for name in names[:place] if (number := _number(name, stem)) is not None]
    after = _number(names[place + 1], stem) if place + 1 < len(names) else None
    if not before or after is None or after <= before[-1]:
        raise UsageError(
            f"{names[place]!r} stands for the checkpoints in between, expected numbers on both sides of the dots, the "
            f"larger one last, such as {stem}{{0,1,2,4,{DOTS},143000}}."
        )
    known = suites.steps_of(stem)
    numbers = list(known) if known else _continue_series(before, after)
    return [f"{stem}{number}" for number in numbers if before[-1] < number < after]


def _number(name: str, stem: str) -> int | None:
    rest = name.removeprefix(stem)
    return numbers.whole(rest) if name.startswith(stem) else None


def _continue_series(before: Sequence[int], end: int) -> list[int]:
    """The numbers after the last one: in even steps, or multiplied, as the last three were; of two, in even steps."""
    last = before[-1]
    second, first = before[-2] if len(before) > 1 else None, before[-3] if len(before) > 2 else None
    if second is not None and last > second and (first is None or last - second == second - first):
        return list(range(last + (last - second), end, last - second))[:MAX_NAMES]
    if second is not None and last > second and first and last * first == second * second:
        numbers = [last]
        while numbers[-1] < end and len(numbers) <= MAX_NAMES:
            numbers.append(numbers[-1] * second // first)
        return numbers[1:]
    raise UsageError(
        f"How {', '.join(map(str, before))} goes on is not known, expected even steps, multiples, or a model whose "
        "checkpoints are known. Write the numbers out."
    )
