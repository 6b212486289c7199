"""Exports that other tools read back."""

from __future__ import annotations

import csv
import json

import pytest

from explorer.errors import RunError
from explorer.records import RunSpec
from explorer.results import export
from explorer.runs.folder import RunFolder


@pytest.fixture
def folder(settings) -> RunFolder:
    made = RunFolder.create(settings.runs, RunSpec("accuracy", 1, "toy", "pairs"))
    texts = [f"a,'{number}'\n" for number in range(1200)]
    row = {"instance_id": "x", "token_texts": texts, "token_logprobs": [-0.5, None] * 600}
    made.write_part(0, 0, {"scores": [row, {"instance_id": "y"}]})
    return made


def test_lists_in_a_csv_are_json_with_every_item(folder, tmp_path):
    export.write_tables(folder, "scores", "csv", tmp_path / "scores.csv")
    csv.field_size_limit(10**7)
    with (tmp_path / "scores.csv").open(newline="", encoding="utf-8") as file:
        first, second = csv.DictReader(file)
    expected = folder.read("scores")
    assert json.loads(first["token_texts"]) == list(expected["token_texts"][0])
    assert json.loads(first["token_logprobs"]) == [-0.5, None] * 600
    assert second["token_texts"] == second["token_logprobs"] == ""


def test_a_place_that_cannot_be_written_is_one_sentence(folder, tmp_path):
    taken = tmp_path / "file"
    taken.write_text("")
    with pytest.raises(RunError, match="cannot be made"):
        export.write_tables(folder, "all", "csv", taken)
    with pytest.raises(RunError, match="could not be written"):
        export.write_tables(folder, None, "csv", tmp_path)
    with pytest.raises(RunError, match="does not exist"):
        export.write_tables(folder, None, "csv", tmp_path / "nowhere" / "rows.csv")
