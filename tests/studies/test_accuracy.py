"""Accuracy of a model behind an endpoint that returns the log-probabilities of a prompt."""

from __future__ import annotations

import math
import random

import numpy as np
import pandas as pd
import pytest

from explorer.resources import Resources
from explorer.runs import cost
from explorer.runs.folder import RunFolder
from explorer.runs.request import make_spec
from explorer.runs.worker import work
from explorer.studies.accuracy import findings


def test_an_endpoint_that_scores_is_judged_like_a_model(settings, letters):
    resources = Resources(settings)
    given = {"per_group": 2}
    spec = make_spec(
        resources, study="accuracy", model=letters.name, benchmark="starter_pairs", limit=10, settings=given
    )
    reckoned = cost.estimate_run(spec, resources)
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
    assert cost.estimate_run(spec, resources).requests == 0


def test_an_endpoint_cannot_be_scored_by_the_conventions_of_a_tokenizer(settings, letters):
    resources = Resources(settings)
    given = {"preset": "lm-eval", "per_group": 1}
    spec = make_spec(resources, study="accuracy", model=letters.name, benchmark="starter_pairs", settings=given)
    folder = RunFolder.create(settings.runs, spec)
    assert work(folder, resources, print, wait=False) == "failed"
    assert "Score endpoints with the preset natural" in folder.progress().message


def test_reductions_worked_out_at_once_are_those_worked_out_one_by_one():
    chance = random.Random(5)
    numbers = (0.0, -1.0, -1.000001, -2.5, -40.0, math.nan, -math.inf)
    asked, rows = {}, []
    for number in range(400):
        count = chance.choice((1, 2, 2, 3))
        passes = [
            {
                option: findings.StoredOption(
                    chance.choice(numbers), chance.choice((0.0, 1.0, 3.0, math.nan)), chance.choice((0.0, 4.0)), 5.0,
                    ("", chance.choice(("one", "two", f"option {option}"))),
                )
                for option in range(count)
                if chance.random() > 0.03
            }
            for _ in range(chance.choice((1, 1, 1, 2)))
        ]  # fmt: skip
        asked[str(number)] = passes
        rows.append((str(number), chance.choice((None, *range(count + 1))), count))
    instances = pd.DataFrame(rows, columns=["instance_id", "gold", "options"])
    scores = pd.DataFrame(
        {"instance_id": name, "role": "option", "part": part, "option": option, **score._asdict()}
        for name, passes in asked.items()
        for part, options in enumerate(passes)
        for option, score in options.items()
    )
    scores[["context", "continuation"]] = scores.pop("text").tolist()
    scores = pd.concat([scores.sample(frac=1, random_state=1), scores.assign(logprob=-9.0)])  # of two the first counts
    for reduction in findings.REDUCTIONS:
        for ties in ("half", "first"):
            together = findings.chosen_is_gold(instances, scores, reduction, ties)
            alone = [findings._of_passes(asked[name], gold, count, reduction, ties) for name, gold, count in rows]
            np.testing.assert_array_equal(together, np.array(alone))


def test_the_perplexity_of_a_single_text_says_why_it_has_no_interval():
    alone = findings.perplexity(np.array([-2.0]))
    assert alone.value == pytest.approx(math.exp(2)) and math.isnan(alone.low)
    assert alone.reason == "one item or group has no interval"


def pairs(texts):
    """Four pairs and their scores as a worker writes them: instance by instance, option by option."""
    instances = pd.DataFrame({"instance_id": list("dbca"), "gold": [0, 1, 0, 0], "options": 2})
    scores = pd.DataFrame(
        {
            "instance_id": list("ddbbccaa"),
            "role": "option",
            "part": [math.nan] * 8,
            "option": [0, 1] * 4,
            "logprob": [-1.0, -2.0, -1.0, -2.0, -3.0, -3.1, math.nan, -1.0],
            "scored": 3.0,
            "chars": 4.0,
            "bytes": 4.0,
            "context": [None, None, "", "", "x", "y", "", ""],
            "continuation": texts,
        }
    )
    return instances, scores


def test_scores_in_the_order_of_their_instances_are_judged_as_in_any_other():
    # in the first and the third pair the options have one text; in the third after two contexts
    instances, scores = pairs(["same", "same", "one", "two", "same", "same", "one", "two"])
    expected = [0.5, 0.0, 1.0, math.nan]
    orders = [scores, scores.iloc[::-1], scores.sample(frac=1, random_state=3), pd.concat([scores, scores])]
    others = [pd.concat([scores, scores.assign(role="unconditional")]), scores.astype({"continuation": object})]
    for rows in (*orders, *others):
        np.testing.assert_array_equal(findings.chosen_is_gold(instances, rows, "sum"), expected)


def test_scores_of_another_instance_in_an_ordered_place_are_not_taken_for_its_own():
    instances, scores = pairs([f"text {n}" for n in range(8)])
    scores.loc[2:3, "instance_id"] = "stray"
    np.testing.assert_array_equal(findings.chosen_is_gold(instances, scores, "sum"), [1.0, math.nan, 1.0, math.nan])
    scores.loc[2:3, "instance_id"] = "d"  # a second time the first pair's: of two scores the first counts
    np.testing.assert_array_equal(findings.chosen_is_gold(instances, scores, "sum"), [1.0, math.nan, 1.0, math.nan])


def test_a_measure_is_found_for_each_instance_in_whatever_order_it_was_stored():
    ids = pd.Series(list("cab"))
    measures = pd.DataFrame(
        {"instance_id": list("cabcab"), "measure": ["correct"] * 3 + ["margin"] * 3, "value": range(6), "part": None}
    )
    for rows in (measures, measures.iloc[::-1], pd.concat([measures, measures.assign(value=9.0)])):
        assert findings._measure_of_each(ids, rows, "correct").tolist() == [0, 1, 2]
    np.testing.assert_array_equal(findings._measure_of_each(ids, measures.iloc[1:], "correct"), [math.nan, 1, 2])
    assert findings._measure_of_each(pd.Series(list("aab")), measures, "correct").tolist() == [1, 1, 2]
    of_parts = measures.assign(part=[0.0] + [math.nan] * 5)
    np.testing.assert_array_equal(findings._measure_of_each(ids, of_parts, "correct"), [math.nan, 1, 2])
