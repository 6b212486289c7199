"""Measures across studies, asked of a small database made of real run folders."""

from __future__ import annotations

import dataclasses
import math

import pytest

from explorer import settings as settings_module
from explorer.records import Instance, RunSpec
from explorer.results import queries_dossier, queries_findings, queries_replication, store
from explorer.results.measures import MEASURES
from explorer.rows.builders import finding_row, instance_row, measure_row
from explorer.runs.folder import RunFolder
from explorer.stats.estimate import Estimate
from explorer.studies.accuracy.declared import ACCURACY

SPEC = RunSpec("accuracy", 1, "toy", "pairs", settings={"preset": "natural"})


def pair(number: int, text: str = "It is.") -> Instance:
    return Instance(f"pairs/g/{number}", "pairs", "test", "g", "pair", "sentence", options=(text, "It are."), gold=0)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A store, open for reading, with runs of several studies on four pairs; popularity saw another text of pair 3."""
    settings = settings_module.read(cache=tmp_path_factory.mktemp("made") / "cache")
    items = [pair(n) for n in range(4)]
    others = [*items[:3], pair(3, "Other.")]

    def keep(study, seen, rows, findings=()):
        folder = RunFolder.create(settings.runs, dataclasses.replace(SPEC, study=study))
        tables = {"instances": [instance_row(one, n) for n, one in enumerate(seen)], "measures": rows}
        folder.write_part(0, len(seen) - 1, tables)
        folder.write_findings(list(findings))
        folder.write_progress(status="complete", total=len(seen))
        store.ingest_runs(settings, [folder])
        return folder.run_id

    margin = [measure_row(one.id, "margin", float(n), reason="") for n, one in enumerate(items[:3])]
    correct = [measure_row(items[0].id, "correct", 1.0, reason="undecided at this precision")]
    gap = [measure_row(items[3].id, "margin", math.nan, reason="too long")]
    ips = [measure_row(one.id, "ips", 5.0 + n, option=option) for n, one in enumerate(others) for option in (0, 1)]
    swapped = {"condition": "perturbed", "setting": "NV"}
    changes = [
        row
        for one in items
        for row in (
            measure_row(one.id, "margin", 3.0, factors={"condition": "original"}),
            measure_row(one.id, "margin", 1.0, factors=swapped),
            measure_row(one.id, "margin", 9.0, factors={**swapped, "setting": "N"}),
        )
    ]
    primed = [
        measure_row(items[0].id, "margin", value, factors={"condition": condition, "length": length})
        for condition, length, value in (("baseline", 0, 1.0), ("unrelated", 100, 2.0), ("unrelated", 200, 5.0))
    ]
    attacks = [measure_row(items[0].id, "mia_loss", value, option=option) for option, value in ((0, 2.0), (1, 3.5))]
    shares = [
        finding_row(ACCURACY, "overall", Estimate(0.5, 0.2, 0.8, n=4)),
        finding_row(ACCURACY, "overall", Estimate.point(0.6, 4), factors={"setting": "sum"}),
    ]
    runs = {
        "accuracy": keep("accuracy", items, margin + correct + gap, shares),
        "popularity": keep("popularity", others, ips),
        "perturbation": keep("perturbation", items, changes),
        "priming": keep("priming", items, primed),
        "memorization": keep("memorization", items, attacks),
    }
    return store.open_store(settings), runs


def ask(made, *wanted):
    opened, runs = made
    found = queries_findings.table(opened, [(name, runs[study]) for name, study in wanted])
    return found.set_index("instance_id")


def test_measures_of_several_runs_stand_side_by_side_and_gaps_stay_gaps(made):
    found = ask(made, ("margin", "accuracy"), ("perturbed_change", "perturbation"))
    assert list(found["margin"].head(3)) == [0, 1, 2] and math.isnan(found["margin"].iloc[3])
    assert set(found["perturbed_change"]) == {-2.0}
    assert list(found.index) == [f"pairs/g/{n}" for n in range(4)]


def test_a_value_of_another_text_is_left_out_and_counted(made):
    found = ask(made, ("margin", "accuracy"), ("ips", "popularity"))
    assert list(found["ips"].head(3)) == [5, 6, 7] and math.isnan(found["ips"].iloc[3])
    assert found["other_text"].sum() == 1


def test_priming_is_the_change_to_the_longest_context(made):
    found = ask(made, ("primed_unrelated", "priming"))
    assert found.loc["pairs/g/0", "primed_unrelated"] == 4


def test_an_attack_is_the_right_option_less_the_others(made):
    assert ask(made, ("mia_loss", "memorization")).loc["pairs/g/0", "mia_loss"] == -1.5


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_can_be_asked_of_every_run(made, name):
    opened, runs = made
    for run_id in runs.values():
        assert len(queries_findings.size(opened, name, run_id)) == 1
        queries_findings.table(opened, [(name, run_id)])


def test_undecided_verdicts_are_counted(made):
    opened, runs = made
    found = queries_findings.undecided(opened).set_index("run_id")
    assert list(found.loc[runs["accuracy"]]) == [1, 1]


def test_the_dossier_has_every_run_and_number_of_an_instance(made):
    opened, runs = made
    assert set(queries_dossier.runs(opened, "pairs/g/0")["run_id"]) == set(runs.values())
    assert len(queries_dossier.measures(opened, "pairs/g/0")) == 1 + 1 + 2 + 3 + 3 + 2
    assert list(queries_dossier.stored(opened, "pairs")["runs"]) == [5, 5, 5, 5]
    assert queries_dossier.swaps(opened, "pairs/g/0").empty and queries_dossier.answers(opened, "x").empty


def test_the_board_is_told_gaps_as_empty_text(made):
    found = queries_replication.findings(made[0], ["accuracy"])
    assert set(found["setting"]) == {"", "sum"} and set(found["k"]) == {-1} and set(found["preset"]) == {"natural"}
