"""A single bit of a run's files flipped on disk: it is never read back as another number, and is made good again."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from explorer.__main__ import main
from explorer.errors import RunError
from explorer.results import store as stores
from explorer.rows.schema import TABLES
from explorer.runs.folder import RunFolder

FLIPS = int(os.environ.get("FLIPS", "16"))
NOT_READ = {"log.txt", "lock"}  # nothing is read from these


def flip(path: Path, chance: random.Random) -> str:
    data = bytearray(path.read_bytes())
    place, bit = chance.randrange(len(data)), chance.randrange(8)
    data[place] ^= 1 << bit
    path.write_bytes(bytes(data))
    return f"{path.name} byte {place} bit {bit}"


def files_of(folder: RunFolder) -> list[Path]:
    found = [path for path in sorted(folder.path.rglob("*")) if path.is_file() and path.name not in NOT_READ]
    return [path for path in found if path.stat().st_size]


def read(folder: RunFolder) -> dict[str, pd.DataFrame]:
    found = {table: folder.read(table) for table in TABLES}
    found["environment"] = pd.DataFrame([str(sorted(folder.environment.items()))])
    found["spec"] = pd.DataFrame([str(folder.spec)])
    found["reviews"] = pd.DataFrame([str(folder.read_reviews())])
    now = folder.progress()
    found["progress"] = pd.DataFrame([[now.status, now.done, now.total, now.created, now.message]])
    return found


def rows_of(frame: pd.DataFrame) -> set[str]:
    """Each row with its columns' names, number for number."""
    columns = [
        [value.tolist() if isinstance(value, np.ndarray) else value for value in column] for _, column in frame.items()
    ]
    return {str(dict(zip(frame, row, strict=True))) for row in zip(*columns, strict=True)}


@pytest.mark.timeout(1800)
def test_no_flipped_bit_is_read_back_as_another_number(run):
    settings, folder = run
    folder.add_review({"instance_id": "starter_pairs/a/1", "verdict": "exact", "at_k": 3})
    stores.ingest_runs(settings, [folder])
    whole = read(folder)
    rows = {table: rows_of(whole[table]) for table in TABLES}
    with contextlib.closing(stores.open_store(settings)) as opened:
        rows_in_store = {table: rows_of(opened.frame(f"SELECT * FROM {table}")) for table in TABLES}
    kept = shutil.copytree(folder.path, settings.cache.parent / "kept")
    chance = random.Random(20)
    outcomes = {"refused": 0, "left out": 0, "no difference": 0}
    for number in range(FLIPS):
        files = files_of(folder)
        where = flip(files[number % len(files)] if number % 2 else chance.choice(files), chance)
        try:
            found = read(RunFolder(folder.path))
        except RunError:
            outcomes["refused"] += 1
        else:
            is_less = False
            for table, frame in found.items():
                if not frame.equals(whole[table]):
                    is_less = True
                    if table == "progress":
                        # What the progress says of itself may be lost, and is never another number.
                        assert frame[0][0] in ("interrupted", "complete"), where
                        assert frame[1][0] <= whole[table][1][0] and frame[2][0] in (0, whole[table][2][0]), where
                    elif table in TABLES:
                        assert rows_of(frame) <= rows[table], where
                    else:
                        assert frame[0][0] in ("[]", str(sorted({}.items()))), where
            outcomes["left out" if is_less else "no difference"] += 1
        count, _ = stores.rebuild_database(settings)
        opened = stores.open_store(settings)
        for table in TABLES:
            assert rows_of(opened.frame(f"SELECT * FROM {table}")) <= rows_in_store[table], where
        opened.close()
        assert count == 1 or "spec.json" in where, where
        shutil.rmtree(folder.path)
        shutil.copytree(kept, folder.path)
    print(FLIPS, outcomes)
    assert outcomes["refused"] > FLIPS // 4


@pytest.mark.timeout(1800)
def test_resume_makes_good_whatever_bit_was_flipped(run, capsys):
    settings, folder = run
    whole = {table: folder.read(table) for table in ("instances", "scores", "measures", "findings")}
    chance = random.Random(7)
    for path in [
        next(folder.parts.glob("scores/*.parquet")),
        next(folder.parts.glob("*.done")),
        folder.parts / "findings" / "all.parquet",
        folder.parts / "findings.done",
        folder.path / "spec.json",
        folder.path / "progress.json",
    ]:
        where = flip(path, chance)
        assert main(["resume", folder.run_id, "--cache", str(settings.cache)]) == 0, where
        assert folder.progress().status == "complete" and not folder.damaged()
        for table, frame in whole.items():
            key = ["instance_id", "request"] if table == "scores" else list(frame.columns[:2])
            again = folder.read(table).sort_values(key, ignore_index=True)
            pd.testing.assert_frame_equal(again, frame.sort_values(key, ignore_index=True), rtol=1e-3, atol=1e-3)


def test_doctor_verify_finds_what_the_doctor_alone_does_not_look_for(run, capsys):
    settings, folder = run
    path = next(folder.parts.glob("scores/*.parquet"))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))
    main(["doctor", "--verify", "--json", "--cache", str(settings.cache)])
    said = capsys.readouterr().out
    assert "not as they were written" in said and f"resume {folder.run_id}" in said


def test_parts_made_before_there_were_hashes_still_count(run):
    import json

    settings, folder = run
    for done in folder.parts.glob("*.done"):
        told = json.loads(done.read_text())
        done.write_text(json.dumps({"environment": told["environment"], "written": 1.7e9, "tables": told["tables"]}))
    (folder.parts / "findings.done").unlink()
    assert folder.progress().status == "complete" and not folder.damaged() and len(folder.read("scores"))
    stores.ingest_runs(settings, [folder])
