"""The paper's figures: all there, consistent with each other, slips named."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from explorer.popularity.tasks import TASKS
from explorer.studies import published

FIGURES = published.figures()


def test_every_table_is_there_with_all_its_cells():
    # 4 models x 4 tasks x 3 rows, and LAMBADA's perplexity; 8 tasks x 4 models x 2; 2 x 2 rows and the original
    assert Counter(row.number for row in FIGURES) == {
        "1": 60, "2": 48, "3": 64, "4": 32, "B": 8, "C": 80, "D": 80, "K": 96,
        "E": 80, "F": 80, "G": 80, "H": 80, "I": 80, "J": 80,
    }  # fmt: skip
    assert {row.subject for row in FIGURES} == set(TASKS)


def test_printed_changes_follow_from_the_printed_figures_but_for_one_slip():
    shown = {(row.number, row.model, row.subject, row.condition, row.metric): row for row in FIGURES}
    strange = set()
    for (table, model, task, condition, metric), row in shown.items():
        if metric.endswith("_change"):
            what = metric.removesuffix("_change")
            before = shown[table, model, task, "original", what].printed
            after = shown[table, model, task, condition, what].printed
            if abs(100 * (after - before) / before - row.printed) > 0.02:  # accuracies are rounded
                strange.add((table, task))
    assert strange == {("2", "anaphor_agreement")}


@pytest.mark.parametrize(("table", "beside"), [("1", "C"), ("2", "D")])
def test_originals_are_the_same_in_both_tables_once_the_slip_is_mended(table, beside):
    for row in FIGURES:
        if row.number == table and row.condition == "original" and row.metric == "accuracy":
            other = next(
                one.value
                for one in FIGURES
                if one.number == beside
                and one.condition == "original"
                and (one.model, one.subject) == (row.model, row.subject)
            )
            assert row.value == other


def test_perplexities_are_divided_by_the_hundred_too_much():
    figure = published.printed_for("EleutherAI/pythia-6.9b", "lambada", "original", "perplexity")
    assert figure is not None
    assert (figure.value, figure.printed) == (pytest.approx(4.44), 444.0)
    assert "100 times" in figure.remark
    for row in FIGURES:
        if row.metric == "perplexity":
            assert row.value == pytest.approx(row.printed / 100), row


def test_only_the_papers_own_models_have_a_figure_beside_them():
    assert published.printed_for("EleutherAI/pythia-6.9b", "piqa", "NV", "accuracy").value == 62.57
    assert published.printed_for("eleutherai/pythia-6.9b@main", "piqa", "NV", "accuracy").value == 62.57
    assert published.printed_for("EleutherAI/pythia-6.9b@step1000", "piqa", "NV", "accuracy") is None
    assert published.printed_for("gemma-3-270m", "piqa", "NV", "accuracy") is None


def test_popularity_has_its_standard_deviation():
    figure = published.printed_for("allenai/OLMo-1B-hf", "copa", "original", "ips")
    assert (figure.value, figure.sd, figure.number) == (8.34, 1.5, "3")
    assert all(math.isnan(row.sd) for row in FIGURES if row.metric != "ips")


def test_tables_on_memorization_name_whose_labels_they_carry():
    for row in FIGURES:
        if row.number in "4EFGHIJK":
            assert ("labels of OLMo-7B" in row.remark) == row.is_slip == (row.model != "OLMo 7B")
