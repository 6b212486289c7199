"""Sweeps from the command line: several ordinary runs begun, resumed, exported and ended together."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from explorer.__main__ import main
from explorer.runs import sweep as sweeps
from explorer.runs.folder import RunFolder, all_folders
from tests import made_up_sweep


@pytest.fixture
def models(tiny_gpt2: Path, tmp_path: Path) -> list[str]:
    """Two folders with the same small model."""
    return [str(shutil.copytree(tiny_gpt2, tmp_path / name)) for name in ("first", "second")]


@pytest.fixture(autouse=True)
def _cache(settings, monkeypatch):
    """The commands use the cache of the test's settings."""
    monkeypatch.setenv("EXPLORER_CACHE", str(settings.cache))


def call(capsys, *words: str) -> tuple[int, object]:
    """Exit status and JSON of a command."""
    capsys.readouterr()
    code = main([*words, "--json"])
    out = capsys.readouterr().out
    return code, json.loads(out) if out.strip() else None


def asked(models: list[str], *more: str) -> list[str]:
    return ["run", "accuracy", "--model", *models, "--benchmark", "starter_pairs", "--limit", "4", *more]


def test_a_sweep_is_ordinary_runs_and_asking_again_finds_them(settings, models, capsys):
    code, told = call(capsys, *asked(models, "--seeds", "2", "--sweep", "both"))
    assert code == 0 and told["sweep"] == "both"
    assert [(run["model"], run["seed"], run["status"]) for run in told["runs"]] == [
        (model, seed, "complete") for model in models for seed in (0, 1)
    ]
    assert {run["run_id"] for run in told["runs"]} == {folder.run_id for folder in all_folders(settings.runs)}
    alone = call(capsys, *asked(models[:1]))[1]
    assert alone["run_id"] == told["runs"][0]["run_id"]  # the same request by itself is the same run
    assert call(capsys, *asked(models, "--seeds", "2", "--sweep", "both"))[1] == told


def test_a_sweep_that_was_killed_goes_on_where_it_stood(settings, models, capsys):
    with made_up_sweep.killed_at_the_second_run():
        assert main(asked(models, "--sweep", "both")) == 130
    states = [sweeps.status_of(settings, member) for member in sweeps.find(settings, "both").members]
    assert states == ["complete", sweeps.NOT_STARTED]
    code, told = call(capsys, "resume", "both")
    assert code == 0 and [run["status"] for run in told["runs"]] == ["complete", "complete"]


def test_a_model_that_is_not_there_is_told_and_the_others_are_done(settings, models, capsys, tmp_path):
    gone = str(tmp_path / "gone")
    code = main([*asked([models[0], gone, models[1]], "--sweep", "three"), "--json"])
    shown = capsys.readouterr()
    assert code == 1
    assert [run["status"] for run in json.loads(shown.out)["runs"]] == ["complete", "failed", "complete"]
    assert gone in shown.err


def test_rows_of_all_runs_come_in_one_file_with_model_and_seed(settings, models, capsys, tmp_path):
    call(capsys, *asked(models, "--sweep", "both"))
    out = tmp_path / "findings.csv"
    code, told = call(capsys, "export", "both", "--table", "findings", "--format", "csv", "--out", str(out))
    frame = pd.read_csv(out)
    assert code == 0 and told == [{"file": str(out), "rows": len(frame)}]
    assert list(frame.columns[:4]) == ["run_id", "model", "benchmark", "seed"]
    assert set(frame["model"]) == set(models)
    code, told = call(capsys, "export", "both", "--format", "zip", "--out", str(tmp_path / "zips"))
    assert code == 0 and len(told) == 2 and all(Path(row["file"]).stat().st_size for row in told)


