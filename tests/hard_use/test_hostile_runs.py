"""Run folders and archives made to do harm: a quiet row that can be deleted, or a sentence, and nothing left behind."""

from __future__ import annotations

import io
import json
import os
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from explorer import settings as settings_module
from explorer.__main__ import main
from explorer.errors import RunError
from explorer.resources import Resources
from explorer.results import archive, broken_off
from explorer.results import store as stores
from explorer.rows.schema import schema_of
from explorer.runs import queue, shards
from explorer.runs import spec as specs
from explorer.runs.folder import RunFolder

NAN = float("nan")
NAME = "accuracy-0123456789ab"

# --- folders that somebody put among the runs


def spec_with(**changes: Any) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        fields = json.loads((path / "spec.json").read_text())
        (path / "spec.json").write_text(json.dumps({**fields, **changes}))

    return write


def progress_with(**changes: Any) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        told = {name: value for name, value in json.loads((path / "progress.json").read_text()).items()}
        told.pop("check")
        (path / "progress.json").write_text(json.dumps({**told, **changes}))

    return write


def instead(name: str, make: Callable[[Path], Any]) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        target = path / name
        shutil.rmtree(target) if target.is_dir() else target.unlink(missing_ok=True)
        make(target)

    return write


def text(data: str) -> Callable[[Path], Any]:
    return lambda target: target.write_text(data)


FOLDERS: dict[str, Callable[[Path], None]] = {
    "created is no number": progress_with(created=NAN),
    "created in a hundred billion years": progress_with(created=1e20),
    "created before everything": progress_with(created=-1e20),
    "created is a text": progress_with(created="yesterday"),
    "created is infinite": progress_with(created=float("inf"), updated=float("-inf")),
    "more done than there is": progress_with(done=10**30, total=-5, rate=NAN, eta=float("inf"), status="running"),
    "a status of its own": progress_with(status="<script>", message={"a": 1}),
    "a message of a megabyte": progress_with(message="x" * 10**6, imported="y" * 10**6),
    "progress nested without end": instead("progress.json", text("[" * 100_000)),
    "progress is a folder": instead("progress.json", Path.mkdir),
    "progress is a pipe": instead("progress.json", os.mkfifo),
    "progress is a huge number": instead("progress.json", text('{"created": ' + "9" * 5000 + "}")),
    "a study that leads out": spec_with(study="../../x"),
    "a study that is none": spec_with(study="divination"),
    "a version that is a text": spec_with(version="1"),
    "a seed beyond all": spec_with(seed=10**40),
    "another run's spec": spec_with(seed=77),
    "settings nested without end": spec_with(settings={"a": json.loads("[" * 50 + "]" * 50)}),
    "settings that are no numbers": spec_with(settings={"a": NAN}),
    "a model with a line break": spec_with(model="a\nb"),
    "a model of a megabyte": spec_with(model="m" * 10**6),
    "spec is a folder": instead("spec.json", Path.mkdir),
    "spec is a pipe": instead("spec.json", os.mkfifo),
    "spec is a device": instead("spec.json", lambda target: target.symlink_to("/dev/zero")),
    "spec leads to itself": instead("spec.json", lambda target: target.symlink_to(target.name)),
    "spec is not text": instead("spec.json", lambda target: target.write_bytes(b"\xff\xfe\x00")),
    "spec is a list": instead("spec.json", text("[]")),
    "parts is a file": instead("parts", text("x")),
    "parts leads nowhere": instead("parts", lambda target: target.symlink_to("/nowhere/at/all")),
    "a mark that is a pipe": lambda path: os.mkfifo(path / "parts" / "000000099-000000100.done"),
    "a mark that leads out": lambda path: (path / "parts" / "000000099-000000100.done").write_text(
        json.dumps({"tables": ["../../../secret"]})
    ),
    "an environment without end": instead("environment.json", text('{"a":' * 5000 + "1" + "}" * 5000)),
    "a verdict without end": instead("reviews.jsonl", text('{"verdict":' * 5000 + "1" + "}" * 5000 + "\n[1]\n")),
}  # fmt: skip


