"""Verdicts worked out by hand for each kind of instance."""

from __future__ import annotations

import dataclasses
import math

import pandas as pd
import pytest

from explorer import benchmarks, prompts
from explorer.records import Condition, Instance, Request, Score
from explorer.scoring.policy import PRESETS
from explorer.studies import verdicts
from explorer.studies.accuracy import findings as accuracy_findings
from explorer.studies.accuracy import study as accuracy_study

NATURAL = PRESETS["natural"]


def scored(request: Request, *logprobs: float, greedy: bool = False, reason: str = "", ids=()) -> Score:
    text = request.continuation.strip()
    return Score(
        request,
        tokens=tuple("x" for _ in logprobs),
        token_ids=tuple(ids) or tuple(hash(text) % 997 + i for i in range(len(logprobs))),
        logprobs=logprobs,
        chars=len(text),
        bytes=len(text.encode()),
        greedy=greedy,
        straddles=False,
        reason=reason,
    )


def values(rows: list[dict]) -> dict:
    return {(row["measure"], row.get("part")): row["value"] for row in rows}


PAIR = Instance("t/g/1", "t", "all", "g", "pair", "sentence", options=("They sing.", "They sings."), gold=0)


def test_a_pair_is_right_when_the_acceptable_sentence_is_likelier():
    good, bad = prompts.requests(PAIR)
    rows = verdicts.judge(PAIR, [scored(good, -1.0, -2.0), scored(bad, -1.0, -2.5)], NATURAL, "float32")
    # margin = (-1 - 2) - (-1 - 2.5) = 0.5 nats
    assert values(rows) == {("correct", None): 1.0, ("margin", None): pytest.approx(0.5), ("chosen", None): 0.0}


def test_a_tie_is_worth_a_half_and_chooses_nothing():
    good, bad = prompts.requests(PAIR)
    rows = verdicts.judge(PAIR, [scored(good, -1.0, -2.0), scored(bad, -1.0, -2.0)], NATURAL, "float32")
    assert values(rows) == {("correct", None): 0.5, ("margin", None): 0.0}
    assert {row["reason"] for row in rows} == {"tie"}


def test_a_close_pair_in_bfloat16_is_flagged_but_decided():
    good, bad = prompts.requests(PAIR)
    rows = verdicts.judge(PAIR, [scored(good, -1.0, -2.0), scored(bad, -1.0, -2.001)], NATURAL, "bfloat16")
    assert values(rows)["correct", None] == 1.0
    assert rows[0]["reason"] == "undecided at this precision"


def test_an_option_without_a_score_leaves_the_verdict_open_with_its_reason():
    good, bad = prompts.requests(PAIR)
    rows = verdicts.judge(PAIR, [scored(good, -1.0), scored(bad, reason="too long")], NATURAL, "float32")
    assert math.isnan(values(rows)["correct", None])
    assert rows[0]["reason"] == "too long"


def test_a_cloze_is_right_when_every_target_token_is_the_likeliest():
    cloze = Instance("t/g/2", "t", "all", "g", "cloze", "cloze", context="He fed the", options=("cat",), gold=0)
    (request,) = prompts.requests(cloze)
    assert request.continuation == " cat"
    rows = verdicts.judge(cloze, [scored(request, -0.7, greedy=True)], NATURAL, "float32")
    assert values(rows) == {("correct", None): 1.0, ("logprob", None): pytest.approx(-0.7)}


SUITE = Instance(
    "t/s/1", "t", "all", "s", "regions", "syntaxgym",
    conditions=(Condition("match", ("The dogs", "", "bark")), Condition("mismatch", ("The dogs", "", "barks"))),
    extra={"formulas": ("(3;%match%) < (3;%mismatch%)", "(2;%match%) = (2;%mismatch%)")},
)  # fmt: skip


def test_a_suite_item_is_right_when_all_its_inequalities_hold_and_equality_stands_apart():
    scores = []
    for request in prompts.requests(SUITE):
        surprisal = {"match": 1.0, "mismatch": 3.0}[str(request.factors["condition"])]
        scores.append(scored(request, -surprisal))
    found = values(verdicts.judge(SUITE, scores, NATURAL, "float32"))
    # surprisal of region 3 is 1 against 3; region 2 is empty in both, 0 = 0
    assert found == {("correct", None): 1.0, ("formula", 0): 1.0, ("formula_equal", 1): 1.0}


