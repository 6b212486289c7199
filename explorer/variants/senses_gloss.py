"""The sense whose gloss lies nearest to the sentence in a sentence encoder's space, with a small frequency prior."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from explorer.scoring.model import Encoder
from explorer.variants.gloss_store import VectorStore
from explorer.variants.lexicon import Sense
from explorer.variants.senses import Occurrence

# Of five weights of the log prior tried on WordNet's own example sentences, the one that beats the most frequent sense
# both where all senses count alike and where they count by their frequency.
PRIOR = 0.05
WORDS = 5  # words of the synset that stand before its definition
EXAMPLES = 3


class GlossSense:
    """Scores a sense by cosine(sentence, gloss) + 0.05 log prior; glosses are encoded once and kept on disk."""

    name = "gloss"

    def __init__(self, encoder: Encoder, store: VectorStore) -> None:
        self._encoder = encoder
        self._store = store

    def score(self, occurrences: Sequence[Occurrence]) -> list[tuple[float, ...]]:
        if not occurrences:
            return []
        sentences = list(dict.fromkeys(occurrence.sentence for occurrence in occurrences))
        row_of_sentence = {sentence: i for i, sentence in enumerate(sentences)}
        sentence_vectors = self._encoder.encode(sentences)
        glosses = {gloss_of(sense): None for occurrence in occurrences for sense in occurrence.senses}
        row_of_gloss = {text: i for i, text in enumerate(glosses)}
        all_gloss_vectors = self._store.vectors(list(glosses))
        scores = []
        for occurrence in occurrences:
            gloss_vectors = all_gloss_vectors[[row_of_gloss[gloss_of(sense)] for sense in occurrence.senses]]
            cosines = gloss_vectors @ sentence_vectors[row_of_sentence[occurrence.sentence]]
            scores.append(
                tuple(float(x) + PRIOR * y for x, y in zip(cosines, log_priors(occurrence.senses), strict=True))
            )
        return scores


def gloss_of(sense: Sense) -> str:
    """A sense in words: its synset, its definition, its first examples."""
    names = ", ".join(lemma.name.replace("_", " ") for lemma in sense.lemmas[:WORDS])
    examples = "; ".join(sense.examples[:EXAMPLES])
    return f"{names}: {sense.definition}. {examples}".strip()


def log_priors(senses: Sequence[Sense]) -> list[float]:
    """The log share of each sense among SemCor's uses of the lemma, half a count added to each."""
    counts = np.array([sense.lemma.count + 0.5 for sense in senses])
    return [math.log(share) for share in counts / counts.sum()]
