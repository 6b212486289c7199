"""A disk that takes no more: real processes under a limit of file size, and /dev/full in a file's place."""

from __future__ import annotations

import json
import os
import resource
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from explorer import settings as settings_module
from explorer.benchmarks.tables import table
from explorer.errors import ExplorerError
from explorer.popularity.count_cache import CountCache
from explorer.resources import Resources
from explorer.results import store as stores
from explorer.runs import files
from explorer.runs.folder import RunFolder
from explorer.runs.request import make_spec
from tests import forked
from tests.forked import Forked

FULL = Path("/dev/full")  # takes nothing and says that there is no space left


@pytest.mark.slow
def test_a_worker_that_meets_a_full_disk_keeps_its_parts_and_goes_on_when_there_is_room(run, elsewhere, tmp_path):
    _, whole = run
    # Parts grow, so the first one fits and a later one does not.
    first = whole.finished()[0]
    name = f"{first[0]:09d}-{first[1]:09d}.parquet"
    room = int(1.3 * max(path.stat().st_size for path in whole.parts.glob(f"*/{name}")))
    spec = make_spec(
        Resources(elsewhere),
        study="accuracy",
        model=whole.spec.model,
        benchmark="starter_pairs",
        limit=whole.spec.limit,
    )
    folder = RunFolder.create(elsewhere.runs, spec)

    log = tmp_path / "log.txt"
    full = forked.explorer("work", folder.run_id, "--cache", str(elsewhere.cache), log=log, longest_file=room)
    assert full.wait(300) == 1
    said = log.read_text("utf-8")
    assert "Traceback" not in said
    last = said.strip().splitlines()[-1]
    # Whichever file met the limit first: a part's or the database's.
    assert "File too large" in last and ("Make room" in last or "Free some disk space" in last)
    kept = folder.finished()
    assert kept[:1] == [first] and folder.progress().status in ("failed", "interrupted")
    assert not list(folder.path.rglob("*.tmp")), "half a file was left"
    written = {path: path.stat().st_mtime_ns for path in folder.parts.glob(f"*/{name}")}

    roomy = forked.explorer("work", folder.run_id, "--cache", str(elsewhere.cache))
    assert roomy.wait(300) == 0 and folder.progress().status == "complete"
    assert {path: path.stat().st_mtime_ns for path in written} == written
    pd.testing.assert_frame_equal(
        *(each.read("scores").sort_values(["instance_id", "request"], ignore_index=True) for each in (folder, whole)),
        rtol=0,
        atol=1e-3,
    )
    counted = stores.open_store(elsewhere).frame("SELECT count(DISTINCT instance_id) AS n FROM scores")
    assert counted["n"][0] == whole.progress().total


def try_stores(cache: Path, run_id: str, mine: Path, longest_file: int | None = None) -> int:
    """Says of each store what came of writing into it, where no file can be longer than `longest_file` bytes."""
    if longest_file is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (longest_file, longest_file))
    found = settings_module.read(cache=cache)
    folder = RunFolder.find(found.runs, run_id)
    counts = CountCache(found.counts)
    steps: dict[str, Callable[[], object]] = {
        "database": lambda: stores.ingest_runs(found, [folder]),
        "counts": lambda: counts.store_counts("i", {(n, n + 1): (n, False) for n in range(9000)}),
        "import": lambda: table.store_import(mine, "mine", found, table.guess_reading(mine)),
        "file": lambda: files.write_json(folder.path / "progress.json", ["x" * 100] * 1000),
    }
    for name, step in steps.items():
        try:
            step()
            print(name, "done", sep="\t")
        except ExplorerError as error:
            print(name, error, sep="\t")
    return 0


def test_every_store_says_in_a_sentence_that_there_is_no_room_and_is_whole_afterwards(run, tmp_path, one_sentence):
    settings, folder = run
    before = folder.progress()
    mine = tmp_path / "mine.csv"
    mine.write_text("good,bad\n" + "It is here.,It are here.\n" * 9000)
    log = tmp_path / "full"
    assert Forked(try_stores, settings.cache, folder.run_id, mine, 65_536, log=log).wait(300) == 0, log.read_text()
    said = dict(line.split("\t", 1) for line in log.read_text("utf-8").splitlines())
    assert set(said) == {"database", "counts", "import", "file"}
    for name, sentence in said.items():
        assert sentence != "done", name
        one_sentence(sentence)

    assert (folder.progress().status, folder.progress().done) == (before.status, before.done)
    assert not (settings.imports / "mine").exists()
    assert stores.open_store(settings).frame("SELECT count(*) AS n FROM runs")["n"][0] == 1
    stores.ingest_runs(settings, [folder])
    log = tmp_path / "roomy"
    assert Forked(try_stores, settings.cache, folder.run_id, mine, log=log).wait(300) == 0, log.read_text()
    assert [line.split("\t")[1] for line in log.read_text("utf-8").splitlines()] == ["done"] * 4


@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
def test_an_answer_that_does_not_fit_is_one_sentence(run, tiny_gpt2, tmp_path, capsys, one_sentence):
    from explorer.__main__ import main

    settings, folder = run
    (tmp_path / "in.jsonl").write_text(json.dumps({"context": "The cats", "continuation": " sleep"}) + "\n")
    where = ["--cache", str(settings.cache)]
    asked = [
        ["score", "--model", str(tiny_gpt2), "--in", str(tmp_path / "in.jsonl"), "--out", str(FULL), *where],
        ["export", folder.run_id, "--format", "csv", "--out", str(FULL), *where],
        ["export", folder.run_id, "--table", "scores", "--format", "parquet", "--out", str(FULL), *where],
    ]
    for arguments in asked:
        assert main(arguments) == 1
        errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]
        assert len(errors) == 1 and "No space left on device" in one_sentence(errors[0])
    assert FULL.is_char_device()


def test_a_link_is_followed_and_a_device_stays_a_device(run, tmp_path):
    from explorer.__main__ import main

    settings, folder = run
    target = tmp_path / "target.csv"
    link = tmp_path / "link.csv"
    link.symlink_to(target)
    for out in (link, Path(os.devnull)):
        assert (
            main(["export", folder.run_id, "--format", "csv", "--out", str(out), "--cache", str(settings.cache)]) == 0
        )
    assert link.is_symlink() and len(pd.read_csv(target)) == folder.progress().total
    assert Path(os.devnull).is_char_device()
