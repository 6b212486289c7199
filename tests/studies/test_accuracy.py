"""Accuracy of a model behind an endpoint that returns the log-probabilities of a prompt."""

from __future__ import annotations

import pytest

from explorer.resources import Resources
from explorer.runs import cost
from explorer.runs.folder import RunFolder
from explorer.runs.request import make_spec
from explorer.runs.worker import work


def test_an_endpoint_that_scores_is_judged_like_a_model(settings, letters):
    resources = Resources(settings)
    given = {"per_group": 2}
    spec = make_spec(
        resources, study="accuracy", model=letters.name, benchmark="starter_pairs", limit=10, settings=given
    )
    reckoned = cost.of_run(spec, resources)
    assert (reckoned.requests, reckoned.new_tokens, letters.asked) == (20, 20, [])
    folder = RunFolder.create(settings.runs, spec)
    assert work(folder, resources, print, wait=False) == "complete", folder.progress().message
    assert len(letters.asked) == 20
    scores = folder.read("scores")
    # Every letter but the first has log P -1: the shorter sentence is the likelier one.
    assert scores["logprob"].tolist() == pytest.approx([1.0 - len(text) for text in scores["continuation"]])
    lengths = scores.pivot(index="instance_id", columns="option", values="chars")
    correct = folder.read("measures").query("measure == 'correct'").set_index("instance_id")["value"]
    decided = lengths[lengths[0] != lengths[1]]
    assert len(decided) and (correct[decided.index] == (decided[0] < decided[1])).all()
    assert cost.of_run(spec, resources).requests == 0


def test_an_endpoint_cannot_be_scored_by_the_conventions_of_a_tokenizer(settings, letters):
    resources = Resources(settings)
    given = {"preset": "lm-eval", "per_group": 1}
    spec = make_spec(resources, study="accuracy", model=letters.name, benchmark="starter_pairs", settings=given)
    folder = RunFolder.create(settings.runs, spec)
    assert work(folder, resources, print, wait=False) == "failed"
    assert "Score endpoints with the preset natural" in folder.progress().message
