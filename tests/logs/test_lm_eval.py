"""Logs of lm-evaluation-harness in the dresses that its versions wrote, and lines that are none."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from explorer import logs
from explorer.errors import LogError

NAME = "samples_pairs_2026-11-28T02-00-00.000000.jsonl"


def line(doc_id: int, good: float = -10.0, bad: float = -12.0, **changes: Any) -> dict[str, Any]:
    """A line as version 0.4.13 writes it."""
    return {
        "doc_id": doc_id,
        "doc": {"good": f"Good {doc_id}.", "bad": f"Bad {doc_id}."},
        "target": "0",
        "arguments": {
            "gen_args_0": {"arg_0": "", "arg_1": f" Good {doc_id}."},
            "gen_args_1": {"arg_0": "", "arg_1": f" Bad {doc_id}."},
        },
        "resps": [[[str(good), "False"]], [[str(bad), "True"]]],
        "filtered_resps": [[str(good), "False"], [str(bad), "True"]],
        "filter": "none",
        "metrics": ["acc"],
        "doc_hash": "x",
        "prompt_hash": "y",
        "target_hash": "z",
        "acc": float(good > bad),
        **changes,
    }


def write(folder: Path, *lines: Any, name: str = NAME, results: dict | None = None) -> Path:
    path = folder / name
    rows = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in lines]
    path.write_bytes(b"\n".join(rows) + b"\n")
    if results is not None:
        (folder / "results_2026-11-28T02-00-00.000000.json").write_text(json.dumps(results))
    return path


RESULTS = {
    "results": {"pairs": {"alias": "pairs", "acc,none": 0.5, "acc_stderr,none": 0.1}},
    "configs": {},
    "config": {"model": "hf", "model_args": "pretrained=EleutherAI/pythia-160m,revision=step1000,api_key=sk-hidden"},
    "lm_eval_version": "0.4.13",
}


def test_each_option_has_its_log_probability_and_whether_it_is_greedy(tmp_path):
    log = logs.read(write(tmp_path, line(0), line(1, -12, -10), results=RESULTS))
    assert [one.key for one in log.samples] == ["0", "1"] and not log.dropped and not log.remarks
    first = log.samples[0]
    assert [(one.continuation, one.logprob, one.greedy) for one in first.scored_options] == [
        (" Good 0.", -10.0, False),
        (" Bad 0.", -12.0, True),
    ]
    assert first.gold == 0 and first.correct == 1.0 and log.samples[1].correct == 0.0
    assert (log.task, log.version, log.model, log.revision) == ("pairs", "0.4.13", "EleutherAI/pythia-160m", "step1000")
    assert log.results == {"acc,none": 0.5}
    assert "sk-hidden" not in json.dumps(log.record)


@pytest.mark.parametrize("shape", ["lists", "array", "gz", "bom"])
def test_older_dresses_are_read_alike(tmp_path, shape):
    plain = logs.read(write(tmp_path, line(0), line(1)))
    older = [
        line(i, arguments=[["", f" Good {i}."], ["", f" Bad {i}."]], filtered_resps=[[-10.0, False], [-12.0, True]])
        for i in (0, 1)
    ]
    if shape == "lists":
        path = write(tmp_path, *older, name="samples_pairs_2026-11-29T02-00-00.000000.jsonl")
    elif shape == "array":
        path = tmp_path / "pretrained__x_pairs.jsonl"
        path.write_text(json.dumps(older, indent=2))
    elif shape == "gz":
        path = tmp_path / f"{NAME}.gz"
        path.write_bytes(gzip.compress((tmp_path / NAME).read_bytes()))
    else:
        path = write(tmp_path, b"\xef\xbb\xbf" + json.dumps(line(0)).encode(), line(1))
    found = logs.read(path)
    assert [one.scored_options for one in found.samples] == [one.scored_options for one in plain.samples]
    assert [one.gold for one in found.samples] == [0, 0]


def test_lines_that_are_none_are_told_one_by_one_and_the_others_kept(tmp_path):
    huge = line(9, doc={"good": "x" * 1_000_000, "bad": "y"})
    log = logs.read(
        write(
            tmp_path,
            line(0),
            b"{not json",
            b"\xff\xfe",
            b"[1, 2]",
            {"doc_id": 3},
            line(0),
            line(0, -1.0),
            line(4, filtered_resps=[["nan", "False"], ["-1", "True"]]),
            line(5, filtered_resps=[["-1", "False"]]),
            {"doc_id": 6, "prompt_0": "?", "logit_0": -1},
            huge,
            b"",
        )
    )
    assert [one.key for one in log.samples] == ["0", "9"]
    told = {one.where: one.reason for one in log.dropped}
    assert "no JSON" in told["line 2"] and "not UTF-8" in told["line 3"] and "expected an object" in told["line 4"]
    assert "no doc, arguments, filtered_resps" in told["line 5"]
    assert told["line 6"] == "document 0 was in line 1 already, with the same"
    # line 7 answers the same document otherwise: it counts, too
    assert "line 7" not in told and [one.correct for one in log.samples[0].repeats] == [1.0, 1.0]
    assert "log-probability is 'nan'" in told["line 8"] and "1 answers to 2 requests" in told["line 9"]
    assert "version 0.3" in told["line 10"]
    assert log.dropped[0].raw == "{not json"
    assert log.dropped[1].raw.encode("utf-8", "surrogateescape") == b"\xff\xfe"
    assert "No results_" in log.remarks[0]


def test_a_second_filter_adds_its_metrics_and_no_sample(tmp_path):
    written = line(
        0,
        arguments={"gen_args_0": {"arg_0": "Who?", "arg_1": {"until": ["\n"]}}},
        resps=[[" a person"]],
        filtered_resps=["a person"],
        metrics=["exact_match"],
        exact_match=0.0,
        filter="as-is",
    )
    log = logs.read(write(tmp_path, written, {**written, "filter": "last-word", "exact_match": 1.0}))
    (sample,) = log.samples
    assert (sample.answers[0].prompt, sample.answers[0].text, sample.correct) == ("Who?", "a person", 0.0)
    assert [(one.name, one.value, one.filter) for one in sample.metrics] == [
        ("exact_match", 0.0, "as-is"),
        ("exact_match", 1.0, "last-word"),
    ]


def test_which_filter_gives_the_verdicts_is_told(tmp_path):
    written = line(
        0,
        arguments={"gen_args_0": {"arg_0": "Who?", "arg_1": {"until": ["\n"]}}},
        resps=[["4"]], filtered_resps=["4"], metrics=["exact_match"], exact_match=0.0, filter="strict-match",
    )  # fmt: skip
    log = logs.read(write(tmp_path, written, {**written, "filter": "flexible-extract", "exact_match": 1.0}))
    assert "verdicts are those of strict-match; flexible-extract stand beside" in " ".join(log.remarks)


def test_lines_that_answer_every_document_again_are_repeats_and_all_count(tmp_path):
    # document 0 is right in two of three lines, of which two are the same; document 1 in all
    lines = [line(0), line(0, -14.0), line(0), *(line(1, -10.0 - n) for n in range(2)), line(1)]
    log = logs.read(write(tmp_path, *lines))
    assert not log.dropped and (log.passes, log.reducer) == (3, "mean")
    assert [one.correct for one in log.samples] == [pytest.approx(2 / 3), 1.0]
    assert log.samples[0].reason == "right in 2 of 3 repeats; mean"
    assert [one.scored_options[0].logprob for one in log.samples[0].repeats] == [-10.0, -14.0, -10.0]
    assert [(one.value, one.repeat) for one in log.samples[0].metrics] == [
        (pytest.approx(2 / 3), None), (1.0, 0), (0.0, 1), (1.0, 2),
    ]  # fmt: skip
    assert "2 documents stand in up to 3 lines" in " ".join(log.remarks)


def test_a_file_that_says_everything_twice_has_no_repeats(tmp_path):
    log = logs.read(write(tmp_path, line(0), line(1), line(0), line(1)))
    assert (len(log.samples), len(log.dropped), log.passes) == (2, 2, 1)


def test_all_answers_to_a_prompt_that_was_put_several_times_are_kept(tmp_path):
    written = line(
        0,
        arguments={"gen_args_0": {"arg_0": "Who?", "arg_1": {"until": ["\n"]}}},
        resps=[["a", "b", "a"]], filtered_resps=["a"], metrics=["exact_match"], exact_match=1.0, filter="maj@3",
    )  # fmt: skip
    log = logs.read(write(tmp_path, written))
    assert [(one.text, one.repeat) for one in log.samples[0].answers] == [("a", None), ("a", 0), ("b", 1), ("a", 2)]
    assert log.samples[0].correct == 1.0
    assert "answered up to 3 times; the filter maj@3 made one answer" in " ".join(log.remarks)


def test_two_tasks_in_one_file_stay_apart(tmp_path):
    other = line(0, doc={"good": "Another one.", "bad": "Anothers one."})
    log = logs.read(write(tmp_path, line(0), line(1), other))
    assert [one.key for one in log.samples] == ["0", "1", "0#2"] and not log.dropped
    assert "1 numbers stand for more than one document each" in " ".join(log.remarks)


def test_a_part_of_the_documents_is_told(tmp_path):
    counts = {"n-samples": {"pairs": {"original": 1000, "effective": 3}}, "config": {"limit": 3}}
    told = " ".join(logs.read(write(tmp_path, line(0), line(1), results={**RESULTS, **counts})).remarks)
    assert "asked 3 of the task's 1,000 documents" in told and "holds 2 of the 3 documents" in told


@pytest.mark.parametrize(
    ("changes", "gold"),
    [
        ({"target": "1", "acc": 0.0}, 1),
        ({"target": " Bad 0.", "acc": 0.0}, 1),
        ({"target": "something else", "acc": 1.0}, 0),
        ({"target": "something else", "acc": 0.0}, 1),
        ({"target": "7", "metrics": []}, None),
    ],
)
def test_the_right_option_is_what_target_and_verdict_agree_on(tmp_path, changes, gold):
    (sample,) = logs.read(write(tmp_path, line(0, **changes))).samples
    assert sample.gold == gold


def test_another_version_is_read_and_said(tmp_path):
    log = logs.read(write(tmp_path, line(0), results={**RESULTS, "lm_eval_version": "0.9.0"}))
    assert "version 0.9.0" in log.remarks[0] and len(log.samples) == 1


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is empty"),
        (b"plain text\n", "is no JSON"),
        (b'{"a": 1}', "no log that is known here"),
        (json.dumps({"results": {}, "configs": {}}).encode(), "without single answers"),
        (b"\x1f\x8b\x08broken", "is damaged"),
    ],
)
def test_a_file_that_is_no_log_is_one_sentence(tmp_path, data, said):
    path = tmp_path / "x.json"
    path.write_bytes(data)
    with pytest.raises(LogError, match=said):
        logs.read(path)
    with pytest.raises(LogError, match="There is no file"):
        logs.read(tmp_path / "none.jsonl")


def test_a_file_without_any_good_line_is_one_sentence(tmp_path):
    with pytest.raises(LogError, match="no line that lm-evaluation-harness"):
        logs.read(write(tmp_path, {"doc_id": 1}))
