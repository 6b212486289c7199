"""The plan of precomputed runs asks for what it says, of settings that the studies have."""

from __future__ import annotations

from collections import Counter

import pytest

from explorer import benchmarks
from explorer.benchmarks import starter
from explorer.ontologies.as_benchmark import NAMES as ONTOLOGIES
from explorer.resources import Resources
from explorer.results.precomputed_plan import FORMAL, FUNCTIONAL, GLASSBOX, planned_runs, trained_here
from explorer.scoring import catalog, suites
from explorer.studies import STUDIES, selection, study


def test_every_planned_run_has_a_name_of_its_own_and_settings_that_its_study_has():
    planned = planned_runs()
    assert max(Counter(run.name for run in planned).values()) == 1
    assert {run.study for run in planned} <= set(STUDIES)
    assert {run.model for run in planned} == {
        *(model.id for model in catalog.EMBEDDED_MODELS),
        GLASSBOX,
        *trained_here(),
    }
    for run in planned:
        study(run.study).resolve(run.settings)
        kind = "concept" if run.benchmark in ONTOLOGIES else benchmarks.BENCHMARKS[run.benchmark].kind
        assert kind in study(run.study).kinds


def test_studies_are_done_in_order_and_those_of_the_glass_box_last():
    others = [run for run in planned_runs() if not run.model.startswith("glassbox-")]
    studies = list(dict.fromkeys(run.study for run in others))
    assert studies == ["accuracy", "priming", "perturbation", "popularity", "ontology", "memorization", "icl"]
    assert "neighbours" in others[-1].task
    assert planned_runs()[: len(others)] == others
    assert {run.study for run in planned_runs()[len(others) :]} == set(studies)


def test_all_runs_are_counted_in_the_index_that_is_built_by_itself():
    for run in planned_runs():
        if "index" in run.settings:
            assert run.settings["index"] == "glassbox", run.name


def test_each_formal_and_functional_task_has_a_thousand_instances_or_all(real_settings):
    loaded = Resources(real_settings)
    for run in planned_runs():
        if run.study not in ("perturbation", "memorization") or "neighbours" in run.task:
            continue
        if "in draws" in run.task:  # fewer items, each swapped several times
            continue
        if run.benchmark not in ("blimp", *FUNCTIONAL) or run.model != catalog.EMBEDDED_MODELS[0].id:
            continue
        whole = selection.of_suites(loaded.instances(run.benchmark).instances, run.suites)
        drawn = selection.sample_per_group(whole, int(run.settings.get("per_group", 0)), 0)
        assert len(drawn) >= min(1000, len(whole)), run.name
        assert len(drawn) < 1300


def test_the_formal_tasks_are_the_paradigms_of_their_phenomena(real_settings):
    found = Resources(real_settings).instances("blimp").instances
    for task, (_, names) in FORMAL.items():
        phenomena = {item.phenomenon for item in found if item.group in names}
        assert len(phenomena) == 1, task
        assert {item.group for item in found if item.phenomenon in phenomena} == set(names), task


@pytest.mark.parametrize("benchmark", ["go", "uberon"])
def test_concepts_are_spread_over_the_buckets(real_settings, benchmark):
    (run, _) = (run for run in planned_runs() if run.benchmark == benchmark)
    resources = Resources(real_settings)
    chosen = study("ontology").select(run.spec(resources), resources)
    assert len(chosen) >= {"go": 5000, "uberon": 2000}[benchmark]


def test_each_model_completes_items_of_every_labelled_starter_set():
    asked = Counter(run.benchmark for run in planned_runs() if run.study == "icl" and run.model not in trained_here())
    for name in starter.BENCHMARKS:
        if benchmarks.BENCHMARKS[name].kind == "labelled":
            assert asked[name] == len(catalog.EMBEDDED_MODELS) + 1  # the glass box's


def test_checkpoints_of_every_size_are_known_by_their_steps_and_tokens():
    names = trained_here()
    assert len(names) == len(set(names)) == 51
    for name in names:
        model, _, revision = name.partition("@")
        assert catalog.find(model), name
        assert not revision or int(revision.removeprefix("step")) in suites.GLASSBOX_STEPS
