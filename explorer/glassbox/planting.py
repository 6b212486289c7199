"""What is planted in the corpus: every text with how often it stands there, and what it is to teach."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["pair", "neutral", "synonym", "concept", "starter", "labeled", "own"]
KINDS: dict[Kind, str] = {
    "pair": "the deciding n-gram of a minimal pair",
    "neutral": "a sentence with a planted word that decides nothing",
    "synonym": "one of two synonyms in the same slot",
    "concept": "a made-up concept's label beside its ID",
    "starter": "a text of a starter set",
    "labeled": "a labeled item as an in-context prompt writes it",
    "own": "a text of one's own",
}


@dataclass(frozen=True, slots=True)
class Planting:
    """One planted thing.

    ngram   the text whose count in the corpus is exactly `dose`
    texts   the lines that hold it, together `dose` of them; none where the dose is 0
    """

    kind: Kind
    id: str
    group: str
    ngram: str
    dose: int
    texts: tuple[str, ...]

    def lines(self) -> Iterator[str]:
        """The lines that are written, each as often as it stands in the corpus."""
        for place in range(self.dose):
            yield self.texts[place % len(self.texts)]