def stored(*rows: tuple) -> pd.DataFrame:
    """Stored scores: instance, option, log-probability and tokens."""
    frame = pd.DataFrame(rows, columns=["instance_id", "option", "logprob", "scored"])
    own = [f"{name} {option}" for name, option in zip(frame["instance_id"], frame["option"], strict=True)]
    return frame.assign(role="option", chars=10, bytes=20, context="", continuation=own)


def test_other_reductions_are_recomputed_from_stored_sums():
    instances = pd.DataFrame({"instance_id": ["a", "b", "c"], "gold": [0, 1, 0], "options": 2})
    asked = stored(
        ("a", 0, -4.0, 4), ("a", 1, -3.0, 2), ("b", 0, -2.0, 1), ("b", 1, -2.0, 2), ("c", 0, math.nan, 1),
        ("c", 1, -1.0, 1),
    )  # fmt: skip
    # sums: a loses (-4 < -3), b ties; per token: a wins (-1 > -1.5), b wins (-1 > -2); c has no score
    assert accuracy_findings.chosen_is_gold(instances, asked, "sum").tolist()[:2] == [0.0, 0.5]
    assert accuracy_findings.chosen_is_gold(instances, asked, "mean_token").tolist()[:2] == [1.0, 1.0]
    assert math.isnan(accuracy_findings.chosen_is_gold(instances, asked, "sum")[2])


def test_a_bad_sentence_beyond_the_window_is_not_beaten_under_any_reduction():
    names = [f"pair {n}" for n in range(8)]
    instances = pd.DataFrame({"instance_id": names, "gold": 0, "options": 2})
    rows = [(name, 0, -4.0, 4) for name in names]
    # of the others four are too long: two with no number, one of log probability -inf, one not in the table
    rows += [
        (name, 1, value, 4) for name, value in zip(names, [-5.0] * 4 + [math.nan, math.nan, -math.inf], strict=False)
    ]
    for reduction in accuracy_findings.REDUCTIONS:
        found = accuracy_findings.chosen_is_gold(instances, stored(*rows), reduction)
        assert found.tolist()[:4] == [1.0] * 4
        assert pd.isna(found[4:]).all() and len(found) == 8


def test_a_difference_that_is_a_tie_in_the_verdict_is_one_in_the_row_of_its_reduction():
    good, bad = prompts.requests(PAIR)
    # two tokens: 2e-5 nats do not tell float32 sums apart
    near = [scored(good, -1.0, -2.0), scored(bad, -1.0, -2.0 - 1.5e-5)]
    assert values(verdicts.judge(PAIR, near, NATURAL, "float32"))["correct", None] == 0.5
    instances = pd.DataFrame({"instance_id": ["a"], "gold": [0], "options": 2})
    asked = stored(("a", 0, -3.0, 2), ("a", 1, -3.0 - 1.5e-5, 2))
    assert accuracy_findings.chosen_is_gold(instances, asked, "sum").tolist() == [0.5]
    assert accuracy_findings.chosen_is_gold(instances, asked, "sum", "first").tolist() == [1.0]


def test_pairs_of_blimp_that_are_one_sentence_twice_are_ties_under_every_reduction(real_settings):
    same = [one for one in benchmarks.load("blimp", real_settings).instances if len(set(one.options)) == 1]
    assert len(same) == 7
    for one in same:
        # whatever half precision made of the two
        scores = [scored(request, -3.0 - 0.01 * request.option) for request in prompts.requests(one)]
        for reduction in accuracy_findings.REDUCTIONS:
            policy = dataclasses.replace(NATURAL, normalization=reduction)
            assert values(verdicts.judge(one, scores, policy, "bfloat16"))["correct", None] == 0.5


def test_an_option_that_was_not_asked_leaves_the_verdict_open():
    choice = Instance("t/g/3", "t", "all", "g", "choice", "choice", "It is", "", ("so", "no", "thus"), 0)
    first, second, _ = prompts.requests(choice)
    rows = verdicts.judge(choice, [scored(first, -1.0), scored(second, -2.0)], NATURAL, "float32")
    assert math.isnan(values(rows)["correct", None]) and rows[0]["reason"] == "an option has no score"
    rows = verdicts.judge(choice, [scored(first, -2.0), scored(second, -1.0)], NATURAL, "float32")
    assert values(rows)["correct", None] == 0.0 and math.isnan(values(rows)["margin", None])


