"""A run's folder: parts are whole or absent, gaps are known, the worker's lock tells who works."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.errors import RunError
from explorer.records import Instance, RunSpec
from explorer.resources import Resources
from explorer.rows.builders import instance_of, instance_row, measure_row, payload
from explorer.runs import environment, files
from explorer.runs import spec as specs
from explorer.runs.folder import RunFolder
from explorer.runs.parquet import read_parquet
from explorer.runs.state import Cancelled

SPEC = RunSpec("accuracy", 1, "toy", "pairs", settings={"preset": "natural"}, suites=("a", "b"))


def pair(number: int) -> Instance:
    return Instance(
        f"pairs/a/{number}", "pairs", "test", "a", "pair", "sentence", options=("It is.", "It are."), gold=0
    )


def part(first: int, last: int) -> dict:
    rows = [pair(number) for number in range(first, last + 1)]
    return {
        "instances": [instance_row(row, first + i) for i, row in enumerate(rows)],
        "measures": [measure_row(row.id, "correct", 1.0) for row in rows],
    }


def test_the_same_request_has_the_same_id_and_another_seed_another(settings):
    folder = RunFolder.create(settings.runs, SPEC)
    assert RunFolder.create(settings.runs, SPEC).path == folder.path
    assert specs.run_id(SPEC) != specs.run_id(RunSpec("accuracy", 1, "toy", "pairs", seed=1))
    assert folder.spec == specs.from_json(specs.to_json(SPEC))


def test_a_spec_that_is_no_spec_is_refused_in_one_sentence():
    for text in ("", "[]", "{}", '{"study": 1, "extra": 2}', "\x00"):
        with pytest.raises(RunError, match="not a run's spec"):
            specs.from_json(text)


@given(st.lists(st.integers(1, 7), max_size=6), st.sets(st.integers(0, 5)), st.integers(0, 40))
def test_the_gaps_and_the_parts_cover_every_instance_once(tmp_path_factory, sizes, missing, extra):
    folder = RunFolder(tmp_path_factory.mktemp("run"))
    folder.parts.mkdir()
    first, covered = 0, []
    for number, size in enumerate(sizes):
        if number not in missing:
            (folder.parts / f"{first:09d}-{first + size - 1:09d}.done").write_text('{"tables": []}')
            covered += range(first, first + size)
        first += size
    total = first + extra
    gaps = [place for start, end in folder.unfinished(total) for place in range(start, end + 1)]
    assert sorted(covered + gaps) == list(range(total))


def test_a_part_without_its_done_mark_does_not_count(settings):
    folder = RunFolder.create(settings.runs, SPEC)
    folder.write_part(0, 4, part(0, 4))
    folder.write_part(5, 9, part(5, 9))
    (folder.parts / "000000005-000000009.done").unlink()
    assert folder.finished() == [(0, 4)]
    assert folder.unfinished(10) == [(5, 9)]
    assert list(folder.read("measures")["instance_id"]) == [f"pairs/a/{i}" for i in range(5)]


def test_a_complete_run_that_lost_a_part_is_interrupted_so_that_resume_makes_it_again(settings):
    folder = RunFolder.create(settings.runs, SPEC)
    folder.write_part(0, 4, part(0, 4))
    folder.write_part(5, 9, part(5, 9))
    folder.write_progress(status="complete", total=10)
    assert folder.progress().status == "complete"
    (folder.parts / "000000005-000000009.done").unlink()
    assert (folder.progress().status, folder.progress().done) == ("interrupted", 5)


@pytest.mark.parametrize("text", ["", "[]", "\x00", '{"status": 3, "done": "x", "total": [], "created": null}'])
def test_a_damaged_progress_file_reads_as_an_interrupted_run(settings, text):
    folder = RunFolder.create(settings.runs, SPEC)
    folder.write_part(0, 4, part(0, 4))
    (folder.path / "progress.json").write_text(text)
    progress = folder.progress()
    assert progress.done == 5 and progress.total == 0
    assert progress.status in ("interrupted", "3")


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path):
    with pytest.raises(RunError, match="could not be written"):
        files.write_json(tmp_path / "nowhere" / "progress.json", {})


def test_a_value_that_could_not_be_had_is_stored_as_null_with_its_reason(settings):
    folder = RunFolder.create(settings.runs, SPEC)
    folder.write_part(0, 0, {"measures": [measure_row("pairs/a/0", "ips", math.nan, reason="shorter than 7 tokens")]})
    row = folder.read("measures").iloc[0]
    assert math.isnan(row["value"])
    assert row["reason"] == "shorter than 7 tokens"


def test_a_part_that_lost_a_file_is_done_again(settings):
    folder = RunFolder.create(settings.runs, SPEC)
    folder.write_part(0, 4, part(0, 4))
    folder.write_part(5, 9, part(5, 9))
    (folder.parts / "measures" / "000000000-000000004.parquet").unlink()
    assert folder.finished() == [(5, 9)]
    assert folder.unfinished(10) == [(0, 4)]
    folder.write_part(0, 1, part(0, 1))
    folder.write_part(2, 4, part(2, 4))
    assert sorted(folder.read("measures")["instance_id"]) == [f"pairs/a/{i}" for i in range(10)]


def test_a_damaged_part_is_named_in_the_message(settings):
    folder = RunFolder.create(settings.runs, SPEC)
    folder.write_part(0, 4, part(0, 4))
    damaged = folder.parts / "measures" / "000000000-000000004.parquet"
    damaged.write_bytes(damaged.read_bytes()[:40])
    with pytest.raises(RunError, match=r"000000000-000000004\.parquet is damaged"):
        folder.read("measures")


@pytest.mark.parametrize(("names", "what"), [(["instance_id"], "0 columns value"), (["value", "value"], "2 columns")])
def test_a_part_without_a_column_or_with_two_of_a_name_is_damaged(settings, names, what):
    folder = RunFolder.create(settings.runs, SPEC)
    folder.write_part(0, 4, part(0, 4))
    path = folder.parts / "measures" / "000000000-000000004.parquet"
    pq.write_table(pa.Table.from_arrays([pa.array(["x"])] * len(names), names), path)
    with pytest.raises(RunError, match=rf"is damaged \(it has {what}"):
        read_parquet(path, ["value"])


def test_columns_come_in_the_order_asked_for(settings):
    folder = RunFolder.create(settings.runs, SPEC)
    folder.write_part(0, 4, part(0, 4))
    assert list(folder.read("measures", ["value", "part", "instance_id"])) == ["value", "part", "instance_id"]


def test_a_column_that_the_schema_does_not_know_is_refused(settings):
    folder = RunFolder.create(settings.runs, SPEC)
    with pytest.raises(RunError, match="no column colour"):
        folder.write_part(0, 0, {"measures": [{"colour": "red"}]})
    assert folder.finished() == []


def test_a_lone_surrogate_is_stored_as_a_replacement_mark(settings):
    folder = RunFolder.create(settings.runs, SPEC)
    folder.write_part(0, 0, {"scores": [{"instance_id": "x", "continuation": "a\ud800b", "token_texts": ["\ud800"]}]})
    row = folder.read("scores").iloc[0]
    assert row["continuation"] == "a?b"
    assert list(row["token_texts"]) == ["?"]


def test_an_instance_survives_its_payload():
    instance = pair(3)
    assert instance_of(payload(instance)) == instance
    assert json.loads(payload(instance))["options"] == ["It is.", "It are."]


def test_a_worker_that_died_leaves_an_interrupted_run(settings):
    folder = RunFolder.create(settings.runs, SPEC)
    code = (
        "import os, sys\nfrom pathlib import Path\nfrom explorer.runs.folder import RunFolder\n"
        "folder = RunFolder(Path(sys.argv[1]))\nlock = folder.lock()\nlock.acquire()\n"
        "folder.write_progress(status='running', total=10)\nprint('held', flush=True)\nsys.stdin.read()\n"
    )
    worker = subprocess.Popen(
        [sys.executable, "-c", code, str(folder.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert worker.stdout.readline() == "held\n"
    assert folder.is_being_worked()
    assert folder.progress().status == "running"
    with pytest.raises(RunError, match="Cancel it first"):
        folder.delete()
    worker.kill()
    worker.wait()
    assert not folder.is_being_worked()
    assert folder.progress().status == "interrupted"
    folder.delete()
    assert not folder.path.exists()


def test_a_half_written_review_is_left_out_and_the_others_kept(settings):
    folder = RunFolder.create(settings.runs, SPEC)
    folder.add_review({"instance_id": "x", "verdict": "exact"})
    with folder.reviews.open("a") as file:
        file.write('{"instance_id": "y", "ver')
    assert [review["instance_id"] for review in folder.read_reviews()] == ["x"]


def test_a_cancel_mark_stops_and_can_be_cleared(settings):
    folder = RunFolder.create(settings.runs, SPEC)
    folder.stop_if_cancelled()
    folder.ask_to_cancel()
    with pytest.raises(Cancelled):
        folder.stop_if_cancelled()
    folder.clear_cancel()
    folder.stop_if_cancelled()


def test_an_id_may_be_shortened_as_long_as_it_is_the_only_one(settings):
    folder = RunFolder.create(settings.runs, SPEC)
    other = RunFolder.create(settings.runs, RunSpec("accuracy", 1, "toy", "pairs", seed=1))
    assert RunFolder.find(settings.runs, folder.run_id).path == folder.path
    assert RunFolder.find(settings.runs, other.run_id[:-2]).path == other.path
    with pytest.raises(RunError, match="2 runs") as caught:
        RunFolder.find(settings.runs, "accuracy-")
    # So that one of them can be copied.
    assert folder.run_id in str(caught.value) and other.run_id in str(caught.value)
    with pytest.raises(RunError, match="no run"):
        RunFolder.find(settings.runs, "priming")


def test_parts_that_overlap_count_each_instance_once(settings):
    folder = RunFolder.create(settings.runs, SPEC)
    folder.write_part(0, 4, part(0, 4))
    folder.write_part(3, 7, part(3, 7))
    assert folder.finished() == [(0, 4)]
    assert folder.unfinished(8) == [(5, 7)]
    folder.write_part(5, 7, part(5, 7))
    assert folder.unfinished(8) == []
    assert list(folder.read("measures")["instance_id"]) == [f"pairs/a/{i}" for i in range(8)]


def test_the_environments_of_the_parts_are_kept_and_told_apart(settings):
    folder = RunFolder.create(settings.runs, SPEC)
    for number, torch in enumerate(("2.13.0", "2.12.0")):
        stamp = folder.keep_environment({"packages": {"torch": torch}})
        folder.write_part(number, number, part(number, number), stamp)
    assert folder.environment == {"packages": {"torch": "2.12.0"}}
    assert len(folder.environments()) == 2
    assert folder.differences() in (["packages.torch: 2.13.0 or 2.12.0"], ["packages.torch: 2.12.0 or 2.13.0"])


def test_packages_are_asked_for_their_versions_once_a_process(settings, monkeypatch):
    asked: list[str] = []
    monkeypatch.setattr(environment.metadata, "version", lambda name: asked.append(name) or "1.0")
    environment._version.cache_clear()
    for _ in range(2):
        found = environment.collect(SPEC, Resources(settings), needs_model=False)
        assert found["packages"] == dict.fromkeys(environment.PACKAGES, "1.0")
    assert asked == list(environment.PACKAGES)
    environment._version.cache_clear()
