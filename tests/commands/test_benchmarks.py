"""`benchmarks` and `import`, as a user types them."""

import json

import pytest

from explorer.__main__ import main
from explorer.benchmarks import BENCHMARKS

pytestmark = pytest.mark.usefixtures("settings")


def call(capsys, *words):
    status = main(list(words))
    out = capsys.readouterr()
    return status, out.out, out.err


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("kind;upper;lower\nx;The cat sleeps.;The cat sleep.\ny;A dog barks.\nz;We go.;We goes.\n", "utf-8")
    return str(path)


def test_benchmarks_that_are_not_here_are_listed_with_where_to_get_them(capsys, tmp_path):
    status, out, _ = call(capsys, "benchmarks", "--json", "--cache", str(tmp_path / "cache"))
    rows = {row["name"]: row for row in json.loads(out)}
    assert status == 0 and list(rows) == list(BENCHMARKS)
    assert rows["blimp"]["instances"] is None and rows["blimp"]["groups"] is None and rows["blimp"]["left_out"] == []
    assert "blimp/adjunct_island.jsonl and 66 more files" in rows["blimp"]["source"]
    assert "https://raw.githubusercontent.com/alexwarstadt/blimp/" in rows["blimp"]["source"]


def test_benchmarks_that_are_here_are_counted(capsys, tmp_path, data_folder):
    words = ("benchmarks", "copa", "syntaxgym", "--cache", str(tmp_path / "cache"), "--data", str(data_folder))
    status, out, _ = call(capsys, *words, "--json")
    found = [(row["name"], row["instances"], row["groups"], row["left_out"]) for row in json.loads(out)]
    assert (status, found) == (0, [("copa", 1000, 2, []), ("syntaxgym", 842, 34, [])])
    _, out, _ = call(capsys, *words)
    assert out.splitlines()[1].split()[:3] == ["copa", "1,000", "2"]


def test_fetching_offline_fails_with_what_to_do(capsys, tmp_path):
    status, out, _ = call(capsys, "benchmarks", "piqa", "--fetch", "--cache", str(tmp_path / "cache"))
    assert status == 1 and "told to stay offline" in out and "piqa/valid.jsonl" in out


def test_a_benchmark_that_does_not_exist_is_told_on_one_line(capsys, tmp_path):
    status, out, err = call(capsys, "benchmarks", "blmp", "--cache", str(tmp_path / "cache"))
    assert (status, out) == (1, "") and err.count("\n") == 1 and "Did you mean blimp?" in err


def test_an_import_shows_its_guess_and_is_listed_afterwards(capsys, tmp_path, pairs):
    cache = ("--cache", str(tmp_path / "cache"))
    columns = ("--kind", "pair", "--column", "good=upper", "--column", "bad=lower", "--column", "group=kind")
    status, out, _ = call(capsys, "import", pairs, "--name", "mine", *columns, *cache)
    assert status == 0
    assert "read as pair (good=upper, bad=lower, group=kind); csv, utf-8, delimiter semicolon" in out
    assert "left out line 3: 2 fields, expected 3" in out
    assert "2 instances imported as imported_mine; rows left out: 1" in out
    _, out, _ = call(capsys, "benchmarks", "imported_mine", "--json", *cache)
    (row,) = json.loads(out)
    assert (row["instances"], row["groups"], row["source"]) == (2, 2, "imported")
    assert row["left_out"] == [{"where": "line 3", "reason": "2 fields, expected 3"}]


def test_a_dry_run_keeps_nothing(capsys, tmp_path, pairs):
    cache = ("--cache", str(tmp_path / "cache"))
    columns = ("--kind", "pair", "--column", "good=upper", "--column", "bad=lower")
    status, out, _ = call(capsys, "import", pairs, "--name", "mine", *columns, "--dry-run", "--json", *cache)
    answer = json.loads(out)
    assert status == 0 and answer["stored"] is False and answer["instances"] == 2
    assert answer["reading"]["delimiter"] == ";"
    status, _, err = call(capsys, "benchmarks", "imported_mine", *cache)
    assert status == 1 and "Nothing was imported as 'mine'" in err


