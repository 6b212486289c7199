"""Runs from elsewhere whose hashes are right and whose rows do not belong together: refused in one sentence."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from explorer.errors import RunError
from explorer.resources import Resources
from explorer.results import broken_off
from explorer.rows.schema import schema_of
from explorer.runs import shards
from explorer.runs.folder import RunFolder
from tests.hard_use.test_hostile_runs import as_bytes, files_in_archive, first_of, written

Rows = list[dict[str, Any]]


def first(**changes: Any) -> Callable[[Rows], Rows]:
    return lambda rows: [{**rows[0], **changes}, *rows[1:]]


def all_the_same(rows: Rows) -> Rows:
    def payload(text: str) -> str:
        return json.dumps({**json.loads(text), "id": rows[0]["instance_id"]})

    return [{**row, "instance_id": rows[0]["instance_id"], "payload": payload(row["payload"])} for row in rows]


def renamed(rows: Rows) -> Rows:
    return [
        {**row, "instance_id": f"other/{n}", "payload": json.dumps({**json.loads(row["payload"]), "id": f"other/{n}"})}
        for n, row in enumerate(rows)
    ]


CHANGES: dict[str, tuple[str, Callable[[Rows], Rows], str]] = {
    "an id that leads out": ("scores", first(instance_id="../../x"), "not of this part"),
    "another id in measures": ("measures", first(instance_id="starter_pairs/none/1"), "not of this part"),
    "no id": ("scores", first(instance_id=None), "not of this part"),
    "scores doubled": ("scores", lambda rows: rows + rows, "there twice"),
    "measures doubled": ("measures", lambda rows: rows + rows[-1:], "there twice"),
    "no scores": ("scores", lambda rows: [], "have no row in scores"),
    "no measures": ("measures", lambda rows: [], "have no row in measures"),
    "an instance without scores": (
        "scores",
        lambda rows: [row for row in rows if row["instance_id"] != rows[0]["instance_id"]],
        "1 of its",
    ),
    "ids all the same": ("instances", all_the_same, "not of this part|there twice"),
    "instances that nothing names": ("instances", renamed, "not of this part"),
    "an id that is not the payload's": ("instances", first(instance_id="a/b/c"), "another instance"),
    "a probability above one": ("scores", first(logprob=5.0), "logprob holds 5"),
    "a token above one": ("scores", first(token_logprobs=[0.5]), "token_logprobs holds 0.5"),
    "fewer than no tokens": ("scores", first(tokens=-1), "tokens counts -1"),
    "fewer than none scored": ("scores", first(scored=-3), "scored counts -3"),
    "fewer than no characters": ("scores", first(chars=-1), "chars counts -1"),
    "fewer than no bytes": ("scores", first(bytes=-1), "bytes counts -1"),
    "a request below nothing": ("scores", first(request=-1), "request counts -1"),
    "a name without end": ("scores", first(role="x" * 20_000), "20,000 characters"),
    "a text without end": ("scores", first(continuation="x" * 10_000_001), "10,000,001 characters"),
}  # fmt: skip


def with_right_hashes(entries: dict[str, bytes]) -> dict[str, bytes]:
    """The archive as one would make it who knows how: every hash is that of the file as it is now."""
    for name in [name for name in entries if name.endswith(".done")]:
        mark = json.loads(entries[name])
        mark.pop("check")
        part = "all" if name.endswith("findings.done") else name.split("/")[1].removesuffix(".done")
        files = {table: entries[f"parts/{table}/{part}.parquet"] for table in mark["tables"]}
        mark["sha256"] = {table: hashlib.sha256(data).hexdigest() for table, data in files.items()}
        entries[name] = json.dumps(mark).encode()
    sums = [f"{hashlib.sha256(data).hexdigest()}  {name}" for name, data in entries.items() if name != "SHA256SUMS"]
    entries["SHA256SUMS"] = "\n".join(sums).encode()
    return entries


def change(entries: dict[str, bytes], table: str, do: Callable[[Rows], Rows]) -> None:
    name = first_of(entries, table)
    rows = do(pq.read_table(io.BytesIO(entries[name])).to_pylist())
    entries[name] = as_bytes(pa.Table.from_pylist(rows, schema=schema_of(table)))


@pytest.mark.parametrize("how", CHANGES)
def test_rows_that_do_not_belong_to_their_part_are_refused_though_every_hash_is_right(
    how, run, elsewhere, tmp_path, one_sentence
):
    settings, folder = run
    table, do, said = CHANGES[how]
    entries = files_in_archive(folder, settings)
    change(entries, table, do)
    path = written(tmp_path / "made.zip", with_right_hashes(entries))
    with pytest.raises(RunError, match=said) as caught:
        broken_off.import_archive(path, Resources(elsewhere))
    one_sentence(str(caught.value))
    assert not list(elsewhere.runs.iterdir())


def test_a_table_that_the_mark_does_not_name_is_missed(run, elsewhere, tmp_path):
    settings, folder = run
    entries = files_in_archive(folder, settings)
    done = next(name for name in sorted(entries) if name.endswith(".done"))
    mark = json.loads(entries[done])
    entries[done] = json.dumps({**mark, "tables": [name for name in mark["tables"] if name != "scores"]}).encode()
    with pytest.raises(RunError, match="have no row in scores"):
        broken_off.import_archive(written(tmp_path / "fewer.zip", with_right_hashes(entries)), Resources(elsewhere))


def test_parts_that_share_an_instance_are_refused(run, elsewhere, tmp_path):
    settings, folder = run
    (one, until), (two, end) = folder.finished()[:2]
    names = [f"{first:09d}-{last:09d}" for first, last in ((one, until), (two, end))]
    entries = files_in_archive(folder, settings)
    tables = json.loads(entries[f"parts/{names[0]}.done"])["tables"]
    frames = {
        table: [pq.read_table(io.BytesIO(entries[f"parts/{table}/{name}.parquet"])).to_pylist() for name in names]
        for table in tables
    }
    old, new = (rows[0]["instance_id"] for rows in frames["instances"])
    for table, (_, rows) in frames.items():
        for row in rows:
            if row["instance_id"] == new:
                row["instance_id"] = old
            if table == "instances" and row["instance_id"] == old:
                row["payload"] = json.dumps({**json.loads(row["payload"]), "id": old})
        entries[f"parts/{table}/{names[1]}.parquet"] = as_bytes(pa.Table.from_pylist(rows, schema=schema_of(table)))
    with pytest.raises(RunError, match="another part has"):
        broken_off.import_archive(written(tmp_path / "shared.zip", with_right_hashes(entries)), Resources(elsewhere))


def test_a_run_as_it_was_exported_passes(run, elsewhere, tmp_path):
    settings, folder = run
    path = written(tmp_path / "honest.zip", with_right_hashes(files_in_archive(folder, settings)))
    back, new = broken_off.import_archive(path, Resources(elsewhere))
    assert new and back.progress().status == "complete" and len(back.read("scores")) == len(folder.read("scores"))


def test_a_merge_refuses_such_rows_too(run, settings, tmp_path, one_sentence):
    _, folder = run
    source = tmp_path / "source" / folder.run_id
    source.parent.mkdir()
    folder.path.rename(source)
    theirs = RunFolder(source)
    start, end = theirs.finished()[0]
    name = f"{start:09d}-{end:09d}"
    tables = {
        table: pq.read_table(theirs.parts / table / f"{name}.parquet").to_pylist() for table in theirs.mark(name).tables
    }
    theirs.write_part(start, end, {**tables, "scores": [*tables["scores"], tables["scores"][0]]})
    with pytest.raises(RunError, match="there twice") as caught:
        shards.merge(source.parent, settings.runs)
    one_sentence(str(caught.value))
