"""Small files that stand for endless ones: refused in a sentence before memory is taken."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from explorer.benchmarks.tables import limits, table
from explorer.errors import BenchmarkError
from tests.hard_use.read_with_little_memory import read


def pages(text: str, times: int) -> pa.Array:
    """A column in which one text stands many times."""
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(times, dtype=np.int32)), pa.array([text]))


TABLES = {
    "a megabyte meant a million times": lambda: (pa.table({"good": pages("x" * 10**6, 10**6)}), {}),
    "texts of 300 MB packed to nothing": lambda: (
        pa.table({"good": pa.concat_arrays([pa.array(["y" * (300 << 20)])] * 2)}),
        {"use_dictionary": False, "compression": "zstd", "write_statistics": False},  # else 9 s go into the largest
    ),
    "fifty million rows": lambda: (pa.table({"good": pages("x", 5_000_000)}), {}),
    "a list of forty million nothings": lambda: (
        pa.table({"good": pa.ListArray.from_arrays([0, 40_000_000], pa.nulls(40_000_000, pa.int64()))}),
        {},
    ),
    "each text the one before and a letter": lambda: (
        pa.table({"good": ["x" * 10**6 + str(place) for place in range(300)]}),
        {"use_dictionary": False, "column_encoding": {"good": "DELTA_BYTE_ARRAY"}},
    ),
    "three thousand columns": lambda: (pa.table({f"c{place}": [1] for place in range(3000)}), {}),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_parquet_bomb_is_refused_before_it_is_read(name, tmp_path, one_sentence):
    table, options = TABLES[name]()
    path = tmp_path / "bomb.parquet"
    pq.write_table(table, path, **options)
    assert path.stat().st_size < 5 << 20
    assert "expected" in one_sentence(read("table", path))


def lying(path: Path) -> Path:
    """A table whose footer calls its pages small while their own headers do not."""
    pq.write_table(pa.table({"good": ["a" * 2000] * 9}), path, use_dictionary=False, compression="none")
    data = bytearray(path.read_bytes())
    # The page's size, zigzag in Thrift's compact form, right behind the page's type: 18,036 bytes become two gigabytes.
    place = data.index(b"\x15\x00\x15", 4) + 3
    end = place
    while data[end] & 0x80:
        end += 1
    huge = (2**31 - 2) * 2
    written = bytes([huge >> shift & 0x7F | 0x80 for shift in (0, 7, 14, 21)] + [huge >> 28])
    data[place : end + 1] = written
    path.write_bytes(bytes(data))
    return path


def test_a_parquet_file_is_not_believed_what_it_says_of_its_size(tmp_path, one_sentence):
    assert "MiB in memory, expected at most" in one_sentence(read("table", lying(tmp_path / "liar.parquet")))


TEXTS = {
    "a file of brackets": ("mine.json", lambda: b"[" + b"[]," * 12_000_000 + b"[]]"),
    "a file of empty lines": ("mine.csv", lambda: b"good,bad\n" + b"a,b\n" * 1_100_000),
    "a line of commas": ("mine.csv", lambda: b"good,bad\n" + b"," * 11_000_000),
    "a file of 220 MB": ("mine.csv", lambda: b"good,bad\n" + (b"x" * 999 + b"," + b"y" * 999 + b"\n") * 110_000),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_table_of_too_many_values_is_refused_before_they_are_made(name, tmp_path, one_sentence):
    file, data = TEXTS[name]
    path = tmp_path / file
    path.write_bytes(data())
    assert "expected at most" in one_sentence(read("table", path))


def test_a_json_file_of_one_line_is_counted_before_it_is_decoded(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "MOST_VALUES", 1000)
    monkeypatch.setattr(json, "loads", lambda text, **named: pytest.fail(f"{len(text)} characters were decoded"))
    path = tmp_path / "mine.json"
    path.write_text("[" + "[]," * 2000 + "[]]")
    with pytest.raises(BenchmarkError, match="expected at most"):
        table.guess_reading(path)


@pytest.mark.parametrize("what", ["table", "log", "run"])
def test_a_device_or_pipe_is_no_table_no_log_and_no_run(what, tmp_path, one_sentence):
    (tmp_path / "endless").symlink_to("/dev/zero")
    assert "it is no plain file" in one_sentence(read(what, tmp_path / "endless"))


VALUES = {
    "a date beyond all calendars": lambda: pa.table({"good": pa.array([2**53], pa.timestamp("ms")), "bad": ["b"]}),
    "a time zone that nobody knows": lambda: pa.table(
        {"good": pa.array([1], pa.timestamp("us", tz="Nowhere/Never")), "bad": ["b"]}
    ),
    "two columns of one name": lambda: pa.table([pa.array(["a"]), pa.array(["b"])], names=["good", "good"]),
}


@pytest.mark.parametrize("name", VALUES)
def test_a_table_of_odd_values_is_refused_and_not_called_damaged(name, tmp_path, one_sentence):
    pq.write_table(VALUES[name](), tmp_path / "odd.parquet")
    said = one_sentence(read("table", tmp_path / "odd.parquet"))
    assert ("cannot be read (" in said or "several columns called 'good'" in said) and "Download" not in said


def gzipped(path: Path, start: bytes, piece: bytes, times: int) -> Path:
    """The piece so many times behind the start, each a member of its own, so that it is packed once."""
    path.write_bytes(gzip.compress(start, 1) + gzip.compress(piece, 1) * times)
    return path


def evaluation(path: Path, entry: bytes) -> Path:
    head = {"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}, "results": {}}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(head))
        archive.writestr("samples/1_epoch_1.json", entry)
    return path


def attached() -> bytes:
    one = {"id": 1, "epoch": 1, "input": "attachment://ab " * 10_000, "attachments": {"ab": "x" * 10**6}}
    return json.dumps(one).encode()


LOGS = {
    "a line without end": lambda folder: gzipped(folder / "samples_x.jsonl.gz", b'{"doc_id": "', b"x" * 10**6, 300),
    "a value without end": lambda folder: gzipped(folder / "x.json.gz", b'{"eval": {}, "x": "', b"x" * 10**6, 300),
    "brackets": lambda folder: gzipped(folder / "x.json.gz", b'{"eval": {}, "x": [', b"[]," * 10**6, 12),
    "an entry of zeros": lambda folder: evaluation(folder / "x.eval", b" " * (120 << 20)),
    "a text that stands ten thousand times": lambda folder: evaluation(folder / "x.eval", attached()),
}


@pytest.mark.parametrize("name", LOGS)
def test_a_log_that_unpacks_without_end_is_refused(name, tmp_path, one_sentence):
    said = one_sentence(read("log", LOGS[name](tmp_path)))
    assert said != "read" and ("expected" in said or "more than" in said)


def test_an_ontology_that_unpacks_without_end_is_refused(tmp_path, one_sentence):
    path = gzipped(tmp_path / "bomb.obo.gz", b"format-version: 1.2\n", b"x" * 10**6, 300)
    assert "unpacks to more than" in one_sentence(read("obo", path))


OWL = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:owl="http://www.w3.org/2002/07/owl#">{}</rdf:RDF>'
ENTITIES = {
    "names for names": '<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">',
    "a long text": f'<!ENTITY a "{"x" * 10_000}">',
    "a file of this machine": '<!ENTITY a SYSTEM "file:///etc/passwd">',
    "a file of another machine": '<!ENTITY % a SYSTEM "http://127.0.0.1:9/x.dtd"> %a;',
}


@pytest.mark.parametrize("name", ENTITIES)
def test_an_entity_that_stands_for_more_than_an_address_is_refused(name, tmp_path, one_sentence):
    path = tmp_path / "bomb.owl"
    path.write_text(f"<?xml version='1.0'?><!DOCTYPE rdf:RDF [{ENTITIES[name]}]>{OWL.format('&a;')}")
    assert "declares the entity" in one_sentence(read("owl", path))


def test_a_short_address_may_be_an_entity(tmp_path):
    path = tmp_path / "fine.owl"
    term = (
        '<owl:Class xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#" rdf:about="&obo;TOY_0000001">'
        "<rdfs:label>cup</rdfs:label></owl:Class>"
    )
    path.write_text(
        "<?xml version='1.0'?><!DOCTYPE rdf:RDF [<!ENTITY obo 'http://purl.obolibrary.org/obo/'>]>"
        + OWL.format("<owl:Ontology rdf:about='http://purl.obolibrary.org/obo/toy.owl'/>" + term)
    )
    assert "read" in read("owl", path)
