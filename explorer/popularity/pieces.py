"""Long texts in pieces that the service encodes, overlapping so that every seam can be checked."""

from __future__ import annotations

import re
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


def split(text: str, most: int = MOST_CHARACTERS) -> list[Piece]:
    """Pieces of at most `most` characters without an AND or OR between blanks, each sharing words with the one before.

    At an AND or OR only the operator itself is shared, since a piece must not hold it with a word on both sides.
    """
    operators = [(match.start(), text.index(" ", match.start() + 1) + 1) for match in _OPERATOR.finditer(text)]

    def fits(start: int, end: int) -> bool:
        return end - start <= most and not any(start <= first and last <= end for first, last in operators)

    if fits(0, len(text)):
        return [Piece(text)]
    seams = [match.start() for match in _SEAM.finditer(text)]
    ends = [*seams, len(text)]
    pieces: list[Piece] = []
    start, shared = 0, 0  # characters
    while True:
        end = max((each for each in ends if each > start + shared and fits(start, each)), default=None)
        if end is None:
            raise _unsplittable(text[start:], most)
        pieces.append(Piece(text[start:end], text[start : start + shared]))
        if end == len(text):
            return pieces
        after = next(each for each in ends if each > end)
        starts = [seam + 1 for seam in seams if start <= seam < end][-OVERLAP:]
        begin = next((each for each in starts if fits(each, after)), None)
        if begin is None:
            raise _unsplittable(text[start:], most)
        start, shared = begin, end - begin


def _unsplittable(text: str, most: int) -> TextNotEncoded:
    return TextNotEncoded(
        f"{text[:60]!r} cannot be sent to the service: it takes {most:,} characters without ' AND ' or ' OR ', and "
        "there is no single blank to split the text at. Name a local folder with the index's tokenizer."
    )
