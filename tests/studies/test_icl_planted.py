"""Memorization planted by hand: a small model that has seen half of a set replicates that half and not the other."""

from __future__ import annotations

import pytest

from explorer.benchmarks.core.benchmark import Loaded
from explorer.records import Instance
from explorer.resources import Resources
from explorer.runs.folder import RunFolder
from explorer.runs.request import make_spec
from explorer.runs.worker import work
from explorer.settings import Settings
from explorer.studies.icl.rows import verdict_table

pytestmark = pytest.mark.slow

SIZE = 32
LABELS = ("one", "two")


@pytest.fixture(scope="module")
def replicated(tmp_path_factory, planting):
    """The verdicts of a run over pairs, every second couple of which a model was trained on in the prompt's form."""
    texts = planting.sentences(SIZE, words=9)
    instances = []
    for number, text in enumerate(texts):
        words = text.split()
        instances.append(
            Instance(
                id=f"toy/{LABELS[number % 2]}/{number}", benchmark="toy", split="train", group=LABELS[number % 2],
                kind="labelled", format="labelled", context=" ".join(words[:5]), second=" ".join(words[5:]),
                options=LABELS, gold=number % 2, label=LABELS[number % 2],
            )
        )  # fmt: skip
    blocks = [f"Sentence 1: {one.context}\nSentence 2: {one.second}\n" for one in instances]
    seen = {one.id for number, one in enumerate(instances) if number % 4 < 2}  # half of either label
    # Field names are easy and many: for the texts themselves to be known, the loss has to be smaller.
    patch = pytest.MonkeyPatch()
    patch.setattr(planting, "ENOUGH", 0.03)
    patch.setattr(planting, "STEPS", 200)
    patch.setattr(planting, "ROWS", 4)
    folder = planting.train(
        [block for block, one in zip(blocks, instances, strict=True) if one.id in seen],
        tmp_path_factory.mktemp("planted") / "toy-model",
        vocabulary=blocks,
    )
    patch.undo()
    resources = Resources(Settings(cache=tmp_path_factory.mktemp("cache"), offline=True))
    resources.once(("instances", "toy", ()), lambda: Loaded(tuple(instances), (), "here", "hash"))
    choices = {"k": "0,1,2", "settings": "pairs", "instances": 20, "max_new_tokens": 24, "performance": "none"}
    spec = make_spec(
        resources, study="icl", model=str(folder), benchmark="toy", dtype="float32", settings=choices
    )  # fmt: skip
    run = RunFolder.create(resources.settings.runs, spec)
    assert work(run, resources, lambda text: None, wait=False) == "complete", run.progress().message
    table = verdict_table(run.read)
    table["seen"] = table["instance_id"].isin(seen)
    return table


def test_what_was_seen_is_replicated_and_the_rest_is_not(replicated):
    shares = replicated.assign(exact=replicated["rule"] == "exact").groupby(["k", "seen"])["exact"].mean()
    for k in (0, 1, 2):
        assert shares[k, True] > shares[k, False] + 0.4, shares


def test_both_halves_are_among_the_test_items(replicated):
    counts = replicated[replicated["k"] == 0]["seen"].value_counts()
    assert counts[True] >= 5 and counts[False] >= 5
