"""What memorization runs conclude, from tables worked by hand."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest

from explorer.errors import RunError
from explorer.popularity.tasks import TASKS
from explorer.records import Instance, RunSpec
from explorer.studies import published
from explorer.studies.memorization import (
    findings as memorization_findings,
)
from explorer.studies.memorization import (
    published as memorization_published,
)
from explorer.studies.memorization import (
    rows as memorization_rows,
)
from explorer.studies.memorization import (
    study as memorization_study,
)
from explorer.studies.memorization.findings import split_score


def frame(n=40, **columns) -> pd.DataFrame:
    rng = np.random.default_rng(4)
    right, wrong = rng.normal(-50, 8, (2, n))
    made = {
        "grp": "g",
        "kind": "choice",
        "text_hash": [str(i) for i in range(n)],
        "correct": (right - wrong + rng.normal(0, 8, n) > 0).astype(float),
        "tde_likelihood/correct": right,
        "tde_likelihood/wrong": wrong,
    }
    return pd.DataFrame({**made, **columns})


def found(table: pd.DataFrame, group: str = "copa") -> dict[tuple[str, str], dict]:
    rows = memorization_findings.summarize_attack(group, "tde_likelihood", table, 0)
    assert {row["setting"] for row in rows} == {"tde_likelihood"}
    return {(row["finding"], row.get("condition") or ""): row for row in rows}


def test_the_split_divides_by_the_size_of_the_correct_options_score():
    right, wrong = np.array([-10.0, 4.0, 1e-7, np.nan]), np.array([-20.0, 5.0, 1.0, 1.0])
    # (-10 + 20) / 10, (4 - 5) / 4; the third is too near to zero
    assert split_score(right, wrong, "corrected") == pytest.approx([1.0, -0.25, np.nan, np.nan], nan_ok=True)
    # as published the sign of a log-likelihood flips: (-10 + 20) / -10
    assert split_score(right, wrong, "published") == pytest.approx([-1.0, -0.25, np.nan, np.nan], nan_ok=True)
    assert split_score(right, wrong, "plain")[:3] == pytest.approx([10.0, -1.0, 1e-7 - 1.0])


def test_a_likelihood_that_decides_is_found_by_every_view():
    rows = found(frame(200))
    assert rows["classifier_f1", "logistic"]["value"] > rows["classifier_f1", "majority"]["value"]
    assert rows["classifier_auc", "logistic"]["low"] > 0.5
    assert rows["classifier_coefficient", "correct"]["value"] > 0 > rows["classifier_coefficient", "wrong"]["value"]
    assert json.loads(rows["classifier_coefficient", "correct"]["detail"])["stars"] == "***"
    assert rows["memorization_difference", ""]["value"] > 0 > rows["memorization_published_difference", ""]["value"]
    assert rows["memorization_slope", ""]["value"] > 0
    roc = json.loads(rows["classifier_auc", "logistic"]["detail"])["roc"]
    assert (roc["false_positive"][0], roc["true_positive"][-1]) == (0.0, 1.0)
    assert len(roc["false_positive"]) == len(roc["true_positive"]) <= 200


def test_the_majority_has_p_over_one_plus_p():
    table = frame(20, correct=[1.0] * 15 + [0.0] * 5)
    assert found(table)["classifier_f1", "majority"]["value"] == pytest.approx(0.75 / 1.75)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"correct": 1.0}, "every outcome is right"),
        ({"tde_likelihood/wrong": -3.0}, "constant feature: wrong"),
        ({"tde_likelihood/wrong": frame()["tde_likelihood/correct"]}, "identical features: correct, wrong"),
        (
            {"tde_likelihood/correct": np.arange(40.0), "correct": (np.arange(40) > 20).astype(float)},
            "complete separation by correct, wrong",
        ),
    ],
)
def test_what_cannot_be_fitted_is_named_and_has_no_stars(changes, reason):
    row = found(frame(**changes))["classifier_coefficient", "correct"]
    assert math.isnan(row["value"]) and row["reason"] == reason
    assert json.loads(row["detail"])["stars"] == ""


def test_one_class_and_no_scores_stop_nothing():
    rows = found(frame(correct=0.0))
    assert math.isnan(rows["classifier_f1", "svm"]["value"])
    assert rows["classifier_f1", "svm"]["reason"] == "every outcome is wrong"
    assert found_of_nothing() == []
    assert [
        row["finding"]
        for row in memorization_findings.summarize_attack("copa", "tde_likelihood", frame(correct=np.nan), 0)
    ] == ["memorization_score"] * 2


def found_of_nothing():
    gaps = frame(**{"tde_likelihood/correct": np.nan, "tde_likelihood/wrong": np.nan})
    return memorization_findings.summarize_attack("copa", "tde_likelihood", gaps, 0)


def test_scores_that_divide_nothing_are_named():
    rows = found(
        frame(**{"tde_likelihood/correct": np.where(np.arange(40) < 4, 0.0, frame()["tde_likelihood/correct"])})
    )
    half = rows["memorization_half", "low"]
    assert half["left_out"] == 4 and half["reason"].startswith("4 scores of the correct option are too near to zero")
    assert rows["memorization_plain_half", "low"]["left_out"] == 0
    none = found(frame(**{"tde_likelihood/correct": 0.0}))["memorization_difference", ""]
    assert none["reason"] == "40 scores of the correct option are too near to zero to divide by"


def test_phenomena_have_no_classifier_but_halves():
    rows = found(frame(), "phenomenon: island_effects")
    assert not any(finding in ("classifier_f1", "classifier_auc") for finding, _ in rows)
    assert ("memorization_half", "low") in rows


def test_passages_are_split_by_their_own_score():
    table = (
        frame().rename(columns={"tde_likelihood/correct": "tde_likelihood/text"}).drop(columns="tde_likelihood/wrong")
    )
    table["kind"] = "cloze"
    rows = found(table, "lambada")
    assert ("memorization_half", "low") in rows and ("memorization_plain_half", "low") not in rows
    median = json.loads(rows["memorization_half", "low"]["detail"])["median"]
    assert median == pytest.approx(np.median(table["tde_likelihood/text"]))


def test_holm_goes_over_attacks_and_tasks_together_and_leaves_gaps_out():
    def row(group, p):
        return {"finding": "classifier_coefficient", "grp": group, "p": p, "detail": json.dumps({"stars": ""})}

    rows = [row("copa", 0.01), row("piqa", 0.03), row("piqa", math.nan), row("overall", 0.04)]
    memorization_findings.adjust_coefficients(rows)
    held = [json.loads(one["detail"]) for one in rows]
    # 0.01 * 2, then 0.03 * 1; the overall row is a family of its own
    assert [one["p_holm"] for one in held] == [pytest.approx(0.02), pytest.approx(0.03), None, pytest.approx(0.04)]
    assert [one["tests"] for one in held] == [2, 2, 2, 1]


class Variants:
    """Stands for a run folder: rows of `variants`."""

    def __init__(self, *methods):
        self.rows = [
            {
                "instance_id": f"x/{i}",
                "condition": "neighbour",
                "setting": method,
                "accepted": True,
                "edit": json.dumps({"weights": "sha256:1"}),
            }
            for i, method in enumerate(methods)
        ]

    def read(self, table, columns):
        return pd.DataFrame(self.rows, columns=columns)


def test_neighbours_of_two_proposers_are_not_mixed():
    spec = RunSpec("memorization", 1, "m", "b", settings={"neighbours": 3, "neighbours_cap": 200})
    with pytest.raises(RunError, match="one and other"):
        memorization_findings.neighbors_by(spec, Variants("one", "other"), pd.DataFrame({"x": range(2)}))
    row = memorization_findings.neighbors_by(spec, Variants("one", "one"), pd.DataFrame({"x": range(5)}))
    assert (row["value"], row["left_out"], row["setting"]) == (2.0, 3, "one")
    assert json.loads(row["detail"])["weights"] == "sha256:1"


def test_the_cap_draws_from_each_task_by_seed_and_id():
    instances = [
        Instance(f"piqa/{i}", "piqa", "dev", "g", "choice", "piqa", options=("a", "b"), gold=0) for i in range(30)
    ] + [Instance(f"copa/{i}", "copa", "dev", "g", "choice", "copa", options=("a", "b"), gold=0) for i in range(3)]
    drawn = memorization_study.sample_ids(instances, 5, 0)
    assert sum(one.startswith("piqa") for one in drawn) == 5 and sum(one.startswith("copa") for one in drawn) == 3
    assert (
        drawn
        == memorization_study.sample_ids(list(reversed(instances)), 5, 0)
        != memorization_study.sample_ids(instances, 5, 1)
    )
    assert len(memorization_study.sample_ids(instances, 0, 0)) == 33


STORED = {
    "instances": [
        ("x/g/0", "x", "g", "", "", "choice", 1, "a"),
        ("x/g/1", "x", "g", "", "", "choice", 1, "b"),
        ("x/g/2", "x", "g", "", "", "choice", None, "c"),
        ("x/g/3", "x", "g", "", "", "regions", None, "d"),
    ],
    "measures": [
        ("x/g/0", -1, "correct", 1.0, None),
        ("x/g/0", 0, "mia_loss", 2.0, None),
        ("x/g/0", 1, "mia_loss", 3.0, None),
        ("x/g/0", 2, "mia_loss", 5.0, None),
        ("x/g/1", 0, "mia_loss", 2.0, None),
        ("x/g/1", 1, "mia_loss", 3.0, None),
        ("x/g/1", 2, "mia_loss", math.nan, None),
        ("x/g/2", 0, "mia_loss", 2.0, None),
        ("x/g/2", 1, "mia_loss", 4.0, None),
        ("x/g/3", 0, "mia_loss", 6.0, None),
        ("x/g/3", 1, "mia_loss", 8.0, None),
        ("x/g/3", -1, "formula", 1.0, 0),
    ],
}
COLUMNS = {
    "instances": ["instance_id", "benchmark", "grp", "phenomenon", "field", "kind", "gold", "text_hash"],
    "measures": ["instance_id", "option", "measure", "value", "part"],
}


class Stored:
    """Stands for a run folder: two instances of three options, one without a right one, one of two conditions."""

    def read(self, table, columns):
        return pd.DataFrame(STORED[table], columns=COLUMNS[table])[columns]


def test_wrong_options_are_averaged_and_texts_without_a_right_one_stand_for_themselves():
    table = memorization_rows.scored_instances(Stored())
    assert table["correct"].tolist()[:1] == [1.0]
    assert table["mia_loss/correct"].tolist()[:2] == [3.0, 3.0]
    assert table["mia_loss/wrong"].tolist()[0] == 3.5 and math.isnan(table["mia_loss/wrong"].tolist()[1])
    assert table["mia_loss/text"].tolist()[2:] == [3.0, 7.0]
    assert memorization_rows.sides_of(table, "mia_loss") == ("correct", "wrong", "text")
    assert memorization_rows.sides_of(table, "zlib") == ()


# Published figures


def test_the_printed_baselines_are_those_of_olmo_7bs_accuracy():
    accuracies = {
        row.subject: row.printed / 100
        for row in published.figures()
        if row.number in ("C", "D") and row.model == "OLMo 7B" and row.condition == "original"
    }
    baselines = [
        row for row in memorization_published.figures() if row.condition == "baseline" and row.metric == "f1_macro"
    ]
    assert len(baselines) == 4 * 8 + 4 * 4  # four models on eight tasks, and on the SVM's four
    for row in baselines:
        p = accuracies[row.subject]
        assert row.printed == pytest.approx(100 * p / (1 + p), abs=0.011), row


def test_the_printed_halves_have_olmo_7bs_accuracy_as_their_mean():
    accuracies = {
        row.subject: row.printed
        for row in published.figures()
        if row.number in ("C", "D") and row.model == "OLMo 7B" and row.condition == "original"
    }
    halves: dict[tuple, list[float]] = {}
    for row in memorization_published.figures():
        if row.metric == "accuracy":
            halves.setdefault((row.number, row.model, row.subject, row.condition.split()[0]), []).append(row.printed)
    for (_, _, task, _), (low, high) in halves.items():
        assert (low + high) / 2 == pytest.approx(accuracies[task], abs=0.02)


def test_only_olmo_7b_has_printed_figures_beside_it():
    of = memorization_published.printed_classifier
    assert of("allenai/OLMo-7B-hf", "piqa", "mia_neighbours", "svm", "auc").value == 53.12
    assert of("allenai/OLMo-7B-hf", "piqa", "mia_neighbours", "logistic", "auc").value == 56.99
    assert of("EleutherAI/pythia-6.9b", "piqa", "mia_neighbours", "svm", "auc") is None
    assert of("allenai/OLMo-7B-hf", "anaphor_agreement", "tde_likelihood", "svm", "auc") is None  # not printed
    assert memorization_published.printed_half("allenai/OLMo-7B-hf", "copa", "tde_likelihood", "low").value == 82.0
    assert all(row.is_slip == (row.model != "OLMo 7B") for row in memorization_published.figures("piqa"))
    assert set(memorization_published.PRINTED) <= set(memorization_findings.ATTACKS)
    assert {row.subject for row in memorization_published.figures()} == set(TASKS)