@pytest.mark.parametrize("how", FOLDERS)
def test_a_folder_made_to_do_harm_is_one_quiet_row_that_can_be_deleted(how, run, capsys, monkeypatch, one_sentence):
    settings, good = run
    path = settings.runs / good.run_id
    bad = settings.runs / NAME
    shutil.copytree(path, bad)
    FOLDERS[how](bad)
    where = ["--cache", str(settings.cache)]

    assert main(["runs", *where]) == 0
    listed = capsys.readouterr().out
    assert NAME in listed and good.run_id in listed and max(map(len, listed.splitlines())) < 1500
    assert main(["runs", "--json", *where]) == 0
    rows = {row["run_id"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows[NAME]["created"][:2] in ("19", "20") and rows[good.run_id]["status"] == "complete"
    assert rows[NAME]["status"] == queue.DAMAGED, "its name is not the hash of its spec"
    one_sentence(rows[NAME]["message"])
    assert stores.rebuild_database(settings)[0] == 1

    assert main(["resume", NAME, *where]) == 1
    assert "Traceback" not in capsys.readouterr().err
    assert main(["delete", NAME, *where]) == 0
    assert not bad.exists() and not bad.is_symlink() and path.exists()
    assert [info.run_id for info in queue.list_runs(settings)] == [good.run_id]


# The same under the name that the spec gives, so that only what is in it does harm.
OF_THE_SPEC = ("a study", "a seed", "spec", "another", "a version", "settings", "a model")
RIGHT = [how for how in FOLDERS if not how.startswith(OF_THE_SPEC)]


@pytest.mark.parametrize("how", RIGHT)
def test_a_run_of_hostile_files_is_listed_and_shown(how, run, monkeypatch):
    from tests.hard_use.test_wrecked_pages import opened

    settings, good = run
    FOLDERS[how](good.path)
    app = opened("pages/runs.py", settings, monkeypatch, shown=good.run_id)
    assert not app.exception and len(app.title) == 1
    info = queue.info(good)
    assert info.status in ("complete", "interrupted") and 0 <= info.created < 4.2e9 and len(info.message) <= 2000


@pytest.mark.parametrize("how", ["a study that leads out", "spec is a pipe", "created is no number"])
def test_the_page_of_runs_comes_up_with_such_a_folder_and_deletes_it(how, run, monkeypatch):
    from tests.hard_use.test_wrecked_pages import opened

    settings, good = run
    shutil.copytree(good.path, settings.runs / NAME)
    FOLDERS[how](settings.runs / NAME)
    app = opened("pages/runs.py", settings, monkeypatch, shown=NAME)
    assert not app.exception
    app.button(key="run:really").click().run()
    assert not app.exception and not (settings.runs / NAME).exists() and good.path.exists()


def test_a_folder_without_a_spec_is_a_row_and_a_link_is_deleted_without_what_it_leads_to(run, tmp_path, capsys):
    settings, good = run
    (settings.runs / NAME / "parts").mkdir(parents=True)
    os.utime(settings.runs / NAME, (1e9, 1e9))
    other = tmp_path / "elsewhere"
    shutil.copytree(good.path, other)
    (settings.runs / "accuracy-ffffffffffff").symlink_to(other)
    names = {info.run_id: info.status for info in queue.list_runs(settings)}
    assert names[NAME] == names["accuracy-ffffffffffff"] == queue.DAMAGED
    for name in (NAME, "accuracy-ffffffffffff"):
        assert main(["delete", name, "--cache", str(settings.cache)]) == 0
    assert other.exists() and [info.run_id for info in queue.list_runs(settings)] == [good.run_id]


# --- archives


def files_in_archive(folder: RunFolder, settings) -> dict[str, bytes]:
    file = io.BytesIO()
    archive.pack_archive(folder, file, settings)
    with zipfile.ZipFile(file) as found:
        return {name: found.read(name) for name in found.namelist()}


@pytest.fixture(scope="module")
def packed_once(finished: tuple[Path, str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files in the archive of the finished run."""
    cache, run_id = finished
    settings = settings_module.read(cache=shutil.copytree(cache, tmp_path_factory.mktemp("packed") / "cache"))
    return files_in_archive(RunFolder(settings.runs / run_id), settings)


@pytest.fixture
def packed(packed_once: dict[str, bytes]) -> dict[str, bytes]:
    """The same, for a test to change."""
    return dict(packed_once)


def written(path: Path, entries: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as out:
        for name, data in entries.items():
            out.writestr(name, data)
    return path


def without_sums(entries: dict[str, bytes]) -> dict[str, bytes]:
    """As a version before hashes packed it, so that only what the files say can refuse it."""
    kept = {name: data for name, data in entries.items() if name != "SHA256SUMS"}
    for name in kept:
        if name.endswith(".done"):
            kept[name] = json.dumps({"tables": json.loads(kept[name])["tables"], "environment": "e"}).encode()
    return kept


def in_json(name: str, **changes: Any) -> Callable[[dict[str, bytes]], None]:
    def change(entries: dict[str, bytes]) -> None:
        fields = json.loads(entries[name])
        fields.pop("check", None)
        entries[name] = json.dumps({**fields, **changes}).encode()

    return change


def in_table(table: str, column: str, value: Any) -> Callable[[dict[str, bytes]], None]:
    """The first row of a table with another value."""

    def change(entries: dict[str, bytes]) -> None:
        name = next(name for name in sorted(entries) if name.startswith(f"parts/{table}/"))
        found = pq.read_table(io.BytesIO(entries[name]))
        rows = found.to_pylist()
        rows[0][column] = value
        entries[name] = as_bytes(pa.Table.from_pylist(rows, schema=schema_of(table)))

    return change


def as_bytes(table: pa.Table) -> bytes:
    file = io.BytesIO()
    pq.write_table(table, file, write_statistics=False)
    return file.getvalue()


def first_of(entries: dict[str, bytes], table: str) -> str:
    return next(name for name in sorted(entries) if name.startswith(f"parts/{table}/"))


def put(name: str, data: bytes) -> Callable[[dict[str, bytes]], None]:
    return lambda entries: entries.__setitem__(name, data)


def other_columns(entries: dict[str, bytes]) -> None:
    entries[first_of(entries, "scores")] = as_bytes(pa.table({"a": [1]}))


def other_types(entries: dict[str, bytes]) -> None:
    name = first_of(entries, "scores")
    found = pq.read_table(io.BytesIO(entries[name]))
    place = found.schema.get_field_index("logprob")
    entries[name] = as_bytes(found.set_column(place, "logprob", pa.array(["x"] * len(found))))


def one_column_more(entries: dict[str, bytes]) -> None:
    name = first_of(entries, "measures")
    found = pq.read_table(io.BytesIO(entries[name]))
    entries[name] = as_bytes(found.append_column("more", pa.array([1] * len(found))))


def a_row_twice(entries: dict[str, bytes]) -> None:
    name = first_of(entries, "instances")
    found = pq.read_table(io.BytesIO(entries[name]))
    entries[name] = as_bytes(pa.concat_tables([found, found.slice(0, 1)]))


def endless_texts(entries: dict[str, bytes]) -> None:
    name = first_of(entries, "scores")
    row = pq.read_table(io.BytesIO(entries[name])).slice(0, 1).to_pylist()[0]
    long = pa.Table.from_pylist([{**row, "context": "x" * 10**6}], schema=schema_of("scores"))
    entries[name] = as_bytes(pa.concat_tables([long] * 1100))


SPEC, PROGRESS = "spec.json", "progress.json"
ARCHIVES: dict[str, Callable[[dict[str, bytes]], None]] = {
    "a study that leads out": in_json(SPEC, study="../../x"),
    "an absolute study": in_json(SPEC, study="/tmp/x"),
    "a study that is none": in_json(SPEC, study="astrology"),
    "a study that is a list": in_json(SPEC, study=["accuracy"]),
    "an empty study": in_json(SPEC, study=""),
    "a field of its own": in_json(SPEC, command="rm"),
    "a limit below nothing": in_json(SPEC, limit=-3),
    "a truth for a number": in_json(SPEC, seed=True),
    "a seed of a thousand digits": in_json(SPEC, seed=10**1000),
    "settings without end": put(SPEC, b'{"settings":' * 50_000),
    "settings that are no numbers": in_json(SPEC, settings={"a": NAN}),
    "a benchmark with a NUL": in_json(SPEC, benchmark="a\0b"),
    "a spec of 30 MB": put(SPEC, b" " * (30 << 20)),
    "a spec that is no text": put(SPEC, b"\xff\xfe"),
    "created is no number": in_json(PROGRESS, created=NAN),
    "created in a hundred billion years": in_json(PROGRESS, created=1e20),
    "created below nothing": in_json(PROGRESS, created=-1.0),
    "a status of its own": in_json(PROGRESS, status="done"),
    "more done than can be": in_json(PROGRESS, done=10**20),
    "progress is a list": put(PROGRESS, b"[]"),
    "progress nested without end": put(PROGRESS, b"[" * 100_000),
    "a message of two megabytes": in_json(PROGRESS, message="x" * 2_000_000),
    "an environment without end": put("environment.json", b'{"a":' * 500 + b"1" + b"}" * 500),
    "an environment that is no object": put("environment.json", b"3"),
    "a verdict that is no object": put("reviews.jsonl", b"[1, 2]\n"),
    "a verdict of no number": put("reviews.jsonl", b'{"instance_id": "a", "at": 1e999}\n'),
    "a mark that leads out": lambda entries: in_json(
        next(name for name in sorted(entries) if name.endswith("55.done") or name.endswith(".done")),
        tables=["../../../../etc"],
    )(entries),
    "a mark that is no JSON": lambda entries: entries.update(
        {next(name for name in sorted(entries) if name.endswith(".done")): b"{"}
    ),
    "a probability that is no number": in_table("scores", "logprob", NAN),
    "an infinite measure": in_table("measures", "value", float("inf")),
    "a finding beyond all": in_table("findings", "value", 1e300),
    "an infinite token": in_table("scores", "token_logprobs", [float("-inf")]),
    "a detail that is no JSON": in_table("findings", "detail", "{"),
    "a detail that is a list": in_table("findings", "detail", "[1]"),
    "an instance that is none": in_table("instances", "payload", '{"id": 3}'),
    "an instance without end": in_table("instances", "payload", "[" * 100_000),
    "an instance of another place": in_table("instances", "position", 7_000),
    "an instance twice": a_row_twice,
    "other columns": other_columns,
    "other types": other_types,
    "one column more": one_column_more,
    "texts without end": endless_texts,
    "a part that is no Parquet": lambda entries: entries.update({first_of(entries, "scores"): b"PAR1" * 99}),
    "a huge mark": lambda entries: entries.update(
        {next(name for name in sorted(entries) if name.endswith(".done")): b"{" + b" " * (1 << 20) + b"}"}
    ),
}


@pytest.mark.parametrize("how", ARCHIVES)
def test_an_archive_made_to_do_harm_is_refused_and_leaves_nothing(how, packed, elsewhere, tmp_path, one_sentence):
    entries = without_sums(packed)
    ARCHIVES[how](entries)
    before = set(tmp_path.rglob("*"))
    path = written(tmp_path / "hostile.zip", entries)
    with pytest.raises(RunError) as caught:
        broken_off.import_archive(path, Resources(elsewhere))
    one_sentence(str(caught.value))
    left = {each for each in set(tmp_path.rglob("*")) - before if each.is_file() and each.suffix != ".lock"}
    assert left <= {path}, left


def test_an_archive_of_an_earlier_version_without_hashes_still_comes_in(run, packed, elsewhere, tmp_path):
    _, folder = run
    path = written(tmp_path / "old.zip", without_sums(packed))
    back, new = broken_off.import_archive(path, Resources(elsewhere))
    assert new and back.progress().status == "complete" and not back.damaged()
    pd.testing.assert_frame_equal(back.read("scores"), folder.read("scores"))


def test_a_bomb_among_the_archives_is_refused_by_what_it_unpacks_to(packed, elsewhere, tmp_path, one_sentence):
    packed[first_of(packed, "scores")] = bytes(300 << 20)
    path = written(tmp_path / "bomb.zip", packed)
    assert path.stat().st_size < 2 << 20
    with pytest.raises(RunError, match="unpacks to more than") as caught:
        broken_off.import_archive(path, Resources(elsewhere))
    one_sentence(str(caught.value))
    assert not list(elsewhere.runs.iterdir()) and not list(elsewhere.cache.glob("unpacking-*"))


# --- whose word is followed


def brought(packed, elsewhere, tmp_path, changes: dict[str, Any]) -> RunFolder:
    """A run of these changes, imported unfinished, as somebody could make it by hand."""
    entries = without_sums(packed)
    in_json(SPEC, **changes)(entries)
    in_json(PROGRESS, status="interrupted", total=60)(entries)
    kept = {name: data for name, data in entries.items() if not name.startswith("parts/")}
    return broken_off.import_archive(written(tmp_path / "asked.zip", kept), Resources(elsewhere))[0]


@pytest.mark.parametrize(
    "changes",
    [
        {"benchmark": "SECRET", "model": "gemma-3-270m"},
        {"benchmark": "imported_mine", "data_hash": "", "model": "gemma-3-270m"},
        {"model": "http://127.0.0.1:9/v1#m"},
        {"model": "openai:gpt-4"},
        {"model": "/etc", "weights": ""},
        {"model": "gemma-3-270m", "settings": {"judge": "http://127.0.0.1:9/v1#m"}},
        {"model": "gemma-3-270m", "settings": {"index": "/home/somebody/index"}},
    ],
    ids=str,
)
def test_an_imported_run_reads_no_file_and_asks_no_server_when_it_is_resumed(
    changes, packed, elsewhere, tmp_path, capsys, one_sentence
):
    secret = tmp_path / "secret.csv"
    secret.write_text("GO:0000001;the secret label\n")
    changes = {name: str(secret) if value == "SECRET" else value for name, value in changes.items()}
    made = brought(packed, elsewhere, tmp_path, changes)
    assert main(["resume", made.run_id, "--cache", str(elsewhere.cache)]) == 1
    assert "was asked for elsewhere" in one_sentence(capsys.readouterr().err)
    with pytest.raises(RunError, match="was asked for elsewhere"):
        queue.resume(elsewhere, made.run_id)
    assert not made.finished()


def test_a_merge_follows_no_link_and_no_mark_out_of_its_folder(run, settings, tmp_path):
    _, folder = run
    source, secret = tmp_path / "source", tmp_path / "secret"
    shutil.move(folder.path, source / folder.run_id)
    secret.write_text("a secret")
    theirs = RunFolder(source / folder.run_id)
    (theirs.path / "kept.json").symlink_to(secret)
    (theirs.path / "more").symlink_to(tmp_path)
    (theirs.parts / "000000900-000000901.done").write_text(json.dumps({"tables": ["../../secret"]}))
    assert shards.merge(source, settings.runs) == [theirs.run_id]
    here = RunFolder(settings.runs / theirs.run_id)
    assert here.finished() == theirs.finished() and here.progress().status == "complete"
    assert not (here.path / "kept.json").exists() and not (here.path / "more").exists()


def test_the_id_of_every_run_is_the_hash_of_its_spec(run):
    _, folder = run
    assert specs.run_id(folder.spec) == folder.run_id
