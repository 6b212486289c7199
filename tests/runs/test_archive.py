"""A run as a zip, and back; and archives that somebody made to do harm."""

from __future__ import annotations

import io
import json
import stat
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from explorer import settings as settings_module
from explorer.errors import RunError
from explorer.records import Instance, Request, RunSpec, Score
from explorer.results import archive
from explorer.rows.builders import finding_row, instance_row, measure_row, score_row
from explorer.runs import imported
from explorer.runs.folder import RunFolder
from explorer.settings import Settings
from explorer.stats.estimate import Estimate
from explorer.studies.accuracy.declared import ACCURACY

KEY = "sk-planted-0123456789"


def make_run(settings: Settings, text: str = "The cat sat.") -> RunFolder:
    spec = RunSpec("accuracy", 1, "toy/model", "blimp", data_hash="abc", settings={"preset": "natural"})
    folder = RunFolder.create(settings.runs, spec)
    for first, size in ((0, 2), (2, 1)):
        tables: dict[str, list] = {"instances": [], "scores": [], "measures": []}
        for place in range(first, first + size):
            pair = Instance(
                f"blimp/g/{place}", "blimp", "test", "g", "pair", "sentence", options=(text, "Cat the."), gold=0
            )
            tables["instances"].append(instance_row(pair, place))
            score = Score(Request(pair.id, 0, "", text), ("a",), (1,), (-1.5,), len(text), len(text), True, False)
            tables["scores"].append(score_row(score, 0))
            tables["measures"].append(measure_row(pair.id, "correct", 1.0))
        folder.write_part(first, first + size - 1, tables, "e1")
    folder.write_findings([finding_row(ACCURACY, "overall", Estimate.point(1.0, 3))])
    folder.write_progress(status="complete", total=3, done=3, pid=1, host="my-laptop")
    folder.add_review({"instance": "blimp/g/0", "verdict": "same"})
    return folder


@pytest.fixture
def folder(settings) -> RunFolder:
    return make_run(settings)


@pytest.fixture
def elsewhere(tmp_path) -> Settings:
    return settings_module.read(cache=tmp_path / "elsewhere")


def pack(folder: RunFolder, settings: Settings, path: Path) -> Path:
    with path.open("wb") as file:
        archive.pack_archive(folder, file, settings)
    return path


def test_a_run_comes_back_row_for_row_on_another_machine(folder, settings, elsewhere, tmp_path):
    path = pack(folder, settings, tmp_path / "run.zip")
    back, new = archive.unpack_archive(path, elsewhere)
    assert new and back.run_id == folder.run_id and back.path.parent == elsewhere.runs
    assert back.spec == folder.spec and back.finished() == folder.finished()
    assert back.progress().status == "complete" and back.progress().total == 3
    for table in ("instances", "scores", "measures", "findings"):
        pd.testing.assert_frame_equal(back.read(table), folder.read(table))
    assert [row["verdict"] for row in back.read_reviews()] == ["same"]
    assert imported.source(back).startswith("Lexiscope") and "run.zip" in imported.source(back)
    assert (
        archive.unpack_archive(path, elsewhere) == (back, False) or archive.unpack_archive(path, elsewhere)[1] is False
    )


def test_an_archive_says_what_it_is_and_whom_to_cite(folder, settings, tmp_path):
    with zipfile.ZipFile(pack(folder, settings, tmp_path / "run.zip")) as found:
        names = found.namelist()
        readme, bib = found.read("README.md").decode(), found.read("CITATION.bib").decode()
        assert f"| `accuracy` | Accuracy | share | item | {ACCURACY.meaning} |" in readme
        scores = pd.read_csv(io.BytesIO(found.read("tables/scores.csv")))
        rows = pd.read_csv(io.BytesIO(found.read("tables/by_instance.csv")))
        progress = json.loads(found.read("progress.json"))
    assert {"spec.json", "environment.json", "findings.csv", "reviews.jsonl"} <= set(names)
    assert any(name.startswith("parts/scores/") for name in names)
    assert "toy/model" in readme and "BLiMP: The Benchmark" in readme and folder.run_id in readme
    assert bib.count("@") >= 2 and "@software{lexiscope," in bib and "@article{warstadt" in bib
    assert len(scores) == len(rows) == 3
    assert "host" not in progress and "pid" not in progress


