"""The named questions, asked of a small database made of real run folders."""

from __future__ import annotations

import dataclasses
import math

import pytest

from explorer.records import Instance, RunSpec
from explorer.results import queries, store
from explorer.rows.builders import finding_row, instance_row, measure_row
from explorer.runs.folder import RunFolder
from explorer.stats.estimate import Estimate
from explorer.studies.accuracy.declared import ACCURACY

NAN = math.nan
# correct and margin of each item, by run; item 3 has no verdict, item 4 is a tie
FIRST = [(1.0, 2.0), (0.0, -5.0), (1.0, 0.5), (NAN, NAN), (0.5, 0.0)]
SECOND = [(1.0, 1.0), (1.0, 3.0), (0.0, -0.5), (1.0, 1.0), (1.0, 4.0)]
SPEC = RunSpec("accuracy", 1, "toy", "pairs", settings={"preset": "natural"})


def pair(number: int, text: str = "It is.") -> Instance:
    group = "even" if number % 2 == 0 else "odd"
    return Instance(
        f"pairs/{group}/{number}", "pairs", "test", group, "pair", "sentence", options=(text, "It are."), gold=0
    )


def make_run(settings, spec, outcomes, texts=None):
    folder = RunFolder.create(settings.runs, spec)
    items = [pair(n, (texts or {}).get(n, "It is.")) for n in range(len(outcomes))]
    measures = []
    for item, (correct, margin) in zip(items, outcomes, strict=True):
        reason = "too long" if math.isnan(correct) else ""
        measures += [
            measure_row(item.id, "correct", correct, reason=reason),
            measure_row(item.id, "margin", margin, reason=reason),
        ]
    folder.write_part(
        0, len(items) - 1, {"instances": [instance_row(item, n) for n, item in enumerate(items)], "measures": measures}
    )
    known = [correct for correct, _ in outcomes if not math.isnan(correct)]
    folder.write_findings(
        [
            finding_row(ACCURACY, "overall", Estimate(sum(known) / len(known), 0.1, 0.9, n=len(known))),
            finding_row(ACCURACY, "overall", Estimate.point(0.25, len(known)), factors={"setting": "per_char"}),
            finding_row(ACCURACY, "even", Estimate(0.5, 0.1, 0.9, n=2)),
            finding_row(ACCURACY, "odd", Estimate(1.0, 0.4, 1.0, n=2)),
            finding_row(ACCURACY, "mean over groups", Estimate.point(0.75, 4)),
        ]
    )
    folder.write_progress(status="complete", total=len(items))
    return folder


@pytest.fixture
def two(settings):
    folders = [
        make_run(settings, SPEC, FIRST),
        make_run(settings, dataclasses.replace(SPEC, model="toy2"), SECOND, {0: "Other."}),
    ]
    store.ingest_runs(settings, folders)
    return store.open_store(settings), *(folder.run_id for folder in folders)


def test_an_empty_database_answers_with_no_rows(settings):
    empty = store.open_store(settings)
    assert queries.runs(empty).empty
    assert queries.headline(empty).empty
    assert queries.items(empty, "none").empty
    assert queries.two_runs(empty, "a", "b").empty


def test_items_come_in_the_order_of_the_benchmark_with_their_verdicts(two):
    items = queries.items(two[0], two[1])
    assert list(items["position"]) == [0, 1, 2, 3, 4]
    assert list(items["verdict"]) == ["right", "wrong", "right", "no verdict", "tie"]
    assert items["reason"].iloc[3] == "too long"


@pytest.mark.parametrize(
    ("verdict", "positions"), [("wrong", [1]), ("right", [0, 2]), ("ties", [4]), ("no verdict", [3])]
)
def test_items_may_be_asked_for_by_verdict(two, verdict, positions):
    assert list(queries.items(two[0], two[1], verdict=verdict)["position"]) == positions


def test_an_unknown_margin_stands_last_in_either_order(two):
    assert list(queries.items(two[0], two[1], order="largest margin")["position"]) == [1, 0, 2, 4, 3]
    assert list(queries.items(two[0], two[1], order="smallest margin")["position"]) == [4, 2, 0, 1, 3]


def test_the_headline_is_a_row_a_model_and_benchmark(two):
    rows = queries.headline(two[0])
    assert list(rows["model"]) == ["toy", "toy2"]
    assert rows["value"].iloc[0] == pytest.approx((1 + 0 + 1 + 0.5) / 4)


def test_groups_leave_out_the_rows_about_all(two):
    assert list(queries.accuracy_by_group(two[0], two[1])["grp"]) == ["odd", "even"]
    assert len(queries.overall(two[0], two[1])) == 3


def test_two_runs_are_compared_where_the_texts_are_the_same(two):
    both = queries.two_runs(*two)
    assert dict(zip(both["position"], both["outcome"], strict=True)) == {
        1: "only the second",
        2: "only the first",
        3: "no verdict",
        4: "a tie",
    }
    assert queries.differing_texts(*two) == 1


def test_runs_of_a_model_put_the_complete_one_first(two):
    assert list(queries.runs_of(two[0], "accuracy", "toy", "pairs")["run_id"]) == [two[1]]
    assert queries.runs_of(two[0], "accuracy", "toy", "blimp").empty


def test_a_stored_instance_comes_back_as_the_run_saw_it(two):
    found = queries.stored_instance(two[0], two[1], "pairs/even/0")
    assert '"It is."' in found["payload"].iloc[0]
    assert queries.instance_scores(two[0], two[1], "pairs/even/0").empty
    assert set(queries.instance_measures(two[0], two[1], "pairs/even/0")["measure"]) == {"correct", "margin"}
