"""DBpedia-14's loader and what is odd in its file."""

from collections import Counter

import pytest

from explorer.benchmarks import dbpedia
from explorer.errors import BenchmarkError


def parse(tmp_path, text):
    (tmp_path / "rows").write_text(text, "utf-8", newline="")
    (tmp_path / "classes").write_text("Company\nWrittenWork\n", "utf-8")
    paths = {dbpedia.ROWS: tmp_path / "rows", dbpedia.CLASSES: tmp_path / "classes"}
    return dbpedia.load(paths, ["train"]).instances


def test_only_the_first_comma_parts_label_and_text_and_tabs_stay(tmp_path):
    (instance,) = parse(tmp_path, '1,A novel .\tIt has "two", three parts .\n')
    assert instance.context == 'A novel .\tIt has "two", three parts .'
    assert (instance.group, instance.gold, instance.label) == ("WrittenWork", 1, "1")
    assert instance.id == "dbpedia14/WrittenWork/train-0"


@pytest.mark.parametrize("row", ["2,text", "x,text", "-1,text", "no comma"])
def test_a_damaged_row_is_named(tmp_path, row):
    with pytest.raises(BenchmarkError, match="line 2"):
        parse(tmp_path, f"0,A firm .\n{row}\n")


def test_a_thousand_a_class_and_tabs_between_sentences(real):
    assert set(Counter(instance.group for instance in real("dbpedia14").instances).values()) == {1_000}
    texts = [instance.context for instance in real("dbpedia14").instances]
    assert sum("\t" in text for text in texts) > 5_000
    assert not any("," in text or '"' in text for text in texts)
