"""A part whose mark was damaged is told by everything that looks at runs, and so are the files beside the parts."""

from __future__ import annotations

import json

import pytest

from explorer.__main__ import main
from explorer.results import store as stores
from explorer.runs import compute_target, queue


def flip_middle(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


def doctor(settings, capsys, *flags: str) -> dict[str, dict[str, str]]:
    capsys.readouterr()
    code = main(["doctor", "--json", *flags, "--cache", str(settings.cache)])
    findings = {one["what"]: one for one in json.loads(capsys.readouterr().out)}
    assert code == int(any(one["status"] == "fault" for one in findings.values()))
    return findings


def test_a_damaged_mark_is_told_by_rebuild_runs_and_doctor_and_resume_makes_its_part_again(run, capsys):
    settings, folder = run
    whole = len(folder.read("scores"))
    done = sorted(folder.parts.glob("0*.done"))[-1]
    flip_middle(done)
    at = ["--cache", str(settings.cache)]

    assert main(["rebuild", *at]) == 1
    said = capsys.readouterr()
    assert done.name in said.out + said.err and folder.run_id in said.out + said.err
    assert (
        f"parts/{done.name}" in queue.info(folder).message and f"resume {folder.run_id}" in queue.info(folder).message
    )
    for flags, what in (((), "runs"), (("--verify",), "files of runs")):
        finding = doctor(settings, capsys, *flags)[what]
        assert finding["status"] == "fault" and done.name in finding["message"], finding

    assert main(["resume", folder.run_id, *at]) == 0
    assert folder.progress().status == "complete" and not folder.damaged() and len(folder.read("scores")) == whole
    assert queue.info(folder).message == "" and stores.rebuild_database(settings) == (1, [])


def test_a_part_that_lost_a_file_is_told_as_well(run):
    settings, folder = run
    first, last = folder.finished()[0]
    (folder.parts / "scores" / f"{first:09d}-{last:09d}.parquet").unlink()
    assert folder.damaged() == [f"{first:09d}-{last:09d}.done"]
    count, faults = stores.rebuild_database(settings)
    assert count == 1 and f"{first:09d}-{last:09d}.done" in faults[0]


def test_a_part_that_was_never_marked_is_unfinished_and_not_damaged(run):
    settings, folder = run
    sorted(folder.parts.glob("0*.done"))[-1].unlink()
    assert not folder.damaged() and folder.progress().status == "interrupted"
    assert stores.rebuild_database(settings) == (1, [])


BESIDE = ["progress.json", "environment.json", "environments", "where.json"]


def told_of(name: str, settings, folder, capsys, damage) -> None:
    """Damages the file and asserts that `doctor --verify`, content before, names it with its run."""
    compute_target.save_target(folder, compute_target.ComputeTarget(cluster="auto"))
    assert doctor(settings, capsys, "--verify")["files of runs"]["status"] == "ok"
    path = folder.path / name
    path = next(path.glob("*.json")) if path.is_dir() else path
    damage(path)
    finding = doctor(settings, capsys, "--verify")["files of runs"]
    assert finding["status"] == "fault" and folder.run_id in finding["message"] and path.name in finding["message"]


@pytest.mark.parametrize("name", [*BESIDE, "spec.json", "parts/findings.done"])
def test_doctor_verify_names_a_damaged_file_beside_the_parts(name, run, capsys):
    told_of(name, *run, capsys, flip_middle)


@pytest.mark.parametrize("name", BESIDE)
def test_doctor_verify_misses_the_check_whose_name_was_changed(name, run, capsys):
    told_of(name, *run, capsys, lambda path: path.write_bytes(path.read_bytes().replace(b'"check"', b'"chegk"')))


def test_findings_whose_mark_is_damaged_are_left_out_and_concluded_again(run, capsys):
    settings, folder = run
    rows = len(folder.read("findings"))
    flip_middle(folder.parts / "findings.done")
    count, faults = stores.rebuild_database(settings)
    assert count == 1 and "findings.done" in faults[0]
    assert len(stores.open_store(settings).frame("SELECT * FROM findings")) == 0
    assert main(["resume", folder.run_id, "--cache", str(settings.cache)]) == 0
    assert len(folder.read("findings")) == rows and not folder.damaged()
    capsys.readouterr()
