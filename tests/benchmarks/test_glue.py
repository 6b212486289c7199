"""WNLI and RTE: their loader and what is odd in their files."""

import hashlib
from collections import Counter

import pytest

from explorer.benchmarks import glue
from explorer.benchmarks.published import CHECKSUMS
from explorer.errors import BenchmarkError

HEADER = "index\tsentence1\tsentence2\tlabel\n"


def parse(tmp_path, text, name="wnli"):
    path = tmp_path / "dev.tsv"
    path.write_text(text, "utf-8", newline="")
    return glue.load(name, {f"{name}/dev.tsv": path}, ["dev"]).instances


def test_labels_get_their_names_and_keep_how_they_are_written(tmp_path):
    no, yes = parse(tmp_path, HEADER + "0\tA cat sat.\tA dog sat.\t0\n1\tA cat sat.\tA cat sat.\t1\n")
    assert (no.id, no.label, no.options[no.gold]) == ("wnli/not_entailment/dev-0", "0", "not_entailment")
    assert (yes.group, yes.label, yes.gold) == ("entailment", "1", 1)
    assert (yes.context, yes.second) == ("A cat sat.", "A cat sat.")


def test_rte_has_its_classes_in_the_published_order(tmp_path):
    yes, no = parse(tmp_path, HEADER + "0\tA\tB\tentailment\n1\tC\tD\tnot_entailment\n", "rte")
    assert yes.options == ("entailment", "not_entailment") and (yes.gold, no.gold) == (0, 1)


def test_quotes_are_text(tmp_path):
    first, second = parse(tmp_path, HEADER + '0\t"No," she said.\tShe said "no.\t1\n1\t"\t""\t0\n')
    assert (first.context, first.second) == ('"No," she said.', 'She said "no.')
    assert (second.context, second.second) == ('"', '""')


def test_windows_line_ends_make_no_difference(tmp_path):
    rows = HEADER + "0\tA\tB\t1\n"
    assert parse(tmp_path, rows) == parse(tmp_path, rows.replace("\n", "\r\n"))


@pytest.mark.parametrize("text", ["", "a\tb\n", HEADER + "0\tA\tB\n", HEADER + "0\tA\tB\t2\n"])
def test_a_damaged_file_is_told(tmp_path, text):
    with pytest.raises(BenchmarkError, match=r"dev\.tsv"):
        parse(tmp_path, text)


def test_pieces_are_put_together_by_index(tmp_path):
    (tmp_path / "a").write_text(HEADER + "0\tA\tB\t1\n10\tC\tD\t0\n", "utf-8")
    (tmp_path / "b").write_text(HEADER + "2\tE\tF\t1\n", "utf-8")
    joined = glue.join_by_index([tmp_path / "a", tmp_path / "b"])
    assert joined.decode() == HEADER + "0\tA\tB\t1\n2\tE\tF\t1\n10\tC\tD\t0\n"


# --- the real files


@pytest.mark.parametrize("name", ["wnli", "rte"])
def test_the_training_set_in_two_pieces_becomes_the_published_file(data_folder, tmp_path, name):
    lines = (data_folder / name / "train.tsv").read_text("utf-8").splitlines(keepends=True)
    for piece, rows in (("train", lines[1::3] + lines[2::3]), ("val", lines[3::3])):
        (tmp_path / piece).write_text(lines[0] + "".join(rows), "utf-8")
    joined = glue.join_by_index([tmp_path / "train", tmp_path / "val"])
    assert hashlib.sha256(joined).hexdigest() == CHECKSUMS[f"{name}/train.tsv"][0]


def texts(instance):
    return (instance.context, instance.second)


def test_61_first_sentences_of_wnli_are_in_both_splits(real):
    train = {i.context for i in real("wnli").instances if i.split == "train"}
    dev = {i.context for i in real("wnli").instances if i.split == "dev"}
    assert len(train & dev) == 61


def test_rows_of_wnli_with_an_odd_number_of_quotes(real):
    assert sum("".join(texts(instance)).count('"') % 2 for instance in real("wnli").instances) == 2


def test_quotes_of_rte_are_whole(real):
    train = [instance for instance in real("rte").instances if instance.split == "train"]
    assert sum("".join(texts(instance)).count('"') % 2 for instance in train) == 13
    assert sum(any(text.startswith('"') for text in texts(instance)) for instance in train) == 70


def test_two_repeated_pairs_of_rte_stay(real):
    count = Counter(texts(i) for i in real("rte").instances if i.split == "train")
    assert sum(number - 1 for number in count.values()) == 2
