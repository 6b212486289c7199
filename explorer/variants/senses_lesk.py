"""Extended Lesk: the sense whose definition, examples and neighbors share most words with the sentence.

Banerjee & Pedersen (2002), An adapted Lesk algorithm for word sense disambiguation using WordNet.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from explorer.variants import inflect
from explorer.variants.lexicon import Lexicon, Sense
from explorer.variants.senses import Occurrence

WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")
_STOP = """
    a about after all also an and any are as at be been before being but by can could did do does done each for from
    had has have having he her him his how i if in into is it its like may might more most no not of on one or other
    our out over she should so some something somebody someone such than that the their them then there these they
    this those through to under up used usually very was we were what when where which who will with would you your
"""
STOP = frozenset(_STOP.split())


class Lesk:
    """Scores a sense by the number of word stems it shares with the sentence, the word itself left out."""

    name = "lesk"

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._signatures: dict[str, frozenset[str]] = {}

    def score(self, occurrences: Sequence[Occurrence]) -> list[tuple[float, ...]]:
        return [self._overlaps(occurrence) for occurrence in occurrences]

    def _overlaps(self, occurrence: Occurrence) -> tuple[float, ...]:
        around = f"{occurrence.sentence[: occurrence.start]} {occurrence.sentence[occurrence.end :]}"
        context = content_stems(around) - {occurrence.lemma}
        return tuple(float(len(context & self._signature(sense))) for sense in occurrence.senses)

    def _signature(self, sense: Sense) -> frozenset[str]:
        if sense.synset not in self._signatures:
            names = (lemma.name.replace("_", " ") for lemma in sense.lemmas)
            texts = [*names, sense.definition, *sense.examples, *self._lexicon.related(sense.synset)]
            self._signatures[sense.synset] = content_stems(" ".join(texts))
        return self._signatures[sense.synset]


def content_stems(text: str) -> frozenset[str]:
    """The content words of a text as lemmas."""
    words = {word for word in WORD.findall(text.lower()) if word not in STOP and len(word) > 2}
    return frozenset(_stem_of(word) for word in words)


def _stem_of(word: str) -> str:
    lemmas = (*inflect.lemmas_of(word, "v"), *inflect.lemmas_of(word, "n"))
    return min(lemmas, key=lambda lemma: (len(lemma), lemma)) if lemmas else word
