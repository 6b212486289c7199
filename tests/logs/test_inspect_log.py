"""Logs of Inspect as JSON and as .eval, whole, unfinished and damaged."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from explorer import logs
from explorer.errors import LogError


def sample(number: int, value: Any = "C", epoch: int = 1, **changes: Any) -> dict[str, Any]:
    return {
        "id": number,
        "epoch": epoch,
        "input": f"Question {number}?",
        "target": "A",
        "choices": ["yes", "no"],
        "messages": [],
        "output": {"model": "mockllm/model", "choices": [{"message": {"content": "ANSWER: A"}, "stop_reason": "stop"}]},
        "scores": {"choice": {"value": value, "answer": "A"}},
        "metadata": {},
        **changes,
    }


def header(**changes: Any) -> dict[str, Any]:
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "task": "mine/quiz",
            "model": "mockllm/model",
            "packages": {"inspect_ai": "0.3.100"},
            "model_args": {"api_key": "sk-hidden", "seed": 1},
        },
        "results": {"scores": [{"name": "choice", "scorer": "choice", "metrics": {"accuracy": {"value": 0.5}}}]},
        **changes,
    }


def as_json(folder: Path, samples: list, **changes: Any) -> Path:
    path = folder / "log.json"
    path.write_text(json.dumps({**header(**changes), "samples": samples}))
    return path


def as_eval(folder: Path, samples: list, head: str = "header.json", **changes: Any) -> Path:
    path = folder / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(head, json.dumps(header(**changes)))
        for one in samples:
            data = one if isinstance(one, bytes) else json.dumps(one)
            name = "x" if isinstance(one, bytes) else f"{one['id']}_epoch_{one['epoch']}"
            archive.writestr(f"samples/{name}.json", data)
    return path


@pytest.mark.parametrize("write", [as_json, as_eval])
def test_both_forms_say_the_same(tmp_path, write):
    log = logs.read(write(tmp_path, [sample(1), sample(2, "I"), sample(3, "P"), sample(4, "N")]))
    assert (log.source, log.version, log.task, log.model) == ("Inspect", "0.3.100", "quiz", "mockllm/model")
    assert [one.correct for one in log.samples] == [1.0, 0.0, 0.5, 0.0]
    first = log.samples[0]
    assert (first.gold, first.chosen, first.choices) == (0, 0, ("yes", "no"))
    assert (first.written[0].prompt, first.written[0].text) == ("Question 1?", "ANSWER: A")
    assert log.results == {"accuracy,choice": 0.5}
    assert "sk-hidden" not in json.dumps(log.record)


def test_long_texts_are_put_back_and_conversations_read(tmp_path):
    turns = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Who?"}]},
    ]
    long = sample(1, input="attachment://abc123", attachments={"abc123": "A very long question?"})
    log = logs.read(as_json(tmp_path, [long, sample(2, input=turns)]))
    assert log.samples[0].written[0].prompt == "A very long question?"
    assert log.samples[1].written[0].prompt == "system: Be brief.\n\nuser: Who?"


def test_epochs_are_one_sample_with_the_verdict_of_the_first(tmp_path):
    log = logs.read(as_eval(tmp_path, [sample(1, "I", 2), sample(1, "C", 1), sample(1, "C", 3)]))
    (only,) = log.samples
    assert only.correct == 1.0 and "first of 3 epochs" in only.reason
    assert [(one.value, one.repeat) for one in only.metrics] == [(1.0, 0), (0.0, 1), (1.0, 2)]


def test_what_was_not_scored_has_its_reason(tmp_path):
    failed = sample(1, scores=None, error={"message": "Timed\nout", "traceback": "..."})
    log = logs.read(as_json(tmp_path, [failed, sample(2, 0.37), sample(3, True), sample(4, {"a": 1, "b": "I"})]))
    assert log.samples[0].reason == "error: Timed out"
    assert "0.37 is no verdict" in log.samples[1].reason and log.samples[1].metrics[0].value == 0.37
    assert log.samples[2].correct == 1.0
    assert [(one.name, one.value) for one in log.samples[3].metrics] == [("choice/a", 1.0), ("choice/b", 0.0)]


def test_damaged_and_doubled_entries_are_told_and_the_others_kept(tmp_path):
    path = as_eval(tmp_path, [sample(1), b"{cut", sample(2)])
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("samples/again.json", json.dumps(sample(1, "I")))
        archive.writestr("samples/other.json", json.dumps({"hello": 1}))
    log = logs.read(path)
    assert [one.key for one in log.samples] == ["1", "2"]
    told = {one.where: one.reason for one in log.dropped}
    assert "damaged" in told["samples/x.json"] and "the first is kept" in told["samples/again.json"]
    assert "no id or no input" in told["samples/other.json"]


def test_an_unfinished_log_and_a_newer_one_are_read_and_said(tmp_path):
    unfinished = logs.read(as_eval(tmp_path, [sample(1)], head="_journal/start.json", status=None))
    assert "unfinished" in unfinished.remarks[0] and len(unfinished.samples) == 1
    newer = logs.read(as_json(tmp_path, [sample(1)], version=7))
    assert "format 7" in newer.remarks[0]


def test_a_zip_that_is_no_log_is_one_sentence(tmp_path):
    path = tmp_path / "x.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "b")
    with pytest.raises(LogError, match=r"without header\.json"):
        logs.read(path)
    with pytest.raises(LogError, match="holds no sample"):
        logs.read(as_json(tmp_path, []))
    cut = tmp_path / "cut.eval"
    cut.write_bytes(as_eval(tmp_path, [sample(1)]).read_bytes()[:-30])
    with pytest.raises(LogError):
        logs.read(cut)
