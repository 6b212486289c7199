"""PIQA's loader and what is odd in its files."""

import json

import pytest

from explorer.benchmarks import piqa
from explorer.errors import BenchmarkError


def parse(tmp_path, rows, labels):
    (tmp_path / "rows").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    (tmp_path / "labels").write_text(labels, "utf-8")
    return piqa.load({piqa.ROWS: tmp_path / "rows", piqa.LABELS: tmp_path / "labels"}, ["validation"]).instances


ROW = {"goal": "Dry a wet shoe", "sol1": "Stuff it with paper.", "sol2": "Stuff it with ice. "}


def test_labels_are_aligned_with_rows(tmp_path):
    first, second = parse(tmp_path, [ROW, ROW], "1\n0\n")
    assert (first.gold, second.gold) == (1, 0)
    assert [first.id, second.id] == ["piqa/validation/0", "piqa/validation/1"]


def test_blanks_at_the_edges_are_kept(tmp_path):
    (instance,) = parse(tmp_path, [ROW], "0\n")
    assert instance.options[1] == "Stuff it with ice. "


@pytest.mark.parametrize("labels", ["", "0\n1\n", "2\n", "x\n"])
def test_labels_that_do_not_fit_are_told(tmp_path, labels):
    with pytest.raises(BenchmarkError, match="labels"):
        parse(tmp_path, [ROW], labels)


def test_blanks_accents_and_repeated_goals_of_the_real_file(real):
    fields = [text for i in real("piqa").instances for text in (i.context, *i.options)]
    assert sum(text != text.strip() for text in fields) == 230
    assert sum(ord(character) > 127 for text in fields for character in text) == 94
    goals = [instance.context for instance in real("piqa").instances]
    assert len(goals) - len(set(goals)) == 35
