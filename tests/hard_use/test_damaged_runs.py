"""Files of a run cut, emptied or overwritten: what was finished stays, what was lost is made again."""

from __future__ import annotations

import dataclasses
import json

import pandas as pd
import pytest

from explorer import doctor
from explorer.__main__ import main
from explorer.errors import RunError
from explorer.resources import Resources
from explorer.results import store as stores
from explorer.runs import queue
from explorer.runs.folder import RunFolder
from explorer.runs.worker import work


def rows(folder: RunFolder) -> pd.DataFrame:
    return folder.read("scores").sort_values(["instance_id", "request"]).reset_index(drop=True)


def contents(folder: RunFolder, name: str) -> dict[str, bytes]:
    return {path.parent.name: path.read_bytes() for path in folder.parts.glob(f"*/{name}.parquet")}


def found(settings, what: str) -> doctor.Finding:
    return next(finding for finding in doctor.examine(settings) if finding.what == what)


@pytest.mark.parametrize("how", ["cut", "empty", "garbage", "zeros"])
def test_a_damaged_part_is_made_again_and_the_others_are_not_touched(run, spoil, how, capsys, one_sentence):
    settings, folder = run
    whole = rows(folder)
    first, second = folder.finished()[:2]
    kept = contents(folder, f"{first[0]:09d}-{first[1]:09d}")
    spoil(folder.parts / "scores" / f"{second[0]:09d}-{second[1]:09d}.parquet", how)

    where = ["--cache", str(settings.cache)]
    assert main(["export", folder.run_id, "--table", "scores", "--format", "csv", "--out", "/dev/null", *where]) == 1
    said = one_sentence(capsys.readouterr().err)
    assert f"python -m explorer resume {folder.run_id}" in said
    assert f"resume {folder.run_id}" in one_sentence(found(settings, "runs").message)

    assert main(["resume", folder.run_id, *where]) == 0
    assert "Damaged, so made again: scores/" in capsys.readouterr().err
    assert contents(folder, f"{first[0]:09d}-{first[1]:09d}") == kept
    again = rows(folder)
    assert again[["instance_id", "request"]].equals(whole[["instance_id", "request"]])
    pd.testing.assert_series_equal(again["logprob"], whole["logprob"], rtol=0, atol=1e-3)
    assert found(settings, "runs").status == "ok"


@pytest.mark.parametrize("how", ["cut", "empty", "garbage", "zeros"])
def test_a_damaged_mark_costs_its_own_part_alone(run, spoil, how):
    settings, folder = run
    parts = folder.finished()
    spoil(folder.parts / f"{parts[1][0]:09d}-{parts[1][1]:09d}.done", how)
    assert folder.finished() == [parts[0], *parts[2:]]
    assert folder.progress().status == "interrupted"
    assert work(folder, Resources(settings), lambda text: None) == "complete"
    assert not rows(folder).duplicated(["instance_id", "request"]).any()
    assert folder.read("instances")["position"].tolist() == list(range(folder.progress().total))


def test_damaged_findings_are_concluded_again_from_the_parts(run, spoil):
    settings, folder = run
    before = folder.read("findings")
    parts = {path: path.stat().st_mtime_ns for path in folder.parts.glob("scores/*.parquet")}
    spoil(folder.parts / "findings" / "all.parquet", "cut")
    assert main(["resume", folder.run_id, "--cache", str(settings.cache)]) == 0
    assert folder.read("findings").equals(before)
    assert {path: path.stat().st_mtime_ns for path in folder.parts.glob("scores/*.parquet")} == parts


@pytest.mark.parametrize("how", ["cut", "empty", "garbage"])
def test_a_damaged_spec_hides_no_other_run_and_is_mended_by_asking_again(run, spoil, how, one_sentence, capsys):
    settings, folder = run
    spec = folder.spec
    parts = folder.finished()
    other = RunFolder.create(settings.runs, dataclasses.replace(spec, seed=5))
    spoil(folder.path / "spec.json", how)
    listed = {info.run_id: info for info in queue.list_runs(settings)}
    assert listed[folder.run_id].status == "damaged" and listed[other.run_id].status == "queued"
    one_sentence(listed[folder.run_id].message)
    assert stores.rebuild_database(settings)[0] == 1
    assert "Start the same run again" in one_sentence(found(settings, "runs").message)
    assert main(["resume", folder.run_id, "--cache", str(settings.cache)]) in (0, 1)
    assert "Traceback" not in capsys.readouterr().err

    assert RunFolder.create(settings.runs, spec).spec == spec
    assert folder.finished() == parts and folder.progress().status == "complete"


@pytest.mark.parametrize("how", ["cut", "empty", "garbage", "zeros"])
def test_damaged_progress_and_environment_files_cost_nothing(run, spoil, how):
    settings, folder = run
    parts = folder.finished()
    spoil(folder.path / "progress.json", how)
    before = folder.environment
    spoil(folder.path / "environment.json", how)
    assert folder.environment == before, "the part's own copy says it, too"
    assert [info.status for info in queue.list_runs(settings)] == ["interrupted"]
    assert work(folder, Resources(settings), lambda text: None) == "complete"
    assert folder.finished() == parts
    assert folder.environment["packages"]["torch"]


def test_lines_of_verdicts_that_are_none_are_passed_over(run):
    _, folder = run
    folder.add_review({"instance_id": "x", "verdict": "exact", "note": "half \ud83d"})
    with folder.reviews.open("ab") as file:
        file.write(b'3\n[]\n"x"\n\xff\xfe\n' + b"[" * 100_000 + b"\n" + b'{"instance_id": "y", "ver')
    assert [review["instance_id"] for review in folder.read_reviews()] == ["x"]


def test_a_part_that_cannot_be_read_is_told_apart_from_a_damaged_database(run, spoil, one_sentence):
    settings, folder = run
    spoil(next((folder.parts / "measures").glob("*.parquet")), "garbage")
    for step in (
        lambda: stores.ingest_runs(settings, [folder]),
        lambda: stores.open_parts(folder).frame("SELECT * FROM measures"),
    ):
        with pytest.raises(RunError, match=f"resume {folder.run_id}") as caught:
            step()
        one_sentence(str(caught.value))
    # What is in the database already is still there.
    assert stores.open_store(settings).frame("SELECT count(*) AS n FROM runs")["n"][0] == 1


def test_a_run_that_somebody_deletes_meanwhile_is_no_fault(run):
    settings, folder = run
    folder.delete()
    folder.delete()
    assert queue.list_runs(settings) == []
    assert folder.finished() == [] and folder.log_tail() == "" and folder.read_reviews() == []
    assert json.dumps(dataclasses.asdict(folder.progress()))
