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
    assert (first.answers[0].prompt, first.answers[0].text) == ("Question 1?", "ANSWER: A")
    assert log.results == {"accuracy,choice": 0.5}
    assert "sk-hidden" not in json.dumps(log.record)


def test_long_texts_are_put_back_and_conversations_read(tmp_path):
    turns = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Who?"}]},
    ]
    long = sample(1, input="attachment://abc123", attachments={"abc123": "A very long question?"})
    log = logs.read(as_json(tmp_path, [long, sample(2, input=turns)]))
    assert log.samples[0].answers[0].prompt == "A very long question?"
    assert log.samples[1].answers[0].prompt == "system: Be brief.\n\nuser: Who?"


def with_epochs(*reducers: str, **results: Any) -> dict[str, Any]:
    about = header()
    config = {"epochs": 3, "epochs_reducer": list(reducers)} if reducers else {"epochs": 3}
    scores = [
        {
            "name": "choice",
            "scorer": "choice",
            "reducer": name,
            "metrics": {"accuracy": {"value": results.get(name, 0.5)}},
        }
        for name in reducers or ("mean",)
    ]
    return {"eval": {**about["eval"], "config": config}, "results": {"scores": scores}}


@pytest.mark.parametrize("write", [as_json, as_eval])
def test_epochs_are_one_sample_with_the_verdict_of_all_of_them(tmp_path, write):
    epochs = [sample(1, "I", 2), sample(1, "C", 1), sample(1, "C", 3), *(sample(2, "C", n) for n in (1, 2, 3))]
    log = logs.read(write(tmp_path, epochs, **with_epochs()))
    first, second = log.samples
    assert (first.correct, second.correct) == (pytest.approx(2 / 3), 1.0)
    assert first.reason == "right in 2 of 3 epochs; mean"
    assert [(one.value, one.repeat) for one in first.metrics] == [(pytest.approx(2 / 3), None), (1, 0), (0, 1), (1, 2)]
    assert [one.correct for one in first.repeats] == [1.0, 0.0, 1.0]
    assert [one.repeat for one in first.answers] == [0, 1, 2]
    assert (log.reducer, log.passes) == ("mean", 3)
    assert "3 epochs, and its verdict is the mean" in " ".join(log.remarks)


@pytest.mark.parametrize(
    ("reducer", "verdict"),
    [
        ("mean", 1 / 3), ("mode", 0.0), ("max", 1.0), ("median", 0.0), ("at_least_1", 1.0), ("at_least_2", 0.0),
        ("pass_at_1", 1 / 3), ("pass_at_2", 2 / 3), ("pass_at_3", 1.0),
    ],
)  # fmt: skip
def test_epochs_are_reduced_as_the_log_does_it(tmp_path, reducer, verdict):
    epochs = [sample(1, value, n) for n, value in enumerate("CII", 1)]
    log = logs.read(as_json(tmp_path, epochs, **with_epochs(reducer)))
    assert log.samples[0].correct == pytest.approx(verdict) and log.reducer == reducer


def test_the_verdict_that_the_log_tells_over_its_epochs_stands_whatever_the_reducer(tmp_path):
    epochs = [sample(1, value, n) for n, value in enumerate("CII", 1)]
    told = [{"scorer": "choice", "reducer": "of_mine", "samples": [{"sample_id": 1, "value": "C"}]}]
    log = logs.read(as_json(tmp_path, epochs, **with_epochs("of_mine"), reductions=told))
    assert log.samples[0].correct == 1.0
    path = as_eval(tmp_path, epochs, **with_epochs("of_mine"))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("reductions.json", json.dumps(told))
    assert logs.read(path).samples[0].correct == 1.0
    unknown = logs.read(as_json(tmp_path, epochs, **with_epochs("of_mine")))
    assert unknown.samples[0].correct == pytest.approx(1 / 3)
    assert "of_mine is not known here" in " ".join(unknown.remarks)


def test_of_several_reducers_the_first_is_the_verdict_and_no_figure_is_lost(tmp_path):
    epochs = [sample(1, value, n) for n, value in enumerate("CII", 1)]
    log = logs.read(as_json(tmp_path, epochs, **with_epochs("mean", "pass_at_2", mean=1 / 3, pass_at_2=2 / 3)))
    assert log.samples[0].correct == pytest.approx(1 / 3)
    assert log.results == {"accuracy,choice": pytest.approx(1 / 3), "accuracy,choice,pass_at_2": pytest.approx(2 / 3)}
    assert "reduces by pass_at_2, too" in " ".join(log.remarks)


def test_epochs_without_a_score_and_missing_ones_are_counted(tmp_path):
    epochs = [sample(1, "C", 1), sample(1, epoch=2, scores=None, error={"message": "Timed out"}), sample(2, "C", 1)]
    log = logs.read(as_json(tmp_path, epochs, **with_epochs()))
    assert log.samples[0].reason == "right in 1 of 2 epochs, 1 without a verdict; mean"
    told = " ".join(log.remarks)
    assert "1 samples have fewer than 2 epochs" in told and "1 samples ended in an error" in told


def test_what_a_log_leaves_out_is_told(tmp_path):
    about = header()
    results = {
        "total_samples": 10, "completed_samples": 8,
        "scores": [{"name": "choice", "scorer": "choice"}, {"name": "match", "scorer": "match"}],
    }  # fmt: skip
    two = sample(1, scores={"match": {"value": "I"}, "choice": {"value": "C"}})
    log = logs.read(as_json(tmp_path, [two], eval={**about["eval"], "config": {"limit": 10}}, results=results))
    told = " ".join(log.remarks)
    assert "limit 10" in told and "completed 8 of 10" in told
    assert "scorer choice; match stand beside" in told and log.samples[0].correct == 1.0


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
