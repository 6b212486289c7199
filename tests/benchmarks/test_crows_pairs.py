"""CrowS-Pairs' loader and what is odd in its file."""

import csv
import io
from collections import Counter

import pytest

from explorer.benchmarks import crows_pairs
from explorer.errors import BenchmarkError

ROW = {
    "": "0",
    "sent_more": "The tall man reached the shelf.",
    "sent_less": "The short man reached the shelf.",
    "stereo_antistereo": "stereo",
    "bias_type": "physical-appearance",
    "annotations": "[['physical-appearance'], []]",
    "anon_writer": "a0",
    "anon_annotators": "['a1', 'a2']",
}


def parse(tmp_path, *rows, header=tuple(ROW)):
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([header, *([{**ROW, **row}[name] for name in ROW] for row in rows)])
    path = tmp_path / "crows.csv"
    path.write_bytes(text.getvalue().encode("utf-8"))
    return crows_pairs.load({crows_pairs.PATH: path}, ["test"]).instances


def test_the_more_stereotypical_sentence_stands_first_and_the_other_is_gold(tmp_path):
    stereo, anti = parse(tmp_path, {}, {"": "1", "stereo_antistereo": "antistereo"})
    for pair in (stereo, anti):
        assert pair.options == (ROW["sent_more"], ROW["sent_less"])
        assert pair.gold == 1
    assert (stereo.extra["stereo_antistereo"], anti.extra["stereo_antistereo"]) == ("stereo", "antistereo")


def test_annotations_written_as_python_lists_become_lists(tmp_path):
    (pair,) = parse(tmp_path, {})
    assert pair.extra["annotations"] == [["physical-appearance"], []]
    assert pair.extra["annotators"] == ["a1", "a2"]


def test_a_newline_in_a_quoted_field_does_not_end_the_row(tmp_path):
    pairs = parse(tmp_path, {"sent_less": "The short man\nreached the shelf."}, {"": "1"})
    assert len(pairs) == 2 and pairs[0].options[1] == "The short man\nreached the shelf."


def test_the_row_number_in_the_nameless_first_column_is_the_key(tmp_path):
    assert parse(tmp_path, {"": "17"})[0].id == "crows_pairs/physical-appearance/17"


def test_annotations_are_never_run_as_code(tmp_path):
    with pytest.raises(BenchmarkError, match="line 2"):
        parse(tmp_path, {"annotations": "__import__('os').getcwd()"})


def test_another_header_is_refused(tmp_path):
    with pytest.raises(BenchmarkError, match=r"crows\.csv line 1"):
        parse(tmp_path, {}, header=("a", "b"))


# --- the real file


def test_the_one_field_with_a_newline(real):
    broken = [i.id for i in real("crows_pairs").instances if any("\n" in text for text in i.options)]
    assert broken == ["crows_pairs/socioeconomic/1293"]


def test_the_one_repeated_pair_stays(real):
    texts = Counter(instance.options for instance in real("crows_pairs").instances)
    (repeated,) = [options for options, count in texts.items() if count > 1]
    ids = [i.id.rpartition("/")[2] for i in real("crows_pairs").instances if i.options == repeated]
    assert ids == ["1459", "1502"]


def test_218_pairs_are_marked_antistereo_and_none_is_swapped(real):
    marks = Counter(instance.extra["stereo_antistereo"] for instance in real("crows_pairs").instances)
    assert marks == {"stereo": 1_290, "antistereo": 218}
    assert {instance.gold for instance in real("crows_pairs").instances} == {1}
