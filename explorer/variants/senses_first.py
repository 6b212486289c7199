"""The most frequent sense, whatever the sentence."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.variants.senses import Occurrence


class FirstSense:
    """Scores senses by their rank in WordNet, which is their frequency in SemCor."""

    name = "first"

    def score(self, occurrences: Sequence[Occurrence]) -> list[tuple[float, ...]]:
        return [tuple(-float(sense.number) for sense in occurrence.senses) for occurrence in occurrences]
