from __future__ import annotations

import json

import pytest

from explorer.__main__ import main

LINES = [
    {"context": "The cats that", "continuation": " the old woman feeds", "id": 7, "nested": {"a": [1, None]}},
    {"context": "", "continuation": "Nobody has seen the café 🙂.", "logprob": "overwritten"},
    {"context": "She said ", "continuation": "so"},
]


@pytest.fixture
def run(tiny_gpt2, tmp_path, capsys):
    """Runs `score` over lines (objects, or raw text) and gives the exit status, the lines out and the messages."""

    def call(lines, *options):
        raw = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
        (tmp_path / "in.jsonl").write_bytes(raw.encode("utf-8", "surrogatepass") if isinstance(raw, str) else raw)
        files = ["--in", str(tmp_path / "in.jsonl"), "--out", str(tmp_path / "deep" / "out.jsonl")]
        status = main(
            ["score", "--model", str(tiny_gpt2), "--device", "cpu", "--cache", str(tmp_path / "c"), *files, *options]
        )
        out = tmp_path / "deep" / "out.jsonl"
        found = [json.loads(line) for line in out.read_text("utf-8").splitlines()] if out.exists() else None
        return status, found, capsys.readouterr()

    return call


def test_lines_keep_their_keys_and_gain_their_scores(run):
    status, found, _ = run(LINES)
    assert status == 0 and len(found) == 3
    first, second, third = found
    assert (first["id"], first["nested"], first["context"]) == (7, {"a": [1, None]}, "The cats that")
    assert isinstance(second["logprob"], float) and second["logprob"] < 0
    # "Nobody has seen the café 🙂." has 27 characters; é takes one byte more, the face three
    assert (second["chars"], second["bytes"]) == (27, 31)
    assert third["chars"] == 2
    for line in found:
        assert line["tokens"] == line["scored"] > 0
        assert (line["greedy"], line["straddles"], line["truncated_tokens"]) == (False, False, 0)
        assert not line.keys() & {"error", "token_texts", "token_logprobs"}


def test_what_an_earlier_scoring_said_of_a_line_is_replaced(run):
    old = {**LINES[0], "error": "out of luck", "token_texts": ["x"], "token_logprobs": [0]}
    status, (found,), _ = run([old])
    assert status == 0 and not found.keys() & {"error", "token_texts", "token_logprobs"}


def test_tokens_are_listed_when_asked_for(run):
    _, found, _ = run(LINES, "--tokens")
    for line, asked in zip(found, LINES, strict=True):
        assert len(line["token_texts"]) == len(line["token_logprobs"]) == line["tokens"]
        assert "".join(line["token_texts"]).strip() == asked["continuation"].strip()
        assert sum(line["token_logprobs"]) == pytest.approx(line["logprob"])


def test_bad_lines_are_named_and_the_others_scored(run):
    bad = [
        "not json",
        {"context": "a"},
        {"context": 3, "continuation": "b"},
        "[1]",
        {"context": "a", "continuation": ""},
    ]
    lone = '{"context": "a", "continuation": " b\\ud800", "id": 9}'
    status, found, said = run([LINES[0], *bad, "", lone, LINES[0]])
    assert status == 1
    assert len(found) == 8  # the blank line is none
    assert found[0] == found[-1] and "error" not in found[0]
    assert all(line["logprob"] is None for line in found[1:-1])
    assert [line["error"].partition(" (")[0].partition(";")[0] for line in found[1:-1]] == [
        "not a JSON object",
        "continuation is missing, expected a string",
        "context is a number, expected a string",
        "a JSON list, expected an object with context and continuation",
        "the continuation is empty",
        "the text has an unpaired surrogate",
    ]
    assert found[6]["continuation"] == " b\ud800" and found[6]["id"] == 9
    for number in (2, 3, 4, 5, 6, 8):
        assert f"line {number}: " in said.err
    assert "2 of 8 lines scored" in said.err


def test_bytes_that_are_no_text_are_one_bad_line(run, tmp_path):
    status, found, _ = run([LINES[0], '{"context": "\udcff", "continuation": "x"}', LINES[0]])
    assert status == 1 and "not UTF-8" in found[1]["error"]


def test_bos_policies_change_what_is_scored(run):
    line = {"context": "", "continuation": "Nobody has seen it"}
    ((auto,), (never,), (always,)) = (run([line], "--bos", bos, "--tokens")[1] for bos in ("auto", "never", "always"))
    assert auto == always
    assert never["scored"] == never["tokens"] - 1 and never["token_logprobs"][0] is None
    assert never["token_logprobs"][1:] != auto["token_logprobs"][1:]


def test_budgets_do_not_change_numbers(run):
    _, small, _ = run(LINES, "--token-budget", "1")
    _, large, _ = run(LINES, "--token-budget", "100000")
    assert [line["logprob"] for line in small] == pytest.approx([line["logprob"] for line in large], abs=1e-4)


def test_with_json_the_policy_record_goes_to_standard_output(run):
    _, _, said = run(LINES, "--json", "--preset", "minicons")
    record = json.loads(said.out)
    assert (record["lines"], record["failed"], record["preset"], record["bos"]) == (3, 0, "minicons", "tokenizer")
    assert record["weights"] and record["dtype"] == "float32"


def test_too_long_is_an_error_unless_truncation_is_asked_for(run):
    line = {"context": "cat " * 600, "continuation": "cat"}
    status, ((found),), _ = run([line])
    assert status == 1 and "more than the model's window" in found["error"]
    status, ((found),), _ = run([line], "--truncate", "left")
    assert status == 0 and found["truncated_tokens"] > 0


def test_an_empty_file_is_answered_by_an_empty_file(run):
    status, found, _ = run([])
    assert status == 0 and found == []


@pytest.mark.parametrize(
    "options, message",
    [
        (["--token-budget", "0"], "--token-budget is 0"),
        (["--dtype", "int3"], "dtype 'int3'"),
        (["--in", "/nowhere/in.jsonl"], "/nowhere/in.jsonl cannot be read"),
        (["--out", "/dev/null/out.jsonl"], "cannot be written"),
        # Known before a model is looked for, and so before hours of scoring.
        (["--out", "/", "--model", "/nowhere/model"], "/ cannot be written (Is a directory)"),
        (["--model", "/nowhere/model"], "There is no folder /nowhere/model"),
    ],
)
def test_wrong_usage_is_one_sentence(run, options, message):
    status, found, said = run(LINES[:1], *options)
    assert status == 1 and found is None
    assert [line for line in said.err.splitlines() if line.startswith("error: ") and message in line]


def test_words_are_added_up_when_asked_for_and_a_lines_own_come_first(run):
    lines = [*LINES, {"context": "", "continuation": "New York", "words": ["New", "York"]}]
    status, found, _ = run(lines, "--words", "auto", "--tokens")
    assert status == 0
    assert [line["word_texts"] for line in found] == [
        ["the", "old", "woman", "feeds"], ["Nobody", "has", "seen", "the", "café", "🙂."], ["so"], ["New", "York"],
    ]  # fmt: skip
    for line in found:
        assert sum(line["word_logprobs"]) == pytest.approx(line["logprob"])
    assert found[3]["words"] == ["New", "York"]


def test_words_that_are_not_those_of_the_text_cost_no_score(run):
    status, (found,), _ = run([{"context": "", "continuation": "a b", "words": ["a c"]}], "--words", "auto")
    assert status == 0 and found["logprob"] < 0 and found["word_texts"] is None
    assert "do not make up the text" in found["word_error"]
