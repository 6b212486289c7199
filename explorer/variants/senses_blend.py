"""Gloss similarity and Lesk together: the vector hears what a sentence is about, the overlap single telling words."""

from __future__ import annotations

import math
from collections.abc import Sequence

from explorer.variants.senses import Occurrence, SenseScorer

OVERLAP = 0.05  # weight of log(1 + shared words)


class BlendSense:
    """Scores a sense by its gloss score + 0.05 log(1 + its Lesk overlap)."""

    name = "blend"

    def __init__(self, gloss: SenseScorer, lesk: SenseScorer) -> None:
        self._gloss = gloss
        self._lesk = lesk

    def score(self, occurrences: Sequence[Occurrence]) -> list[tuple[float, ...]]:
        pairs = zip(self._gloss.score(occurrences), self._lesk.score(occurrences), strict=True)
        return [
            tuple(x + OVERLAP * math.log1p(y) for x, y in zip(glosses, overlaps, strict=True))
            for glosses, overlaps in pairs
        ]