@pytest.mark.parametrize(
    ("formulas", "first", "second"),
    [
        (["(1;%match%) < (3;%match%)"], 1.0, 1.0),  # says nothing of the region without a score
        (["(3;%match%) < (3;%mismatch%)"], None, None),
        (["(3;%match%) < (3;%mismatch%)", "(1;%match%) > (3;%match%)"], 0.0, None),  # fails by the other
        (["((3;%match%) < (3;%mismatch%)) | ((1;%match%) < (3;%match%))"], 1.0, 1.0),
        (["((3;%match%) < (3;%mismatch%)) & ((1;%match%) > (3;%match%))"], 0.0, 0.0),
    ],
)
def test_a_region_without_a_score_leaves_open_what_hangs_on_it_alone(formulas, first, second):
    item = dataclasses.replace(SUITE, extra={"formulas": formulas})
    scores = [
        scored(one, reason="too long") if one.factors["condition"] == "mismatch" else scored(one, -float(n + 1))
        for n, one in enumerate(prompts.requests(item))
    ]
    found = values(verdicts.judge(item, scores, NATURAL, "float32"))
    for key, expected in ((("correct", None), first), (("formula", 0), second)):
        assert math.isnan(found[key]) if expected is None else found[key] == expected


def test_shares_are_given_by_group_over_all_and_as_the_mean_of_groups():
    instances = pd.DataFrame({"grp": list("aaab"), "phenomenon": [""] * 4, "kind": ["choice"] * 4})
    rows = accuracy_findings.shares(instances, pd.array([1.0, 1.0, 0.0, 0.0]).to_numpy(dtype=float))
    found = {(row["finding"], row["grp"]): row["value"] for row in rows}
    # over items 2 / 4, over groups (2/3 + 0) / 2
    assert found["accuracy", "overall"] == 0.5
    assert found["accuracy", "mean over groups"] == pytest.approx(1 / 3)
    assert found["accuracy", "a"] == pytest.approx(2 / 3)


PMI = dataclasses.replace(NATURAL, normalization="pmi")
CHOICE = Instance(
    "t/g/2", "t", "all", "g", "choice", "choice", context="It rained, so", options=("they ran.", "it sat."), gold=0
)


def test_what_a_context_adds_is_compared_where_there_is_one():
    requests = accuracy_study.build_requests(CHOICE, PMI)
    assert [(request.role, bool(request.context)) for request in requests] == [
        ("option", True), ("option", True), ("unconditional", False), ("unconditional", False),
    ]  # fmt: skip
    # -1 - -4 = 3 nats for the first, -2 - -3 = 1 for the second
    numbers = dict(zip([(r.role, r.option) for r in requests], (-1.0, -2.0, -4.0, -3.0), strict=True))
    judged = [scored(request, numbers[request.role, request.option]) for request in requests]
    assert values(verdicts.judge_all([(CHOICE, judged)], PMI, "float32").table().to_pylist())["margin", None] == 2


def test_options_without_a_context_have_no_verdict_by_what_a_context_adds():
    requests = accuracy_study.build_requests(PAIR, PMI)
    judged = [scored(request, -1.0 - request.option) for request in requests]
    for rows in (
        verdicts.judge(PAIR, judged, PMI, "float32"),
        verdicts.judge_all([(PAIR, judged)], PMI, "float32").table().to_pylist(),
    ):
        assert all(row["value"] is None or math.isnan(row["value"]) for row in rows)
        assert {row["reason"] for row in rows} == {verdicts.NO_CONTEXT}


@pytest.mark.parametrize("benchmark", ["starter_cloze", "syntaxgym"])
def test_what_a_context_adds_changes_nothing_of_what_compares_no_options(benchmark):
    if benchmark == "syntaxgym":
        conditions = tuple(Condition(name, ("The king", "sees", "", "him.")) for name in ("plaus", "implaus"))
        item = Instance("s/g/1", "s", "all", "g", "regions", "syntaxgym", conditions=conditions,
                        extra={"formulas": ["(2;%plaus%) < (2;%implaus%)"]})  # fmt: skip
    else:
        item = Instance("c/g/1", "c", "all", "g", "cloze", "cloze", context="The cat sat on the", options=(" mat",))
    assert accuracy_study.build_requests(item, PMI) == accuracy_study.build_requests(item, NATURAL)
