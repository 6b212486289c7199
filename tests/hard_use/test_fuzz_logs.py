"""Whatever a log of another harness holds: it is read, its odd samples are left out with a reason, or it is refused."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from explorer import logs
from explorer.errors import ExplorerError

few = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

TEXT = st.text(st.characters(exclude_categories=()), max_size=12)
KEYS = st.sampled_from(
    [
        "acc",
        "arg_0",
        "arg_1",
        "answer",
        "choices",
        "content",
        "context",
        "gen_args_0",
        "message",
        "messages",
        "metadata",
        "metrics",
        "name",
        "results",
        "role",
        "scorer",
        "scores",
        "text",
        "value",
        "completion",
        "packages",
        "model",
        "task",
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT | st.sampled_from(["C", "I", "success"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | TEXT, inner, max_size=4),
    max_leaves=12,
)


def row(*names: str, **fixed: st.SearchStrategy) -> st.SearchStrategy:
    return st.fixed_dictionaries(fixed, optional=dict.fromkeys(names, JSON))


SAMPLE = row(
    "epoch", "choices", "target", "metadata", "output", "scores", "error", "attachments", id=JSON, input=JSON | TEXT
)  # fmt: skip
INSPECT = row(
    "version",
    "status",
    "results",
    "stats",
    eval=JSON | row("packages", "model", "task"),
    samples=JSON | st.lists(SAMPLE, max_size=3),
)
LINE = row(
    "target", "resps", "filtered_resps", "filter", "metrics", "acc", "acc_norm", "doc_hash", "exact_match",
    doc_id=st.integers(0, 3) | JSON, doc=JSON, arguments=JSON | st.lists(st.lists(TEXT, max_size=2), max_size=3),
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("logs")


def read_or_refused(path: Path) -> None:
    try:
        log = logs.read(path)
    except ExplorerError as error:
        assert str(error).strip()
        return
    assert log.samples
    assert all(dropped.where and dropped.reason for dropped in log.dropped)


@few
@given(st.lists(LINE | JSON, max_size=4))
def test_any_lines_of_samples(folder, rows):
    path = folder / "samples_task_2026-01-01T00-00-00.000000.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    read_or_refused(path)


@few
@given(INSPECT | JSON)
@example({"version": 2, "eval": {}, "samples": True})
@example({"eval": {}, "samples": [{"id": 1, "input": "x", "epoch": "one", "scores": [3], "output": "y"}]})
def test_any_log_of_inspect(folder, value):
    path = folder / "log.json"
    path.write_text(json.dumps(value))
    read_or_refused(path)


@few
@given(
    st.dictionaries(
        st.sampled_from(["header.json", "_journal/start.json", "samples/1.json", "../x"]), INSPECT | SAMPLE | JSON
    )
)
@example({"header.json": None})
def test_any_archive_of_inspect(folder, files):
    path = folder / "log.eval"
    with zipfile.ZipFile(path, "w") as archive:
        for name, value in files.items():
            archive.writestr(name, json.dumps(value))
    read_or_refused(path)
    assert not (folder.parent / "x").exists()


@few
@given(st.binary(max_size=200), st.sampled_from(["json", "jsonl", "eval", "jsonl.gz", "json.gz"]))
@example(b"[" * 100_000, "json")
@example(b"[" * 100_000, "jsonl")
@example(b"PK\x03\x04", "eval")
@example(gzip.compress(b'{"doc_id": 1}' * 100)[:-5], "jsonl.gz")
def test_any_bytes(folder, data, ending):
    path = folder / f"samples_task.{ending}"
    path.write_bytes(data)
    read_or_refused(path)
