"""Sweeps in the app: listed with their runs, stopped and deleted together, begun from the dialog that starts runs."""

from __future__ import annotations

import html
import shutil
from pathlib import Path

import pytest

from explorer import settings as settings_module
from explorer.records import RunSpec
from explorer.runs import sweep as sweeps
from explorer.runs.folder import RunFolder, all_folders
from explorer.ui import run_several

NAME = "three-steps"


@pytest.fixture
def begun(finished: tuple[Path, str], tmp_path: Path) -> Path:
    """A cache with a sweep of three checkpoints: the first complete, the second going on, the third not begun."""
    cache = Path(shutil.copytree(finished[0], tmp_path / "cache"))
    settings = settings_module.read(cache=cache)
    first = RunFolder.find(settings.runs, finished[1]).spec
    models = [first.model, "glassbox-s@step1", "glassbox-s@step2"]
    planned = sweeps.plan("accuracy", models, ["starter_pairs"], [0], request={"limit": 4}, name=NAME)
    second = RunFolder.create(settings.runs, RunSpec("accuracy", 1, models[1], "starter_pairs"))
    second.write_progress(status="queued", total=4)
    ids = [finished[1], second.run_id, ""]
    members = tuple(
        sweeps.Member(member.model, member.benchmark, member.seed, run_id)
        for member, run_id in zip(planned.members, ids, strict=True)
    )
    sweeps.store_sweep(settings, sweeps.Sweep(NAME, "accuracy", members, planned.request))
    return cache


def words_of(app) -> str:
    return html.unescape(" ".join(block.proto.body for block in app.html if "<style>" not in block.proto.body))


def test_without_a_sweep_the_page_says_how_to_begin_one(open_page, cache):
    app = open_page("runs", cache, view="Sweeps")
    assert not app.exception and "No sweep yet" in words_of(app)


def test_a_sweep_is_shown_with_its_runs_and_how_far_they_are(open_page, begun):
    app = open_page("runs", begun, view="Sweeps")
    assert not app.exception and not app.error
    assert "1 of 3 runs is complete, 1 queued, 1 not started" in words_of(app)
    table = next(frame.value for frame in app.dataframe if "status" in frame.value)
    assert table["status"].tolist() == ["complete", "queued", sweeps.NOT_STARTED]
    assert table["model"].tolist()[1] == "Glass box S@step1"


def test_a_sweep_is_cancelled_and_deleted_as_a_whole(open_page, begun, run_id):
    settings = settings_module.read(cache=begun)
    app = open_page("runs", begun, view="Sweeps")
    app.button(key="sweep:cancel").click().run()
    assert not app.exception and sweeps.cancel_mark(settings, NAME).exists()
    statuses = [sweeps.status_of(settings, member) for member in sweeps.find(settings, NAME).members]
    assert statuses == ["complete", "cancelled", sweeps.NOT_STARTED]
    assert not app.button(key="sweep:resume").disabled
    app.button(key="sweep:delete:all").click().run()
    assert not app.exception and "No sweep yet" in words_of(app)
    assert not all_folders(settings.runs)


def test_the_dialog_begins_a_sweep_of_the_models_that_are_named(open_page, cache, monkeypatch, tmp_path):
    own = Path(shutil.copytree(cache, tmp_path / "own"))
    started: list[str] = []
    monkeypatch.setattr(sweeps, "start", lambda settings, planned: started.append(planned.name))  # no second process
    app = open_page("runs", own, model="glassbox-s", benchmark="starter_pairs")
    app.button(key="run:open").click().run()
    app.text_area(key=run_several.MODELS).set_value("glassbox-s@step{0,1,2,...,8}").run()
    app.number_input(key=run_several.SEEDS).set_value(2).run()
    assert not app.exception and "A sweep of 12 runs (6 models, 2 seeds)" in words_of(app)
    app.button(key="run:start").click().run()
    assert not app.exception and not app.error
    (planned,) = sweeps.list_all(settings_module.read(cache=own))
    assert started == [planned.name]
    steps = ["@step0", "@step1", "@step2", "@step4", "@step8", ""]
    assert [member.model for member in planned.members if member.seed == 0] == [f"glassbox-s{step}" for step in steps]
    assert {member.seed for member in planned.members} == {0, 1}


def test_wrong_lists_of_models_are_told_in_one_sentence(open_page, cache):
    app = open_page("runs", cache, model="glassbox-s", benchmark="starter_pairs")
    app.button(key="run:open").click().run()
    app.text_area(key=run_several.MODELS).set_value("glassbox-s@step{...,8}").run()
    assert not app.exception and any("expected numbers on both sides" in error.value for error in app.error)


def test_the_command_line_names_every_model():
    one = "python -m explorer run accuracy --model a --benchmark b --limit 4"
    assert run_several.command(one, ["a"], [0]) == one
    told = run_several.command(one, ["a@step1", "a"], [0, 1, 2])
    assert told == "python -m explorer run accuracy --model a@step1 a --benchmark b --limit 4 --seeds 3"
    assert run_several.sweep_opening(["a"], [0]) == ""


@pytest.mark.parametrize("model", ["glassbox-s", "EleutherAI/pythia-160m@step1", "gpt2"])
def test_the_example_of_a_list_can_be_read(model):
    from explorer.runs import name_lists

    assert len(name_lists.expand([run_several.example(model)])) > 4