def test_a_sweep_over_seeds_is_exported_as_one_row_a_finding(settings, models, capsys, tmp_path):
    table = str(tmp_path / "over.csv")
    export = ["export", "both", "--table", "over_seeds", "--format", "csv", "--out", table]
    call(capsys, *asked(models[:1], "--seeds", "3", "--sweep", "both"))
    assert call(capsys, *export)[0] == 0
    frame = pd.read_csv(table)
    row = frame[(frame["finding"] == "accuracy") & (frame["grp"] == "overall") & frame["setting"].isna()].iloc[0]
    # the limit takes the same four items with every seed, and the model draws nothing
    assert row["seeds"] == 3 and row["sd"] == 0 and row["least"] == row["greatest"] == row["mean"]
    assert {"low", "high", "n"} <= set(frame)
    run_id = sweeps.find(settings, "both").members[0].run_id
    assert main([*export[:1], run_id, *export[2:]]) == 1


def test_deleting_a_sweep_leaves_runs_that_another_holds(settings, models, capsys):
    both = call(capsys, *asked(models, "--sweep", "both"))[1]
    call(capsys, *asked(models[:1], "--sweep", "one"))
    code, told = call(capsys, "delete", "both")
    assert code == 0 and told["runs"] == [both["runs"][1]["run_id"]]
    assert [folder.run_id for folder in all_folders(settings.runs)] == [both["runs"][0]["run_id"]]
    assert [row["sweep"] for row in call(capsys, "sweeps")[1]] == ["one"]


def test_deleting_a_sweep_leaves_runs_that_were_there_before_it(settings, models, capsys):
    before = call(capsys, *asked(models[:1]))[1]
    both = call(capsys, *asked(models, "--sweep", "both"))[1]
    assert both["runs"][0]["run_id"] == before["run_id"]
    assert call(capsys, *asked(models, "--sweep", "both"))[1] == both, "asked again, it is the same sweep"
    assert main(["delete", "both"]) == 0
    assert "were there before the sweep or are in another: 1" in capsys.readouterr().err
    assert [folder.run_id for folder in all_folders(settings.runs)] == [before["run_id"]]


def test_a_sweep_in_hand_is_not_deleted_in_part(settings, models, capsys):
    both = call(capsys, *asked(models, "--sweep", "both"))[1]
    with RunFolder.find(settings.runs, both["runs"][1]["run_id"]).lock().acquire(timeout=1):
        assert main(["delete", "both"]) == 1
        assert "nothing was deleted. Cancel it first" in capsys.readouterr().err
    assert len(list(all_folders(settings.runs))) == 2 and sweeps.find(settings, "both")
    assert main(["delete", "both"]) == 0 and not list(all_folders(settings.runs))


def test_a_run_that_another_process_has_in_hand_is_waited_for(settings, models, capsys):
    import threading

    first = call(capsys, *asked(models[:1]))[1]
    folder = RunFolder.find(settings.runs, first["run_id"])
    folder.write_progress(status="running")
    lock = folder.lock().acquire(timeout=1)

    def end() -> None:
        folder.write_progress(status="complete")
        lock.lock.release()

    timer = threading.Timer(2.5, end)
    timer.start()
    code = main([*asked(models[:1], "--sweep", "again"), "--json"])
    shown = capsys.readouterr()
    timer.join()
    assert code == 0 and json.loads(shown.out)["runs"][0]["status"] == "complete"
    assert f"waiting for {folder.run_id}" in shown.err


def test_a_cancelled_sweep_begins_no_other_run_until_it_is_resumed(settings, models, capsys):
    planned = sweeps.store_sweep(
        settings,
        sweeps.plan("accuracy", models, ["starter_pairs"], [0], request={"limit": 4}, name="both"),
    )
    ends = iter(["first", "second"])

    def work(folder: RunFolder) -> str:
        call(capsys, "cancel", "both")
        return next(ends)

    from explorer.records import RunSpec
    from explorer.resources import Resources

    def make(member: sweeps.Member) -> RunSpec:
        return RunSpec("accuracy", 1, member.model, member.benchmark)

    _, states = sweeps.run_members(settings, planned, Resources(settings), make, work, lambda line: None)
    assert states == ["first", sweeps.NOT_STARTED]