def test_no_key_is_ever_in_an_archive(settings, tmp_path, monkeypatch):
    for name in ("EXPLORER_API_KEY", "OPENAI_API_KEY", "EXPLORER_GOOGLE_KEY"):
        monkeypatch.setenv(name, KEY)
    with_keys = settings_module.read(cache=settings.cache)
    clean = pack(make_run(with_keys), with_keys, tmp_path / "clean.zip")
    with zipfile.ZipFile(clean) as found:
        assert not any(KEY.encode() in found.read(name) for name in found.namelist())
    leaking = make_run(settings_module.read(cache=tmp_path / "leaking"), text=f"The key is {KEY}.")
    with pytest.raises(RunError, match="holds one of the keys"):
        archive.pack_archive(leaking, io.BytesIO(), with_keys)


def rewritten(path: Path, change) -> Path:
    """A copy of the archive in which `change(name, data)` gives the name and bytes of each entry, or None."""
    target = path.with_name("changed.zip")
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(target, "w") as out:
        for name in source.namelist():
            if found := change(name, source.read(name)):
                out.writestr(*found)
    return target


@pytest.mark.parametrize(
    "name", ["../evil.json", "/etc/evil", "parts/../../evil", "C:\\evil.json", "..\\evil", "parts/scores/../../../x"]
)
def test_a_name_that_leads_outside_is_refused(folder, settings, elsewhere, tmp_path, name):
    path = pack(folder, settings, tmp_path / "run.zip")
    with zipfile.ZipFile(path, "a") as found:
        found.writestr(zipfile.ZipInfo(name), b"evil")
    with pytest.raises(RunError, match="expected names inside"):
        archive.unpack_archive(path, elsewhere)
    assert not list(tmp_path.rglob("evil*")) and not list(elsewhere.runs.iterdir())


def test_a_link_is_refused(folder, settings, elsewhere, tmp_path):
    path = pack(folder, settings, tmp_path / "run.zip")
    link = zipfile.ZipInfo("left_out.jsonl")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(path, "a") as found:
        found.writestr(link, "/etc/passwd")
    with pytest.raises(RunError, match="link or device"):
        archive.unpack_archive(path, elsewhere)


def test_what_is_no_part_of_a_run_stays_in_the_archive(folder, settings, elsewhere, tmp_path):
    path = pack(folder, settings, tmp_path / "run.zip")
    with zipfile.ZipFile(path, "a") as found:
        found.writestr("cancel", b"")
        found.writestr("lock", b"")
        found.writestr("parts/run.sh", b"#!/bin/sh")
    back, _ = archive.unpack_archive(path, elsewhere)
    assert not {"cancel", "lock", "run.sh", "README.md"} & {one.name for one in back.path.rglob("*")}


def test_an_archive_that_unpacks_without_end_is_refused(folder, settings, elsewhere, tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "MOST_BYTES", 2_000)
    with pytest.raises(RunError, match="unpacks to more than"):
        archive.unpack_archive(pack(folder, settings, tmp_path / "run.zip"), elsewhere)
    assert not list(elsewhere.runs.iterdir()) and not list(elsewhere.cache.glob("unpacking-*"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda name, data: None if name == "spec.json" else (name, data), "no spec.json"),
        (lambda name, data: (name, b"{}" if name == "spec.json" else data), "in changed.zip is not a run's spec"),
        (
            lambda name, data: (name, data[:40] if name.endswith(".parquet") else data),
            "is not the file that was packed",
        ),
        (
            lambda name, data: None if name == "SHA256SUMS" else (name, data[:40] if ".parquet" in name else data),
            "no readable Parquet",
        ),
    ],
    ids=["without a spec", "another spec", "a cut part", "a cut part without its hash"],
)
def test_an_archive_that_is_not_whole_leaves_nothing_behind(folder, settings, elsewhere, tmp_path, change, said):
    path = rewritten(pack(folder, settings, tmp_path / "run.zip"), change)
    with pytest.raises(RunError, match=said):
        archive.unpack_archive(path, elsewhere)
    assert not list(elsewhere.runs.iterdir()) and not list(elsewhere.cache.glob("unpacking-*"))


@pytest.mark.parametrize("data", [b"", b"PK", b"no zip at all"])
def test_a_file_that_is_no_zip_is_one_sentence(elsewhere, tmp_path, data):
    (tmp_path / "x.zip").write_bytes(data)
    with pytest.raises(RunError, match="no readable zip"):
        archive.unpack_archive(tmp_path / "x.zip", elsewhere)
    with pytest.raises(RunError, match="There is no file"):
        archive.unpack_archive(tmp_path / "none.zip", elsewhere)


def test_a_run_here_that_is_not_finished_is_not_written_over(folder, settings, tmp_path):
    path = pack(folder, settings, tmp_path / "run.zip")
    next(folder.parts.glob("*.done")).unlink()
    with pytest.raises(RunError, match="is here already, with"):
        archive.unpack_archive(path, settings)
