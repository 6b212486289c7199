"""Deletes, imports and rebuilds killed with SIGKILL at every step they take on disk: the next start ends them.

The command runs in a process of its own, which kills itself at its Nth change of the file system
(tests/hard_use/killed_at_step.py), for every N until it comes through.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from explorer import benchmarks
from explorer.__main__ import main
from explorer.results import store as stores
from explorer.rows.schema import TABLES
from explorer.runs import queue
from explorer.runs.folder import RunFolder
from tests import forked
from tests.hard_use.killed_at_step import killed_at

MOST = int(os.environ.get("KILLS", "12"))  # kills a command, spread over its steps
LEFT = ("unfinished/*", "unpacking-*", "runs/.*", "imports/.*", "imports/*/replaced", "store/*.building*")


def storm(cache: Path, tmp_path: Path, arguments: list[str]) -> list[Path]:
    """Copies of the cache, in each of which the command was killed at another step, up to the last."""
    whole = shutil.copytree(cache, tmp_path / "through")
    (said,) = killed_at([(0, [*arguments, "--cache", str(whole)])])
    steps = int(said.split()[1])
    chosen = sorted({1 + place * (steps - 1) // max(1, MOST - 1) for place in range(MOST)})
    copies = {at: tmp_path / f"killed-{at}" for at in chosen}
    for path in copies.values():
        shutil.copytree(cache, path)
    said = killed_at([(at, [*arguments, "--cache", str(path)]) for at, path in copies.items()])
    assert not said, "a command came through that should have been killed"
    return list(copies.values())


def left_behind(cache: Path) -> list[str]:
    found = (path for pattern in LEFT for path in cache.glob(pattern))
    return [path.relative_to(cache).as_posix() for path in found]


def rows_of(cache: Path, run_id: str) -> dict[str, int]:
    import dataclasses

    from explorer import settings as settings_module

    settings = dataclasses.replace(settings_module.read(cache=cache), precomputed=None)
    opened = stores.open_store(settings)
    counted = {
        table: int(opened.frame(f"SELECT count(*) AS n FROM {table} WHERE run_id = ?", [run_id])["n"][0])
        for table in ("runs", *TABLES)
    }
    opened.close()
    return counted


def started(cache: Path, capsys) -> set[str]:
    """The next start: what `runs` lists then."""
    assert main(["runs", "--json", "--cache", str(cache)]) == 0
    rows = json.loads(capsys.readouterr().out)
    return {row["run_id"] for row in rows if row["source"] != "precomputed"}


@pytest.mark.timeout(1800)
def test_a_delete_killed_at_any_step_leaves_no_rows_of_a_run_that_does_not_list(run, tmp_path, capsys):
    settings, folder = run
    stores.ingest_runs(settings, [folder])
    whole = rows_of(settings.cache, folder.run_id)
    outcomes = {"kept": 0, "gone": 0}
    for cache in storm(settings.cache, tmp_path, ["delete", folder.run_id]):
        listed = started(cache, capsys)
        found = rows_of(cache, folder.run_id)
        if folder.run_id in listed:
            assert found == whole and not RunFolder(cache / "runs" / folder.run_id).damaged(), cache.name
        else:
            assert not any(found.values()) and not (cache / "runs" / folder.run_id).exists(), cache.name
        assert not left_behind(cache), cache.name
        outcomes["kept" if folder.run_id in listed else "gone"] += 1
    print(outcomes)
    assert outcomes["gone"] and outcomes["kept"]


@pytest.mark.timeout(1800)
def test_an_import_killed_at_any_step_is_whole_or_absent_after_the_next_start(run, elsewhere, tmp_path, capsys):
    settings, folder = run
    path = tmp_path / "run.zip"
    assert main(["export", folder.run_id, "--format", "zip", "--out", str(path), "--cache", str(settings.cache)]) == 0
    stores.ingest_runs(settings, [folder])
    whole = rows_of(settings.cache, folder.run_id)
    elsewhere.cache.mkdir()
    outcomes = {"whole": 0, "absent": 0}
    capsys.readouterr()
    for cache in storm(elsewhere.cache, tmp_path, ["import-run", str(path)]):
        listed = started(cache, capsys)
        found = rows_of(cache, folder.run_id)
        if folder.run_id in listed:
            assert found == whole and not RunFolder(cache / "runs" / folder.run_id).damaged(), cache.name
        else:
            assert not any(found.values()), cache.name
        assert not left_behind(cache), cache.name
        outcomes["whole" if folder.run_id in listed else "absent"] += 1
        assert main(["import-run", str(path), "--cache", str(cache)]) == 0
        assert rows_of(cache, folder.run_id) == whole
        capsys.readouterr()
    print(outcomes)
    assert outcomes["whole"] and outcomes["absent"]


@pytest.mark.timeout(1800)
def test_a_table_replaced_by_an_import_that_was_killed_is_the_old_or_the_new_one(settings, tmp_path, capsys):
    import dataclasses

    path = tmp_path / "mine.csv"
    arguments = ["import", str(path), "--name", "mine", "--kind", "pair"]
    path.write_text("good,bad\n" + "It is here.,It are here.\n" * 3)
    assert main([*arguments, "--cache", str(settings.cache)]) == 0
    path.write_text("good,bad\n" + "It is here.,It are here.\n" * 5)
    capsys.readouterr()
    for cache in storm(settings.cache, tmp_path, arguments):
        started(cache, capsys)
        kept = benchmarks.load("imported_mine", dataclasses.replace(settings, cache=cache))
        assert len(kept.instances) in (3, 5), cache.name
        assert not left_behind(cache), cache.name


@pytest.mark.timeout(1800)
def test_a_rebuild_killed_at_any_step_leaves_a_database_with_every_run(run, tmp_path, capsys):
    settings, folder = run
    stores.ingest_runs(settings, [folder])
    whole = rows_of(settings.cache, folder.run_id)
    for cache in storm(settings.cache, tmp_path, ["rebuild"]):
        assert started(cache, capsys) == {folder.run_id}
        assert rows_of(cache, folder.run_id) == whole and not left_behind(cache), cache.name


# --- and on a full disk


def said_where_files_are_short(log: Path, longest_file: int, *arguments: str) -> str:
    """The last line of a command that fails in a process that can make no file longer than so many bytes."""
    assert forked.explorer(*arguments, log=log, longest_file=longest_file).wait(300) == 1, longest_file
    return log.read_text("utf-8").strip().splitlines()[-1]


def test_a_delete_on_a_full_disk_removes_nothing_and_says_so(run, tmp_path, one_sentence):
    settings, folder = run
    stores.ingest_runs(settings, [folder])
    whole = rows_of(settings.cache, folder.run_id)
    arguments = ("delete", folder.run_id, "--cache", str(settings.cache))
    said = one_sentence(said_where_files_are_short(tmp_path / "log", 65_536, *arguments))
    assert "The run folders are untouched" in said or "the run folders are untouched" in said
    assert [info.run_id for info in queue.list_runs(settings)] == [folder.run_id] and not folder.damaged()
    assert rows_of(settings.cache, folder.run_id) == whole and not left_behind(settings.cache)
    assert main(["delete", folder.run_id, "--cache", str(settings.cache)]) == 0
    assert not any(rows_of(settings.cache, folder.run_id).values())


def test_an_import_on_a_full_disk_leaves_nothing(run, elsewhere, tmp_path, one_sentence):
    settings, folder = run
    path = tmp_path / "run.zip"
    assert main(["export", folder.run_id, "--format", "zip", "--out", str(path), "--cache", str(settings.cache)]) == 0
    sizes = sorted(part.stat().st_size for part in folder.parts.rglob("*.parquet"))
    for room in (sizes[0] // 2, sizes[-1] - 1, 65_536 + sizes[-1]):
        arguments = ("import-run", str(path), "--cache", str(elsewhere.cache))
        one_sentence(said_where_files_are_short(tmp_path / f"log {room}", room, *arguments))
        assert not queue.list_runs(elsewhere) and not left_behind(elsewhere.cache), room
    assert main(["import-run", str(path), "--cache", str(elsewhere.cache)]) == 0
    assert rows_of(elsewhere.cache, folder.run_id)["runs"] == 1
