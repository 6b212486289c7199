"""`perturb`, as a user types it, with a dictionary of two words in WordNet's place."""

import json

import pytest

from explorer.__main__ import main
from explorer.resources import Resources
from explorer.variants.lexicon import Lemma, Sense

WORDS = {"doctor": ("n", "physician", ()), "buy": ("v", "purchase", (8, 11))}


class TwoWords:
    name = "two words"

    def senses(self, lemma, pos):
        if lemma not in WORDS or WORDS[lemma][0] != pos:
            return ()
        own, other = Lemma(lemma, 1, WORDS[lemma][2]), Lemma(WORDS[lemma][1], 0, WORDS[lemma][2])
        return (Sense(f"{lemma}.{pos}.01", pos, 1, own, (own, other), f"what {lemma} means"),)

    def has(self, expression):
        return False

    def related(self, synset):
        return ()


@pytest.fixture(autouse=True)
def two_words(monkeypatch, settings):
    monkeypatch.setattr(Resources, "lexicon", lambda self: TwoWords())


def perturb(capsys, tmp_path, lines, *words):
    source, out = tmp_path / "texts.jsonl", tmp_path / "made" / "perturbed.jsonl"
    source.write_bytes(lines)
    status = main(["perturb", "--in", str(source), "--out", str(out), "--senses", "first", *words])
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()] if out.exists() else []
    return status, rows, capsys.readouterr()


def test_a_line_out_adds_the_perturbed_text_and_its_swaps(capsys, tmp_path):
    lines = b'{"text": "The doctor bought it.", "note": 3}\n\n{"text": "", "id": "x"}\n'
    status, rows, _ = perturb(capsys, tmp_path, lines)
    assert status == 0
    assert rows[0]["perturbed"] == "The physician purchased it." and rows[0]["note"] == 3
    assert rows[0]["swaps"][1] == {
        "start": 11,
        "end": 17,
        "original": "bought",
        "lemma": "buy",
        "pos": "v",
        "synset": "buy.v.01",
        "definition": "what buy means",
        "substitute": "purchased",
    }
    assert rows[1] == {"text": "", "id": "x", "perturbed": "", "swaps": []}


def test_only_nouns_only_verbs_or_not_this_word(capsys, tmp_path):
    line = b'{"text": "The doctor bought it."}\n'
    assert perturb(capsys, tmp_path, line, "--pos", "N")[1][0]["perturbed"] == "The physician bought it."
    assert perturb(capsys, tmp_path, line, "--pos", "V")[1][0]["perturbed"] == "The doctor purchased it."
    assert perturb(capsys, tmp_path, line, "--veto", "buy")[1][0]["perturbed"] == "The physician bought it."


def test_lines_that_cannot_be_read_are_named_and_the_others_perturbed(capsys, tmp_path):
    lines = b'\xef\xbb\xbf{"text": "A doctor."}\nnot json\n{"text": 3}\n\xff\n["text"]\n'
    status, rows, printed = perturb(capsys, tmp_path, lines, "--json")
    assert status == 1
    assert [row["perturbed"] for row in rows] == ["A physician.", None, None, None, None]
    assert rows[1]["line"] == 2 and "not a JSON object" in rows[1]["error"]
    assert rows[2]["text"] == 3 and "text is a number" in rows[2]["error"]
    assert rows[1]["raw"] == "not json" and rows[4]["raw"] == '["text"]' and "raw" not in rows[2]
    assert rows[3]["raw"].encode("utf-8", "surrogateescape") == b"\xff"
    assert "line 4: byte 0 is not UTF-8" in printed.err
    assert json.loads(printed.out)["failed"] == 4


def test_a_file_perturbed_in_place_loses_no_line(capsys, tmp_path):
    source = tmp_path / "texts.jsonl"
    source.write_bytes(b'{"text": "A doctor."}\nnot json\n{}\n')
    for _ in range(2):
        assert main(["perturb", "--in", str(source), "--out", str(source), "--senses", "first"]) == 1
        rows = [json.loads(line) for line in source.read_text("utf-8").splitlines()]
        assert [row.get("text") or row.get("raw") for row in rows] == ["A doctor.", "not json", None]
        assert rows[2]["line"] == 3


def test_the_order_of_lines_changes_nothing(capsys, tmp_path):
    lines = [b'{"text": "A doctor."}\n', b'{"text": "Doctors buy it.", "id": 7}\n']
    _, forwards, _ = perturb(capsys, tmp_path, b"".join(lines))
    _, backwards, _ = perturb(capsys, tmp_path, b"".join(lines[::-1]))
    assert forwards == backwards[::-1]


def test_a_file_that_is_not_there_is_an_error(capsys, tmp_path):
    status = main(["perturb", "--in", str(tmp_path / "none.jsonl"), "--out", str(tmp_path / "out.jsonl")])
    assert status == 1 and "none.jsonl cannot be read" in capsys.readouterr().err


def test_a_method_that_asks_a_model_needs_one(capsys, tmp_path):
    status, rows, printed = perturb(capsys, tmp_path, b'{"text": "A doctor."}\n', "--senses", "lm")
    assert status == 1 and rows == [] and "--model" in printed.err


def test_a_line_that_says_its_language_is_believed(capsys, tmp_path):
    rows = [
        {"text": "The doctor came.", "language": "en"},
        {"text": "The doctor came.", "lang": "nl"},
        {"text": "De doctor hat.", "language": "English"},
    ]
    status, found, _ = perturb(capsys, tmp_path, b"\n".join(json.dumps(row).encode() for row in rows))
    assert status == 1 and [row["perturbed"] is None for row in found] == [False, True, False]
    assert found[1]["error"] == "The language of this text is Dutch. Words are tagged and swapped in English only."