@pytest.mark.parametrize(
    "words, told",
    [
        (("--name", "mine"), "--kind"),
        (("--name", "No Good", "--kind", "pair"), "no name for an import"),
        (("--name", "mine", "--kind", "pair", "--column", "good"), "expected ROLE=NAME"),
        (("--name", "mine", "--kind", "pair", "--column", "good=x"), "no column 'x'"),
        (("--name", "mine", "--kind", "pair", "--encoding", "utf-16"), "cannot be read as utf-16"),
    ],
)
def test_an_import_that_cannot_be_is_told_on_one_line(capsys, tmp_path, pairs, words, told):
    status, out, err = call(capsys, "import", pairs, *words, "--cache", str(tmp_path / "cache"))
    assert (status, out) == (1, "") and err.count("\n") == 1 and told in err


def test_the_delimiter_can_be_named(capsys, tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("good,1\tbad,2\nx\ty\n", "utf-8")
    words = ("import", str(path), "--name", "a", "--delimiter", "tab", "--kind", "pair", "--json")
    columns = ("--column", "good=good,1", "--column", "bad=bad,2")
    _, out, _ = call(capsys, *words, *columns, "--header", "yes", "--cache", str(tmp_path / "cache"))
    assert json.loads(out)["instances"] == 1


ONES = "question,option1,option2,answer\nWhat is up?,sky,sea,1\nWhat is red?,blood,milk,1\n"


def test_an_import_that_can_be_read_in_two_ways_stores_nothing_until_one_is_said(capsys, tmp_path):
    path = tmp_path / "ones.csv"
    path.write_text(ONES)
    words = ("import", str(path), "--name", "ones", "--cache", str(tmp_path / "cache"))
    status, out, err = call(capsys, *words)
    assert status == 1 and not out and err.count("\n") == 1
    assert "--gold 0 would read answer = 1 in line 2 as option 2, 'sea'" in err
    assert "--gold 1 would read answer = 1 in line 2 as option 1, 'sky'" in err
    assert not list((tmp_path / "cache").glob("imports/*"))
    status, out, _ = call(capsys, *words, "--gold", "1")
    assert status == 0 and "right  What is up?>> sky" in out


def test_an_import_shows_its_first_items_and_what_it_does_not_use(capsys, tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("good,bad,author\nIt is.,It are.,Ann\n,,\nWe are.,We is.,Tom\n")
    words = ("import", str(path), "--name", "mine", "--dry-run", "--cache", str(tmp_path / "cache"))
    _, out, _ = call(capsys, *words)
    assert "    right  >>It is." in out and "columns not used: author" in out and "left out 1: an empty row" in out
    _, out, _ = call(capsys, *words, "--json")
    told = json.loads(out)
    assert told["unused_columns"] == ["author"] and told["left_out_by_reason"] == {"an empty row": 1}
    assert told["first_items"][0]["texts"][1] == {
        "name": "option 2", "context": "", "continuation": "It are.", "right": False,
    }  # fmt: skip


def test_gold_from_a_file_of_its_own(capsys, tmp_path):
    path, labels = tmp_path / "t.jsonl", tmp_path / "gold.lst"
    path.write_text('{"goal": "To sleep,", "sol1": "eat.", "sol2": "lie down."}\n' * 2)
    labels.write_text("1\n0\n")
    words = ("import", str(path), "--name", "t", "--labels", str(labels), "--json", "--cache", str(tmp_path / "cache"))
    status, out, _ = call(capsys, *words)
    told = json.loads(out)
    assert status == 0 and told["reading"]["columns"]["gold"] == "labels"
    assert [text["right"] for text in told["first_items"][0]["texts"]] == [False, True]
