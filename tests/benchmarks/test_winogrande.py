"""WinoGrande's loader and what is odd in its files."""

import json
from collections import Counter

import pytest

from explorer.benchmarks import winogrande
from explorer.errors import BenchmarkError

ROW = {"qID": "Q-1", "sentence": "The jar did not fit the box because the _ was wide.", "option1": "jar"}
ROW |= {"option2": "box", "answer": "1"}


def parse(tmp_path, *rows, labels=None):
    made = [{**ROW, **row} for row in rows]
    (tmp_path / "rows").write_text("".join(json.dumps(row) + "\n" for row in made), "utf-8")
    text = "".join(f"{row['answer']}\n" for row in made) if labels is None else labels
    (tmp_path / "labels").write_text(text, "utf-8")
    paths = {"winogrande/dev.jsonl": tmp_path / "rows", "winogrande/dev-labels.lst": tmp_path / "labels"}
    return winogrande.load("winogrande", "dev", paths, ["dev"]).instances


def test_a_row_becomes_a_choice_and_knows_its_twin(tmp_path):
    first, second = parse(tmp_path, {}, {"qID": "Q-2", "answer": "2"})
    assert (first.id, first.gold, first.options) == ("winogrande/dev/Q-1", 0, ("jar", "box"))
    assert second.gold == 1 and first.extra["stem"] == second.extra["stem"] == "Q"


@pytest.mark.parametrize("row", [{"sentence": "no gap"}, {"sentence": "_ and _"}, {"answer": "3"}, {"answer": 1}])
def test_a_row_that_is_no_gap_sentence_is_named(tmp_path, row):
    with pytest.raises(BenchmarkError, match="line 2"):
        parse(tmp_path, {}, row)


def test_labels_that_disagree_are_told(tmp_path):
    with pytest.raises(BenchmarkError, match="other labels"):
        parse(tmp_path, {}, labels="2\n")


# --- the real files


@pytest.mark.parametrize("name, stems, twins", [("winogrande", 983, 284), ("winogrande_train_xs", 80, 80)])
def test_twins(real, name, stems, twins):
    count = Counter(instance.extra["stem"] for instance in real(name).instances)
    assert (len(count), sum(number == 2 for number in count.values())) == (stems, twins)


def test_34_sentences_have_the_gap_at_the_end(real):
    rests = [instance.context.partition("_")[2] for instance in real("winogrande").instances]
    assert sum(rest.strip() == "." for rest in rests) == 34