def test_only_the_weights_that_a_run_used_are_let_go(settings, monkeypatch):
    from explorer.records import RunSpec
    from explorer.resources import Resources

    here = {"old"}  # commits on this machine; the second checkpoint is one that was here before

    def make(member: sweeps.Member) -> RunSpec:
        commit = {"a/b@step1": "one", "a/b@step2": "old", "a/b@step4": "four"}[member.model]
        here.add(commit)
        here.add("four")  # fetched ahead while the first is worked on
        return RunSpec("accuracy", 1, member.model, member.benchmark, revision=commit, seed=member.seed)

    removed: list[str] = []
    monkeypatch.setattr(sweeps.hub_cache, "all_commits", lambda: frozenset(here))
    monkeypatch.setattr(sweeps.hub_cache, "remove", lambda model, commits: removed.extend(commits) or 1)
    monkeypatch.setattr(sweeps, "_fetch_ahead", lambda *words: None)
    models = ["a/b@step1", "a/b@step2", "a/b@step4"]
    planned = sweeps.plan("accuracy", models, ["starter_pairs"], [0], request={}, name="three", keep="none")
    seen = []

    def work(folder: RunFolder) -> str:
        seen.append(list(removed))
        return "complete"

    sweeps.run_members(
        settings, sweeps.store_sweep(settings, planned), Resources(settings), make, work, lambda line: None
    )
    assert seen == [[], ["one"], ["one"]] and removed == ["one", "four"]


def test_nothing_is_started_by_a_dry_run(settings, models, capsys):
    code, told = call(capsys, *asked(models, "--dry-run"))
    assert code == 0 and [run["status"] for run in told["runs"]] == ["not started", "not started"]
    assert not all_folders(settings.runs) and not sweeps.list_all(settings)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--seeds", "0"], "expected how many seeds"),
        (["--sweep", "No Name"], "no name of a sweep"),
        (["--sweep", "accuracy-0123456789ab"], "is that of a run"),
        (["--cluster", "auto"], "on this machine"),
    ],
)
def test_wrong_sweeps_are_refused_in_one_sentence(settings, models, capsys, more, message):
    assert main(asked(models, *more)) == 1
    assert message in capsys.readouterr().err


def test_another_sweep_of_the_same_name_is_refused(settings, models, capsys):
    call(capsys, *asked(models, "--sweep", "both"))
    assert main(asked(models, "--sweep", "both", "--seed", "7")) == 1
    assert "asks for something else" in capsys.readouterr().err


def test_a_damaged_file_of_a_sweep_counts_as_none(settings, models, capsys):
    call(capsys, *asked(models, "--sweep", "both"))
    path = settings.sweeps / "both.json"
    path.write_text(path.read_text("utf-8").replace('"seed": 0', '"seed": 1', 1), "utf-8")
    assert sweeps.find(settings, "both") is None
    assert main(["sweeps", "both"]) == 1
    assert "There is no sweep 'both'" in capsys.readouterr().err


HOSTILE = [
    {"made": float("nan")}, {"made": 1e20}, {"made": True}, {"study": "../x"}, {"members": []}, {"keep": "some"},
    {"members": [{"model": "m", "benchmark": "b", "seed": 10**30, "run_id": ""}]},
    {"members": [{"model": "m", "benchmark": "b", "seed": 0, "run_id": "../../x"}]},
    {"members": [{"model": "m\n\x1b[31m", "benchmark": "b", "seed": 0, "run_id": ""}]},
    {"request": {"study": "icl"}}, {"request": {"limit": "many"}},
    {"request": {"settings": {"a": [[[[[[[[[[1]]]]]]]]]]}}},
    {"had": ["../x"]}, {"more": 1},
]  # fmt: skip


