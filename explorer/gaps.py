"""The gap of a sentence that options fill: a run of underscores that stands free, or a mask.

The _ fell.          The ___ fell.          The [MASK] fell.          but not: my_var fell, snake_case
"""

from __future__ import annotations

import re

GAP = re.compile(r"(?<![\w\\])_+(?!\w)|\[(?:MASK|BLANK|GAP)\]|<(?:mask|blank|gap)>", re.IGNORECASE)


def find_gaps(text: str) -> list[tuple[int, int]]:
    """First character and the one after the last of each gap."""
    return [match.span() for match in GAP.finditer(text)]


def find_gap(text: str) -> tuple[int, int] | None:
    """The one gap of a text; none where there is no gap, or more than one."""
    gaps = find_gaps(text)
    return gaps[0] if len(gaps) == 1 else None


def around(text: str) -> tuple[str, str]:
    """The text before its gap and the text behind it; imports made before know a gap by its first underscore only."""
    start, end = find_gap(text) or (text.find("_"), text.find("_") + 1)
    return (text[:start], text[end:]) if start >= 0 else (text, "")
