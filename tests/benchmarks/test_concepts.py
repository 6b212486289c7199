"""Gene Ontology and Uberon as naming tasks, and what is odd in their tables."""

from collections import Counter
from statistics import median

import pytest

from explorer.benchmarks import concepts
from explorer.errors import BenchmarkError


def parse(tmp_path, text, name="go"):
    path = tmp_path / "table.csv"
    path.write_text(text, "utf-8", newline="")
    return concepts.load(name, {f"{name}/{name}_dataset.csv": path}, ["all"]).instances


def test_a_row_becomes_a_label_and_its_identifier(tmp_path):
    (concept,) = parse(tmp_path, "GO:0000001;sugar, plain;12;340")
    assert (concept.context, concept.options, concept.gold) == ("sugar, plain", ("GO:0000001",), 0)
    assert concept.extra == {"annotations": 12, "web_count": 340}
    assert concept.id == "go/GO/GO:0000001"


def test_windows_line_ends_and_no_last_one(tmp_path):
    assert len(parse(tmp_path, "GO:0000001;a;0;0\r\nGO:0000002;b;0;0")) == 2


def test_an_identifier_may_have_eight_digits_and_labels_may_repeat(tmp_path):
    found = parse(tmp_path, "UBERON:00000001;obsolete x;0;0\nUBERON:0000002;obsolete x;0;0\n", "uberon")
    assert [concept.options[0] for concept in found] == ["UBERON:00000001", "UBERON:0000002"]


@pytest.mark.parametrize("row", ["GO:1;a;b", "GO;a;1;1", "GO:1;a;x;1", "GO:1;a;1;-1", "GO:1;a;1;1;1"])
def test_a_damaged_row_is_named(tmp_path, row):
    with pytest.raises(BenchmarkError, match="line 2"):
        parse(tmp_path, f"GO:0000001;a;0;0\n{row}\n")


# --- the real files


def counts(real, name):
    return [instance.extra["web_count"] for instance in real(name).instances]


def test_web_counts_of_go(real):
    found = counts(real, "go")
    assert (found.count(0), median(found), max(found)) == (4_987, 6, 145_000)
    labels = [instance.context for instance in real("go").instances]
    assert sum("," in label for label in labels) == 2_207
    assert not any(mark in label for label in labels for mark in ';"')


def test_web_counts_of_uberon(real):
    found = counts(real, "uberon")
    assert (found.count(0), max(found)) == (11_982, 2_780_000)
    (most,) = [i.context for i in real("uberon").instances if i.extra["web_count"] == 2_780_000]
    assert most == "ball"
    assert {instance.extra["annotations"] for instance in real("uberon").instances} == {0}


def test_obsolete_and_repeated_labels_of_uberon_stay(real):
    labels = Counter(instance.context for instance in real("uberon").instances)
    assert Counter(labels.values()) == {1: 15_514, 2: 13, 3: 1}  # 15 rows repeat a label
    assert sum(label.startswith("obsolete") for label in labels.elements()) == 1_088
    long = [i.label for i in real("uberon").instances if len(i.label.partition(":")[2]) == 8]
    assert long == ["UBERON:60005380"]
