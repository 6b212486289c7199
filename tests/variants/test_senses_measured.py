"""The accuracy of the offline sense methods on our sentences, as docs/PERTURBATION.md reports it."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from explorer.resources import Resources
from explorer.variants import tools
from explorer.variants.senses import Occurrence, best_sense
from explorer.variants.targets import find_targets

ROWS = [json.loads(line) for line in (Path(__file__).parent / "data" / "senses.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.slow
def test_the_default_is_the_best_offline_method(shared_settings, wordnet, tagger, monkeypatch):
    occurrences = []
    for row, tokens in zip(ROWS, tagger.tag([row["text"] for row in ROWS]), strict=True):
        targets, _ = find_targets(tokens, row["text"], wordnet)
        senses = wordnet.senses(row["lemma"], row["pos"])
        fitting = next((t.senses for t in targets if t.start == row["start"] and t.lemma == row["lemma"]), senses)
        assert row["synset"] in {sense.synset for sense in senses}
        occurrences.append(Occurrence(row["text"], row["start"], row["end"], row["lemma"], row["pos"], fitting))
    whole = [dataclasses.replace(o, senses=wordnet.senses(o.lemma, o.pos)) for o in occurrences]
    resources = Resources(shared_settings)
    encoder, vectors = resources.encoder(), {}

    class Remembering:
        """The encoder, which four of the methods below would have encode the same sentences."""

        name = encoder.name

        def encode(self, texts):
            if new := [text for text in texts if text not in vectors]:
                vectors.update(zip(new, encoder.encode(new), strict=True))
            return np.stack([vectors[text] for text in texts])

    monkeypatch.setattr(resources, "encoder", Remembering)

    def accuracy(method, asked):
        scores = tools.build_tools(resources, method).senses.score(asked)
        found = [one.senses[best_sense(row)].synset for one, row in zip(asked, scores, strict=True)]
        return sum(synset == row["synset"] for synset, row in zip(found, ROWS, strict=True)) / len(ROWS)

    measured = {method: accuracy(method, occurrences) for method in ("first", "lesk", "gloss", "blend")}
    assert max(measured, key=measured.get) == tools.DEFAULT
    assert measured == pytest.approx({"first": 0.494, "lesk": 0.676, "gloss": 0.755, "blend": 0.788}, abs=0.02)
    # Knowing how the verb is used helps every method.
    assert all(measured[method] > accuracy(method, whole) for method in measured)
