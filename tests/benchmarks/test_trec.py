"""TREC's loader and what is odd in its files."""

from collections import Counter, defaultdict

import pytest

from explorer.benchmarks import trec
from explorer.errors import BenchmarkError


def parse(tmp_path, data):
    path = tmp_path / "test.label"
    path.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8"))
    return trec.load({trec.FILES["test"]: path}, ["test"]).instances


def test_a_line_is_a_label_and_a_question_also_without_a_last_newline(tmp_path):
    first, second = parse(tmp_path, "NUM:dist How far is it ?\nHUM:ind Who ?")
    assert (first.id, first.label, first.context) == ("trec/NUM/test-0", "NUM:dist", "How far is it ?")
    assert second.options[second.gold] == "HUM" and second.extra["fine"] == "HUM:ind"


def test_the_first_publishers_latin_1_gives_the_same_rows_and_ids(tmp_path):
    text = "LOC:city Where is Malmö ?\n"
    assert parse(tmp_path, text) == parse(tmp_path, text.encode("latin-1"))


def test_a_label_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(BenchmarkError, match=r"test\.label line 2"):
        parse(tmp_path, "NUM:dist How far ?\nFOO:bar What ?\n")


# --- the real files


def by_split(real, split):
    return [instance for instance in real("trec").instances if instance.split == split]


def test_the_replacement_character_is_kept(real):
    assert sum("\ufffd" in instance.context for instance in real("trec").instances) == 1


def test_repeated_questions_stay_and_one_has_two_labels(real):
    labels = defaultdict(list)
    for instance in by_split(real, "train"):
        labels[instance.context].append(instance.label)
    assert sum(len(found) - 1 for found in labels.values()) == 71
    torn = [set(found) for found in labels.values() if len(set(found)) > 1]
    assert torn == [{"NUM:count", "NUM:other"}]


def test_ten_test_questions_are_also_in_train(real):
    train = {instance.context for instance in by_split(real, "train")}
    assert sum(instance.context in train for instance in by_split(real, "test")) == 10


def test_fine_classes(real):
    fine = {split: len(Counter(i.label for i in by_split(real, split))) for split in ("train", "test")}
    assert fine == {"train": 50, "test": 42}