@pytest.mark.parametrize("change", HOSTILE, ids=str)
def test_a_file_of_a_sweep_made_to_do_harm_counts_as_none_and_hides_no_other(settings, capsys, change):
    good = sweeps.plan("accuracy", ["m"], ["starter_pairs"], [0], request={"limit": 4}, name="good")
    sweeps.store_sweep(settings, good)
    fields = json.loads((settings.sweeps / "good.json").read_text("utf-8"))
    del fields["check"]
    (settings.sweeps / "bad.json").write_text(json.dumps({**fields, "name": "bad", **change}), "utf-8")
    assert [one.name for one in sweeps.list_all(settings)] == ["good"]
    code, told = call(capsys, "sweeps")
    assert code == 0 and [row["sweep"] for row in told] == ["good"]


def test_a_delete_of_a_sweep_that_is_killed_leaves_the_sweep_with_what_is_left(settings, models, capsys, monkeypatch):
    from explorer.results import broken_off

    call(capsys, *asked(models, "--sweep", "both"))
    delete, calls = broken_off.delete_run, []

    def dying(*words):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        delete(*words)

    with monkeypatch.context() as patch:
        patch.setattr(broken_off, "delete_run", dying)
        assert main(["delete", "both"]) == 130
    left = {folder.run_id for folder in all_folders(settings.runs)}
    assert len(left) == 1 and left < {member.run_id for member in sweeps.find(settings, "both").members}
    code, told = call(capsys, "delete", "both")
    assert code == 0 and set(told["runs"]) == left
    assert not all_folders(settings.runs) and sweeps.find(settings, "both") is None


def test_weights_that_an_earlier_process_of_the_sweep_fetched_are_let_go_by_the_next(settings, monkeypatch):
    from explorer.records import RunSpec
    from explorer.resources import Resources
    from explorer.scoring.weight_files import converted_folder

    here, removed = {"01d"}, []
    monkeypatch.setattr(sweeps.hub_cache, "all_commits", lambda: frozenset(here))
    monkeypatch.setattr(sweeps.hub_cache, "remove", lambda model, commits: removed.extend(commits) or 1)
    monkeypatch.setattr(sweeps, "_fetch_ahead", lambda *words: None)
    planned = sweeps.plan("accuracy", ["a/b"], ["starter_pairs"], [0], request={}, name="one", keep="none")
    sweeps.store_sweep(settings, planned)
    here.add("fe7c4ed")  # and then the process was killed
    made = converted_folder(settings, "fe7c4ed")
    made.mkdir(parents=True)
    (made / "model.safetensors").write_bytes(b"weights")

    def make(member: sweeps.Member) -> RunSpec:
        return RunSpec("accuracy", 1, member.model, member.benchmark, revision="fe7c4ed")

    again = sweeps.store_sweep(settings, planned)
    sweeps.run_members(settings, again, Resources(settings), make, lambda folder: "complete", lambda line: None)
    assert removed == ["fe7c4ed"] and not made.exists()


def test_a_sweep_that_is_deleted_while_it_works_begins_no_other_run(settings, models):
    from explorer.records import RunSpec
    from explorer.resources import Resources

    planned = sweeps.store_sweep(
        settings, sweeps.plan("accuracy", models, ["starter_pairs"], [0], request={"limit": 4}, name="both")
    )

    def work(folder: RunFolder) -> str:
        sweeps.forget(settings, planned)
        return "complete"

    def make(member: sweeps.Member) -> RunSpec:
        return RunSpec("accuracy", 1, member.model, member.benchmark)

    _, states = sweeps.run_members(settings, planned, Resources(settings), make, work, lambda line: None)
    assert states == ["complete", sweeps.NOT_STARTED] and sweeps.find(settings, "both") is None


def test_one_model_over_several_cards_is_no_sweep(settings, models, capsys):
    assert main([*asked(models, "--sweep", "spread"), "--shard", "auto"]) == 1
    assert "EXPLORER_SHARD=auto" in capsys.readouterr().err
    assert not settings.sweeps.exists()
