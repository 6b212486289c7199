import json
import math
from pathlib import Path

import numpy as np
import pytest

from explorer.variants.gloss_store import VectorStore
from explorer.variants.senses import Occurrence, best_sense
from explorer.variants.senses_blend import BlendSense
from explorer.variants.senses_first import FirstSense
from explorer.variants.senses_gloss import GlossSense, gloss_of
from explorer.variants.senses_lesk import Lesk


class LetterEncoder:
    """Unit vectors of letter counts: texts with the same letters lie together. Counts how often it is asked."""

    name = "letters"

    def __init__(self):
        self.asked = 0

    def encode(self, texts):
        self.asked += len(texts)
        rows = np.array([[text.lower().count(chr(97 + i)) + 0.01 for i in range(26)] for text in texts], np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def occurrence(lexicon, sentence="The police arrested him.", word="arrested", lemma="arrest"):
    start = sentence.index(word)
    return Occurrence(sentence, start, start + len(word), lemma, "v", lexicon.senses(lemma, "v"))


def test_ties_go_to_the_lower_sense_and_unknown_scores_lose():
    assert best_sense([0.5, 0.5]) == 0
    assert best_sense([0.1231, 0.1234]) == 0  # equal to three decimals
    assert best_sense([math.nan, -2.0]) == 1
    assert best_sense([math.nan, math.nan]) == 0


def test_first_sense_is_the_first(lexicon):
    assert [best_sense(scores) for scores in FirstSense().score([occurrence(lexicon)])] == [0]


def test_lesk_counts_shared_stems_without_the_word_itself(lexicon):
    # "police" stands in the gloss of a neighbour of the first sense; "stops" and "stop" are one stem
    assert Lesk(lexicon).score([occurrence(lexicon)]) == [(1.0, 0.0)]
    assert Lesk(lexicon).score([occurrence(lexicon, "It stops; they arrested it.")]) == [(0.0, 1.0)]


def test_gloss_score_is_cosine_plus_prior(lexicon, tmp_path):
    encoder = LetterEncoder()
    one = occurrence(lexicon)
    (scores,) = GlossSense(encoder, VectorStore(encoder, tmp_path)).score([one])
    here, *there = encoder.encode([one.sentence, *(gloss_of(sense) for sense in one.senses)])
    # counts 10 and 10 (the small lexicon), half a count added: each has log share log(1/2)
    assert scores == pytest.approx([float(here @ vector) + 0.05 * math.log(0.5) for vector in there], abs=1e-6)


def test_glosses_are_encoded_once_and_kept_on_disk(tmp_path):
    texts = ["a b", "c d", "a b"]
    first = LetterEncoder()
    vectors = VectorStore(first, tmp_path).vectors(texts)
    assert first.asked == 2 and vectors.shape == (3, 26)
    again = LetterEncoder()
    assert (VectorStore(again, tmp_path).vectors(texts[::-1]) == vectors[::-1]).all()
    assert again.asked == 0


def test_blend_adds_the_overlap(lexicon, tmp_path):
    encoder = LetterEncoder()
    plain = GlossSense(encoder, VectorStore(encoder, tmp_path))
    one = occurrence(lexicon)
    ((before, after),) = plain.score([one])
    assert BlendSense(plain, Lesk(lexicon)).score([one]) == [(before + 0.05 * math.log(2), after)]


def test_the_sense_test_set_is_whole():
    rows = [json.loads(line) for line in (Path(__file__).parent / "data" / "senses.jsonl").open()]
    assert len(rows) >= 150 and len({row["text"] for row in rows}) == len(rows)
    assert {row["pos"] for row in rows} == {"n", "v"}
    assert all(row["text"][row["start"] : row["end"]].isalpha() for row in rows)
