"""A run's folder in a bucket: whole parts alone come back from it."""

from __future__ import annotations

import shutil

import pytest

from explorer.errors import RunError
from explorer.records import RunSpec
from explorer.rows.builders import measure_row
from explorer.runs import bucket as buckets
from explorer.runs import environment
from explorer.runs.bucket import Bucket
from explorer.runs.folder import RunFolder

SPEC = RunSpec("accuracy", 1, "toy", "pairs")


@pytest.fixture
def bucket(tmp_path) -> Bucket:
    return Bucket(f"file://{tmp_path / 'bucket'}", "accuracy-1")


def send(bucket: Bucket, folder: RunFolder, first: int, last: int, mark: bool = True) -> None:
    rows = [measure_row(f"pairs/a/{number}", "correct", 1.0) for number in range(first, last + 1)]
    hashes = {}
    for table in folder.write_tables(first, last, {"measures": rows}):
        path = folder.parts / table / f"{first:09d}-{last:09d}.parquet"
        hashes[path.parent.name] = bucket.send(path, path.relative_to(folder.path).as_posix())
    if mark:
        bucket.mark(first, last, hashes, "made-here")


def test_marked_parts_come_back_and_others_do_not(bucket, settings, tmp_path):
    source = RunFolder.create(settings.runs, SPEC)
    send(bucket, source, 0, 4)
    send(bucket, source, 5, 9, mark=False)
    assert source.finished() == []
    back = RunFolder(tmp_path / "back")
    assert buckets.pull(bucket, back) == {}
    assert back.finished() == [(0, 4)]
    assert list(back.read("measures")["instance_id"]) == [f"pairs/a/{number}" for number in range(5)]
    assert back.environments() == {"made-here"}


def test_a_damaged_part_and_a_hostile_mark_are_left_out(bucket, settings, tmp_path):
    source = RunFolder.create(settings.runs, SPEC)
    send(bucket, source, 0, 4)
    send(bucket, source, 5, 9)
    bucket.write("parts/measures/000000005-000000009.parquet", b"half")
    bucket.write("parts/000000010-000000011.done", b'{"sha256": {"../../../escaped": ""}}')
    bucket.write("parts/000000012-000000013.done", b"half a mark")
    bucket.write("parts/no-part.done", b"{}")
    back = RunFolder(tmp_path / "back")
    damaged = buckets.pull(bucket, back)
    assert len(damaged) == 3
    assert "000000005-000000009.parquet is damaged" in damaged["000000005-000000009"]
    for name in damaged:
        bucket.unmark(name)
    assert set(bucket.marks()) == {"000000000-000000004", "no-part"}
    assert back.finished() == [(0, 4)]
    assert not list(tmp_path.rglob("escaped*"))


def test_parts_made_before_there_was_a_bucket_are_sent_to_it(bucket, settings, tmp_path):
    source = RunFolder.create(settings.runs, SPEC)
    send(bucket, source, 0, 4)
    assert buckets.pull(bucket, source) == {}
    source.write_part(5, 6, {"measures": [measure_row("pairs/a/5", "correct", 0.0)]}, "made-there")
    buckets.push(bucket, source)
    back = RunFolder(tmp_path / "back")
    assert buckets.pull(bucket, back) == {}
    assert back.finished() == source.finished() == [(0, 4), (5, 6)]
    assert back.read("measures").equals(source.read("measures"))
    assert back.environments() == {"made-here", "made-there"}


def test_a_bucket_that_is_empty_holds_no_part(bucket, tmp_path):
    assert bucket.marks() == {}
    assert buckets.pull(bucket, RunFolder(tmp_path / "back")) == {}


def test_a_write_that_fails_for_a_moment_is_tried_again_and_one_that_is_forbidden_is_not(bucket, monkeypatch):
    monkeypatch.setattr(buckets, "PAUSE", 0.0)
    system, tries = bucket._system, []
    put = system.pipe_file

    def shaky(path, data):
        tries.append(path)
        if len(tries) < 3:
            raise OSError("connection reset")
        put(path, data)

    monkeypatch.setattr(system, "pipe_file", shaky)
    bucket.write("spec.json", b"{}")
    assert bucket.read("spec.json") == b"{}" and len(tries) == 3

    def forbidden(path, data):
        tries.append(path)
        raise PermissionError("the token has expired")

    monkeypatch.setattr(system, "pipe_file", forbidden)
    with pytest.raises(RunError, match=r"could not be written \(the token has expired\). Renew the keys"):
        bucket.write("spec.json", b"{}")
    assert len(tries) == 4


def test_what_differs_between_environments_is_named():
    one = {"packages": {"torch": "2.13.0", "numpy": "2.4.6"}, "model": {"device": "cuda: NVIDIA H100"}}
    two = {"packages": {"torch": "2.12.0", "numpy": "2.4.6"}, "model": {"device": "cuda: NVIDIA H200"}}
    assert environment.differences([one, one]) == []
    assert environment.differences([one, two]) == [
        "model.device: cuda: NVIDIA H100 or cuda: NVIDIA H200",
        "packages.torch: 2.13.0 or 2.12.0",
    ]
    assert environment.stamp(one) != environment.stamp(two)


def test_a_folder_is_made_once_and_again_where_it_was_taken_away(bucket, tmp_path, monkeypatch):
    made = []
    plain = bucket._system.makedirs
    monkeypatch.setattr(
        bucket._system, "makedirs", lambda path, exist_ok: (made.append(path), plain(path, exist_ok=exist_ok))
    )
    for name in ("a", "b"):
        bucket.write(f"parts/scores/{name}", b"rows")
    assert len(made) == 1
    shutil.rmtree(tmp_path / "bucket")
    bucket.write("parts/scores/c", b"rows")
    assert bucket.read("parts/scores/c") == b"rows" and len(made) == 2
