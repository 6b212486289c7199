"""A run that came with the explorer is listed, found, exported and reviewed as one with a folder is."""

from __future__ import annotations

import io
import json
import zipfile

import pandas as pd
import pytest

from explorer.__main__ import main
from explorer.errors import RunError
from explorer.records import Instance, RunSpec
from explorer.results import archive, precomputed
from explorer.results.packed_run import PackedRun, find_run, list_all
from explorer.rows.builders import finding_row, instance_row, measure_row
from explorer.runs.folder import RunFolder
from explorer.settings import read as read_settings
from explorer.stats.estimate import Estimate
from explorer.studies.accuracy.declared import ACCURACY


def a_run(runs, benchmark: str, seed: int = 0) -> RunFolder:
    folder = RunFolder.create(runs, RunSpec("accuracy", 1, "toy", benchmark, seed=seed, settings={"preset": "natural"}))
    pairs = [
        Instance(f"{benchmark}/g/{i}", benchmark, "all", "g", "pair", "sentence", options=("A cat.", "Cat a."), gold=0)
        for i in (1, 0)
    ]
    measures = [measure_row(pair.id, name, 1.0) for pair in pairs for name in ("margin", "correct")]
    instances = [instance_row(pair, place) for place, pair in enumerate(pairs)]
    folder.write_part(0, 1, {"instances": instances, "measures": measures})
    folder.write_findings([finding_row(ACCURACY, "overall", Estimate.point(1.0, 2))])
    folder.write_progress(status="complete", total=2)
    return folder


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Settings of a fresh clone whose file holds a run on a starter set and one on another benchmark."""
    runs = tmp_path / "made"
    precomputed.pack_runs([a_run(runs, "starter_pairs"), a_run(runs, "blimp")], tmp_path / "packed.duckdb")
    monkeypatch.setenv("EXPLORER_PRECOMPUTED", str(tmp_path / "packed.duckdb"))
    monkeypatch.setenv("EXPLORER_CACHE", str(tmp_path / "cache"))
    return read_settings()


def id_of(settings, benchmark: str) -> str:
    return next(run.run_id for run in list_all(settings) if run.benchmark == benchmark)


def test_the_list_says_where_each_run_comes_from_and_names_each_once(here, capsys):
    mine = a_run(here.runs, "blimp")
    a_run(here.runs, "blimp", seed=1)
    assert main(["runs", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert sorted((row["benchmark"], row["source"]) for row in rows) == [
        ("blimp", "here"), ("blimp", "here"), ("starter_pairs", "precomputed"),
    ]  # fmt: skip
    assert isinstance(find_run(here, mine.run_id), RunFolder)


def test_a_beginning_finds_the_run_here_before_the_packed_ones(here):
    with pytest.raises(RunError, match="are 2 runs"):
        find_run(here, "accuracy-")
    with pytest.raises(RunError, match="is no run"):
        find_run(here, "perturbation-")
    mine = a_run(here.runs, "piqa")
    assert find_run(here, "accuracy-").run_id == mine.run_id


def test_a_packed_run_reads_in_run_order_as_its_folder_does(here, tmp_path):
    run = find_run(here, id_of(here, "starter_pairs"))
    assert isinstance(run, PackedRun)
    folder = RunFolder.find(tmp_path / "made", run.run_id)
    assert run.spec == folder.spec and run.progress().total == 2
    assert list(run.read("instances")) == list(folder.read("instances"))
    pd.testing.assert_frame_equal(
        run.read("instances", ["instance_id", "position", "payload"]),
        folder.read("instances", ["instance_id", "position", "payload"]),
    )
    assert list(run.read("measures")["instance_id"]) == list(folder.read("measures")["instance_id"])


@pytest.mark.parametrize(("format", "read"), [("csv", pd.read_csv), ("parquet", pd.read_parquet)])
def test_a_packed_run_is_exported_and_says_what_it_lacks(here, tmp_path, capsys, format, read):
    out = tmp_path / f"rows.{format}"
    assert main(["export", id_of(here, "blimp"), "--format", format, "--out", str(out)]) == 0
    frame = read(out)
    assert list(frame["instance_id"]) == ["blimp/g/1", "blimp/g/0"] and list(frame["correct"]) == [1.0, 1.0]
    assert "The precomputed file lacks" in capsys.readouterr().err


@pytest.mark.parametrize("table", ["scores", "prompts"])
def test_what_the_file_does_not_hold_is_one_sentence_and_no_file(here, tmp_path, capsys, table):
    out = tmp_path / "rows.csv"
    assert main(["export", id_of(here, "blimp"), "--table", table, "--format", "csv", "--out", str(out)]) == 1
    assert not out.exists()
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and f"holds no {table}" in told


def test_the_zip_holds_what_is_packed_and_is_no_run_to_import(here, tmp_path, capsys):
    run_id, out = id_of(here, "blimp"), tmp_path / "run.zip"
    find_run(here, run_id).add_review({"verdict": "same"})
    assert main(["export", run_id, "--format", "zip", "--out", str(out)]) == 0
    with zipfile.ZipFile(out) as found:
        names = set(found.namelist())
        readme, told = found.read("README.md").decode(), found.read("left_out.txt").decode()
        measures = pd.read_parquet(io.BytesIO(found.read("tables/measures.parquet")))
        assert json.loads(found.read("spec.json"))["benchmark"] == "blimp"
    assert {"CITATION.bib", "environment.json", "findings.csv", "reviews.jsonl", "tables/by_instance.csv"} <= names
    assert not any(name.startswith("parts/") for name in names)
    assert "left_out.txt" in readme and told.startswith("The precomputed file lacks") and told.count("\n") == 1
    assert len(measures) == 4
    with pytest.raises(RunError, match="come with the explorer"):
        archive.unpack_archive(out, here)
    assert not list(here.runs.glob("*"))


@pytest.mark.parametrize("command", ["resume", "cancel", "delete"])
def test_a_packed_run_is_not_resumed_cancelled_or_deleted(here, capsys, command):
    assert main([command, id_of(here, "blimp")]) == 1
    assert "came with the explorer" in capsys.readouterr().err
