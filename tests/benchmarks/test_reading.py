"""JSON Lines, read a file at once where all is well, line by line where a line has to be looked at."""

import gc
import json

import pytest

from explorer import benchmarks
from explorer.benchmarks.core import reading
from explorer.errors import BenchmarkError

PLAIN = '{"text": "a", "label": 1}'


def read(tmp_path, *lines, end="\n"):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(end.join([*lines, ""]).encode())
    return reading.read_json_rows(path, text=str, label=int)


@pytest.mark.parametrize(
    "odd",
    [
        '  {"text": "b", "label": 2}',
        '{"text": "b", "label": 2} \t',
        '{"text": "b", "label": 2}\r',
        '{"text": "c", "text": "b", "label": 2}',  # of two values the last counts
        '{"label": 2, "text": "\\u0062"}',
    ],
)
def test_an_odd_line_that_is_an_object_gives_the_row_of_a_plain_one(tmp_path, odd):
    expected = [{"text": "a", "label": 1}, {"text": "b", "label": 2}, {"text": "a", "label": 1}]
    assert read(tmp_path, PLAIN, odd, PLAIN) == expected
    assert read(tmp_path, PLAIN, odd, PLAIN, end="\r\n") == expected


def test_true_is_a_whole_number_as_for_python(tmp_path):
    assert read(tmp_path, PLAIN, '{"text": "b", "label": true}')[1] == {"text": "b", "label": True}


def test_a_file_without_lines_has_no_rows(tmp_path):
    (tmp_path / "empty.jsonl").write_bytes(b"")
    assert reading.read_json_rows(tmp_path / "empty.jsonl", text=str) == []


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (f"{PLAIN} {PLAIN}", r"no JSON \(Extra data: line 1 column 27 \(char 26\)\), expected a JSON object a line"),
        (f"{PLAIN},", r"no JSON \(Extra data: line 1 column 26 \(char 25\)\), expected a JSON object a line"),
        ('{"text": "a",', r"no JSON \(.*\), expected a JSON object a line"),
        ("", r"no JSON \(Expecting value: line 1 column 1 \(char 0\)\), expected a JSON object a line"),
        ("\ufeff" + PLAIN, r"no JSON \(Unexpected UTF-8 BOM .*\), expected a JSON object a line"),
        ('{"text": "a\tb", "label": 1}', r"no JSON \(Invalid control character .*\), expected a JSON object a line"),
        ("[1]", "a JSON list, expected an object"),
        ("null", "a JSON NoneType, expected an object"),
        ('"text"', "a JSON str, expected an object"),
        ('{"text": "a"}', "no field label, expected label as int"),
        ('{"text": "a", "label": null}', "label is None, expected label as int"),
        ('{"text": ["a"], "label": 1.0}', r"text is \['a'\], expected text as str"),
    ],
)
def test_the_first_damaged_line_is_named_with_what_is_wrong(tmp_path, line, what):
    with pytest.raises(BenchmarkError, match=rf"^rows\.jsonl line 2: {what}\. Put the published file in its place"):
        read(tmp_path, PLAIN, line, PLAIN, "{")


def test_an_object_over_two_lines_is_none(tmp_path):
    with pytest.raises(BenchmarkError, match=r"rows\.jsonl line 2: no JSON"):
        read(tmp_path, f"{PLAIN}", '{"text": "a",', '"label": 1}', f"{PLAIN},{PLAIN}")


def test_later_uses_of_a_key_are_numbered():
    assert reading.unique_keys(iter("abc")) == ["a", "b", "c"]
    assert reading.unique_keys(iter("abaa")) == ["a", "b", "a#2", "a#3"]


def test_the_collector_is_at_work_after_reading_and_after_an_error(tmp_path, settings, monkeypatch):
    assert gc.isenabled()
    benchmarks.load("starter_pairs", settings)
    assert gc.isenabled()

    def damaged(*_):
        assert not gc.isenabled()
        raise BenchmarkError("damaged")

    broken = benchmarks.BENCHMARKS["starter_pairs"]
    monkeypatch.setitem(benchmarks.BENCHMARKS, "starter_pairs", benchmarks.dataclasses.replace(broken, load=damaged))
    with pytest.raises(BenchmarkError, match="damaged"):
        benchmarks.load("starter_pairs", settings)
    assert gc.isenabled()


def test_a_row_is_what_the_parser_of_python_makes_of_its_line(tmp_path):
    lines = [json.dumps({"text": text, "label": n, "more": [n / 7, None]}) for n, text in enumerate("aé\u2028😀\x7f")]
    assert read(tmp_path, *lines) == [json.loads(line) for line in lines]
