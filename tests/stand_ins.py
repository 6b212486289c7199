"""What stands in for dictionaries, counters, taggers and encoders: answers that can be worked out by hand."""

from __future__ import annotations

import math

import numpy as np

from explorer.records import Count, Instance
from explorer.similarity.measured import Similarity
from explorer.variants.lexicon import Lemma, Sense
from explorer.variants.tagging import Token

SYNONYMS = {"doctor": ("n", "doctor physician"), "actor": ("n", "actor player"), "astound": ("v", "astound amaze")}


class Lexicon:
    """Three words with one synonym each."""

    name = "small"

    def senses(self, lemma: str, pos: str) -> tuple[Sense, ...]:
        kind, words = SYNONYMS.get(lemma, ("", ""))
        if kind != pos:
            return ()
        lemmas = tuple(Lemma(word, 1, (8, 9, 10, 11)) for word in words.split())
        return (Sense(f"{words.split()[0]}.{pos}.01", pos, 1, lemmas[0], lemmas, "a definition"),)

    def has(self, expression: str) -> bool:
        return False

    def related(self, synset: str) -> tuple[()]:
        return ()


class WordCounter:
    """A counter whose tokens are words; each occurs as often as it has letters."""

    index = "words"

    def __init__(self) -> None:
        self.names: list[str] = []

    def encode(self, texts, *, bare=False):
        split = [text.lower().strip(".").split() for text in texts]
        self.names += [word for word in dict.fromkeys(w for words in split for w in words) if word not in self.names]
        return [tuple(map(self.names.index, words)) for words in split]

    def decode(self, ids):
        return tuple(f" {self.names[token]}" for token in ids)

    def count(self, ngrams, progress=None):
        return [Count(self.index, each, float(sum(len(self.names[token]) for token in each))) for each in ngrams]

    def total_tokens(self):
        return math.nan


class Proposer:
    """Three words for any gap."""

    name = "words"
    method = "three words by hand"

    def record(self):
        return {"weights": "none"}

    def propose(self, gaps, count):
        return [[("lamp", -1.0), ("winter", -2.0), ("old", -3.0)] for _ in gaps]


class EqualTexts:
    """Stands for BERTScore: every pair is alike to the same degree."""

    def f1(self, originals, changed):
        return [Similarity(0.9) for _ in originals]


class Letters:
    """An encoder whose vectors count letters."""

    name = "letters"

    def encode(self, texts):
        counts = np.array([[text.lower().count(chr(97 + i)) for i in range(26)] for text in texts], dtype=np.float32)
        return counts / np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1e-9)


class Capitals:
    """A tagger that takes every word with a capital for a name."""

    name = "capitals"

    def tag(self, texts):
        for text in texts:
            yield tuple(
                Token(i, word, 0, 0, "NNP", "PROPN" if word[:1].isupper() else "X", word, "", i, "", 0, True)
                for i, word in enumerate(text.split())
            )


def pair(key: str, good: str, bad: str, group: str = "subject_verb_agreement") -> Instance:
    """A minimal pair of BLiMP's form, its first sentence the acceptable one."""
    return Instance(
        id=f"blimp/{group}/{key}", benchmark="blimp", split="train", group=group, kind="pair", format="sentence",
        options=(good, bad), gold=0, phenomenon=group, field="formal",
    )  # fmt: skip
