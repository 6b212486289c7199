"""A run's tokens as words: every row of a stored run, texts without tokens, and words that an instance brings."""

from __future__ import annotations

import dataclasses

import pandas as pd
import pytest

from explorer.__main__ import main
from explorer.errors import RunError
from explorer.records import Instance, RunSpec
from explorer.results import words
from explorer.rows.builders import instance_row
from explorer.runs.folder import RunFolder

ROW = {"role": "option", "logprob": -3.0, "straddles": False, "reason": ""}


@pytest.fixture
def folder(settings) -> RunFolder:
    made = RunFolder.create(settings.runs, RunSpec("accuracy", 1, "toy", "pairs"))
    pair = Instance("x", "pairs", "all", "g", "pair", "sentence", options=("a bc", "他是"), gold=0)
    made.write_part(
        0,
        0,
        {
            "instances": [instance_row(dataclasses.replace(pair, extra={"words": {"1": ["他是"]}}), 0)],
            "scores": [
                {**ROW, "instance_id": "x", "request": 0, "option": 0, "token_texts": ["a", " b", "c"],
                 "token_logprobs": [None, -0.5, -0.25]},
                {**ROW, "instance_id": "x", "request": 1, "option": 1, "token_texts": ["他", "是"],
                 "token_logprobs": [-1.0, -2.0]},
                {**ROW, "instance_id": "x", "request": 2, "option": 1, "reason": "too long"},
            ],
        },
    )  # fmt: skip
    return made


def test_each_word_is_a_row_and_what_has_none_says_why(folder):
    found = words.word_table(folder)
    assert list(found["text"].fillna("")) == ["a", "bc", "他是", ""]
    assert list(found["word"]) == [1, 2, 1, 1]
    # the first token has no score, so "a" has none; bc = .5 + .25; 他是 as its instance says, 1 + 2
    assert list(found["surprisal"].fillna(-1)) == [-1, 0.75, 3.0, -1]
    assert list(found["reason"])[1:] == ["", "", "too long"] and "no BOS" in found["reason"][0]


def test_a_run_without_tokens_is_told_what_to_do(settings):
    made = RunFolder.create(settings.runs, RunSpec("accuracy", 1, "toy", "pairs"))
    made.write_part(0, 0, {"scores": [{**ROW, "instance_id": "x", "request": 0, "option": 0}]})
    with pytest.raises(RunError, match="holds no scored tokens"):
        words.word_table(made)


def test_words_of_a_real_run_add_up_to_its_stored_sums(tiny_gpt2, settings, tmp_path):
    from explorer.resources import Resources
    from explorer.runs import request, worker

    resources = Resources(settings)
    spec = request.make_spec(resources, study="accuracy", model=str(tiny_gpt2), benchmark="starter_pairs", limit=12)
    folder = RunFolder.create(settings.runs, spec)
    assert worker.work(folder, resources, lambda text: None, wait=False) == "complete"
    out = tmp_path / "words.csv"
    cache = ["--cache", str(settings.cache)]
    for by in ("auto", "blanks", "characters"):
        named = ["--table", "words", "--by", by, "--format", "csv", "--out", str(out)]
        assert main(["export", folder.run_id, *cache, *named]) == 0
        sums = pd.read_csv(out).groupby(["instance_id", "request"])["surprisal"].sum()
        stored = folder.read("scores").set_index(["instance_id", "request"])["logprob"]
        assert len(sums) == len(stored) == 24
        assert (sums + stored.reindex(sums.index)).abs().max() < 1e-4
