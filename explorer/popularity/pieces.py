"""Long texts in pieces that the service encodes, overlapping so that every seam can be checked."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from explorer.popularity.counter import TextNotEncoded

MOST_CHARACTERS = 1000
OVERLAP = 9  # words, so at least the n - 1 tokens of the longest n-gram
_SEAM = re.compile(r"(?<! ) (?! )")  # a single blank between two words
_OPERATOR = re.compile(r"(?= (?:AND|OR) )")  # the service reads these as a query of several terms


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text, and the words at its start that the part before it ends with."""

    text: str
    overlap: str = ""


def split_text(text: str, most: int = MOST_CHARACTERS) -> list[Piece]:
    """Pieces of at most `most` characters without an AND or OR between blanks, each sharing words with the one before.

    At an AND or OR only the operator itself is shared, since a piece must not hold it with a word on both sides.
    """
    operators = [match.start() for match in _OPERATOR.finditer(text)]
    behind = [text.index(" ", start + 1) + 1 for start in operators]

    def furthest(start: int) -> int:
        """The last place where a piece from `start` may end."""
        following = bisect_left(operators, start)
        return min(start + most, behind[following] - 1 if following < len(operators) else len(text))

    if furthest(0) >= len(text):
        return [Piece(text)]
    seams = [match.start() for match in _SEAM.finditer(text)]
    ends = [*seams, len(text)]
    pieces: list[Piece] = []
    start, shared = 0, 0  # characters
    while True:
        last_end = bisect_right(ends, furthest(start)) - 1
        if last_end < 0 or ends[last_end] <= start + shared:
            raise _unsplittable(text[start:], most)
        end = ends[last_end]
        pieces.append(Piece(text[start:end], text[start : start + shared]))
        if end == len(text):
            return pieces
        before = seams[bisect_left(seams, start) : bisect_left(seams, end)][-OVERLAP:]
        begin = next((seam + 1 for seam in before if furthest(seam + 1) >= ends[last_end + 1]), None)
        if begin is None:
            raise _unsplittable(text[start:], most)
        start, shared = begin, end - begin


def _unsplittable(text: str, most: int) -> TextNotEncoded:
    return TextNotEncoded(
        f"{text[:60]!r} cannot be sent to the service: it takes {most:,} characters without ' AND ' or ' OR ', and "
        "there is no single blank to split the text at. Name a local folder with the index's tokenizer."
    )
