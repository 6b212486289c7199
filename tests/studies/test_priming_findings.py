"""What a priming run concludes, from small tables worked out by hand."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest

from explorer.studies.priming import (
    edits as priming_edits,
)
from explorer.studies.priming import (
    findings as priming_findings,
)
from explorer.studies.priming import (
    matrices as priming_matrices,
)
from explorer.studies.priming import (
    regression as priming_regression,
)

CONDITIONS = ("matched_acceptable", "matched_unacceptable", "mismatched_acceptable", "mismatched_unacceptable")


def table(rows: list[tuple], **columns) -> pd.DataFrame:
    """A table of judgments: instance_id, grp, condition, length, correct; the rest follows."""
    made = pd.DataFrame(rows, columns=["instance_id", "grp", "condition", "length", "correct"])
    made["phenomenon"], made["setting"], made["margin"] = "syntax", "", made["correct"] - 0.5
    made["context_tokens"] = made["length"].astype(float)
    baseline = made[made["condition"] == "baseline"].set_index("instance_id")["correct"]
    made["baseline"] = made["instance_id"].map(baseline)
    made["delta"] = made["correct"] - made["baseline"]
    return made.assign(**columns)


# Suite a: right without a context, then one of two wrong; suite b: wrong without one, then right.
SMALL = table(
    [
        ("a1", "a", "baseline", 0, 1.0), ("a2", "a", "baseline", 0, 1.0), ("b1", "b", "baseline", 0, 0.0),
        ("a1", "a", "matched_acceptable", 100, 1.0), ("a2", "a", "matched_acceptable", 100, 0.0),
        ("b1", "b", "matched_acceptable", 100, 1.0),
        ("a1", "a", "matched_acceptable", 200, 1.0), ("a2", "a", "matched_acceptable", 200, 1.0),
    ]
)  # fmt: skip


def found(rows: list[dict], finding: str, group: str = "overall", **factors) -> dict:
    (row,) = [
        row
        for row in rows
        if (row["finding"], row["grp"]) == (finding, group)
        and all(row.get(name) == value for name, value in factors.items())
    ]
    return row


def test_every_condition_starts_at_the_item_without_a_context():
    plain = priming_findings.along_curves(SMALL)
    starts = plain[plain["length"] == 0]
    assert starts["condition"].tolist() == ["matched_acceptable"] * 3
    assert starts["delta"].tolist() == [0.0, 0.0, 0.0]


def test_accuracy_and_its_change_along_a_curve():
    rows = priming_findings.curves(priming_findings.along_curves(SMALL))
    at = {"condition": "matched_acceptable", "length": 100}
    # over items: 1, 0, 1 are right, the changes are 0, -1, +1; over suites (1/2 + 1) / 2, (-1/2 + 1) / 2
    assert found(rows, "priming_accuracy", **at)["value"] == pytest.approx(2 / 3)
    assert found(rows, "priming_delta", **at)["value"] == pytest.approx(0.0)
    assert found(rows, "priming_accuracy", "mean over suites", **at)["value"] == pytest.approx(0.75)
    assert found(rows, "priming_delta", "mean over suites", **at)["value"] == pytest.approx(0.25)
    assert found(rows, "priming_accuracy", "a", **at)["value"] == pytest.approx(0.5)
    assert found(rows, "priming_accuracy_by_phenomenon", "syntax", **at)["n"] == 3


def test_a_curve_that_ends_early_shows_in_the_count_and_apart():
    rows = priming_findings.curves(priming_findings.along_curves(SMALL))
    at = {"condition": "matched_acceptable", "length": 200}
    assert found(rows, "priming_accuracy", **at)["n"] == 2
    assert not [row for row in rows if row["grp"] == "b" and row["length"] == 200]
    assert (
        found(rows, "priming_accuracy", priming_findings.REACHING, condition="matched_acceptable", length=0)["n"] == 2
    )
    complete = found(rows, "priming_complete_suites", priming_findings.REACHING)
    assert json.loads(complete["detail"])["suites"] == ["a"]


def test_matched_and_mismatched_are_taken_together_item_by_item():
    rows = [("x", "a", "baseline", 0, 1.0), ("y", "b", "baseline", 0, 0.0)]
    for name, first, second in zip(CONDITIONS, (1.0, 0.0, 1.0, 0.0), (1.0, 1.0, 0.0, 0.0), strict=True):
        rows += [("x", "a", name, 100, first), ("y", "b", name, 100, second)]
    made = priming_findings.curves(priming_findings.along_curves(table(rows)))
    # acceptable: x is right after both, y after one; unacceptable: x after none, y after one
    assert found(made, "priming_accuracy", condition="acceptable", length=100)["value"] == pytest.approx(0.75)
    assert found(made, "priming_delta", condition="unacceptable", length=100)["value"] == pytest.approx(-0.25)
    assert found(made, "priming_delta", condition="unacceptable", length=100)["n"] == 2


def test_suites_are_ranked_by_their_mean_change_over_lengths():
    rows = priming_findings.ranked_suites(priming_findings.along_curves(SMALL))
    # suite a: -1/2 at 100, 0 at 200; suite b: +1 at 100 alone
    first, second = found(rows, "suite_delta", "a"), found(rows, "suite_delta", "b")
    assert first["value"] == pytest.approx(-0.25)
    assert json.loads(first["detail"]) == {"sd": pytest.approx(math.sqrt(0.125)), "longest": 0.0}
    assert second["value"] == 1.0 and json.loads(second["detail"])["sd"] is None


def test_an_effect_of_edits_tells_how_many_suites_had_no_verdict():
    own = pd.DataFrame(
        [("a", 100, 0.5), ("a", 200, -0.5), ("b", 100, -1.0), ("c", 100, math.nan)], columns=["grp", "length", "delta"]
    )
    effect = priming_edits._effect(own)
    # suite a: (1/2 - 1/2) / 2 = 0, suite b: -1; of c nothing is known
    assert (effect.value, effect.n, effect.left_out) == (-0.5, 2, 1)


def test_the_baseline_is_compared_with_each_suites_longest_context():
    plain = table(
        [
            row
            for number, (before, after) in enumerate([(0, 0), (1, 1), (1, 1), (0, 1), (1, 1)])
            for row in (
                (f"i{number}", f"s{number}", "baseline", 0, float(before)),
                (f"i{number}", f"s{number}", "matched_acceptable", 100 + number, float(after)),
            )
        ]
    )
    rows = priming_findings.baseline_against_longest(priming_findings.along_curves(plain))
    # 0 1 1 0 1 against 0 1 1 1 1: covariance 3/5 - 3/5 * 4/5 = 0.12, variances 0.24 and 0.16
    assert found(rows, "baseline_against_longest")["value"] == pytest.approx(0.12 / math.sqrt(0.24 * 0.16))
    assert found(rows, "baseline_against_longest")["n"] == 5


def test_the_regression_sees_judgments_after_a_context_with_sum_codes():
    rows = [("x", "a", "baseline", 0, 1.0), *(("x", "a", name, 100, 1.0) for name in (*CONDITIONS, "unrelated"))]
    plain = priming_findings.along_curves(table([*rows, ("x", "a", "matched_acceptable", 5, 0.0)]))
    plain.loc[plain["length"] == 5, "context_tokens"] = 0.0  # no sentence is that short
    design = priming_regression.design(plain)
    assert len(design) == 5
    assert design["log_length"].tolist() == [pytest.approx(math.log(100))] * 5
    codes = {row.condition: (row.match, row.acceptable) for row in design.itertuples()}
    assert [codes[name] for name in CONDITIONS] == [(1, 1), (1, -1), (-1, 1), (-1, -1)]


def test_the_regression_finds_the_interaction_that_was_put_in():
    rng = np.random.default_rng(5)
    rows = []
    for item in range(240):
        suite = f"s{item % 12:02d}"
        rows.append((f"i{item}", suite, "baseline", 0, 1.0))
        for name in CONDITIONS:
            sign = 1 if name.endswith("_acceptable") else -1
            weight = 0.4 if name.startswith("matched_") else 0.05
            for length in (20, 100, 500):
                odds = 1.0 + 0.3 * rng.standard_normal() + sign * weight * math.log(length)
                rows.append((f"i{item}", suite, name, length, float(rng.random() < 1 / (1 + math.exp(-odds)))))
    made = priming_regression.summarize(priming_findings.along_curves(table(rows)), items=False)
    made = [row for row in made if row["setting"] == "suite"]
    by_term = {row["grp"]: row for row in made if row["finding"] == "regression"}
    assert list(by_term) == [
        "Intercept", "log_length", "match", "acceptable", "log_length:match", "log_length:acceptable",
        "match:acceptable", "log_length:match:acceptable",
    ]  # fmt: skip
    # slopes of log length: +-0.4 matched, +-0.05 mismatched, so acceptability 0.225 and three-way 0.175
    assert by_term["log_length:acceptable"]["value"] == pytest.approx(0.225, abs=0.08)
    assert by_term["log_length:match:acceptable"]["value"] == pytest.approx(0.175, abs=0.08)
    assert by_term["log_length:match:acceptable"]["p"] < 1e-3
    (fit,) = [row for row in made if row["finding"] == "regression_fit"]
    assert fit["n"] == 240 * 4 * 3 and json.loads(fit["detail"])["levels"] == {"suite": 12}


def test_most_affected_are_the_suites_that_move_most_in_either_direction():
    rows = []
    for number, (up, down) in enumerate([(0.0, 0.0), (1.0, 0.0), (1.0, -1.0), (0.0, -1.0)]):
        name = f"s{number}"
        rows.append((name, name, "baseline", 0, 0.0))
        rows.append((name, name, "matched_acceptable", 100, 0.0))
        rows.append((name, name, "matched_acceptable", 200, up))
        rows.append((name, name, "matched_unacceptable", 200, down))
        rows.append((name, name, "mismatched_acceptable", 200, 5.0))
    ranked = priming_edits.most_affected(table(rows))
    # the longest matched contexts alone count: means of |change| are 0, 0.5, 1, 0.5
    assert ranked.to_dict() == {"s2": 1.0, "s1": 0.5, "s3": 0.5, "s0": 0.0}


def test_about_half_of_the_items_are_measured_and_which_depends_on_the_id_alone():
    drawn = [priming_edits.is_measured(f"blimp/suite/{number}") for number in range(1_000)]
    assert 430 < sum(drawn) < 570
    assert drawn == [priming_edits.is_measured(f"blimp/suite/{number}") for number in range(1_000)]


def test_the_suite_by_suite_matrix_has_targets_in_rows_and_contexts_in_columns():
    rows = [
        ("a1", "a", "baseline", 0, 0.0), ("b1", "b", "baseline", 0, 1.0),
        ("a1", "a", "suite:a", -1, 1.0), ("a1", "a", "suite:b", -1, 0.0),
        ("b1", "b", "suite:a", -1, 0.0),
    ]  # fmt: skip
    matrices, judged = priming_matrices.suite_by_suite(table(rows), ["a", "b"])
    np.testing.assert_array_equal(matrices["accuracy"], [[1.0, 0.0], [0.0, math.nan]])
    np.testing.assert_array_equal(matrices["delta"], [[1.0, 0.0], [-1.0, math.nan]])
    np.testing.assert_array_equal(judged, [[1, 1], [1, 0]])
    assert priming_matrices.suite_by_suite(SMALL, ["a", "b"])[0] == {}
