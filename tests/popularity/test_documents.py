"""Text files to documents."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from explorer.errors import CountError
from explorer.popularity import documents


def write_lines(path: Path, *texts: str) -> Path:
    data = "".join(json.dumps({"text": text, "id": 1}) + "\n" for text in texts).encode()
    path.write_bytes(gzip.compress(data) if path.name.endswith(".gz") else data)
    return path


def texts(*paths: Path) -> list[str]:
    return [document.text for document in documents.read_documents(paths)]


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.json.gz"])
def test_each_json_line_is_a_document(tmp_path: Path, name: str):
    path = write_lines(tmp_path / name, "one\ntwo", "", "Zoë")
    found = list(documents.read_documents([path]))
    assert [(each.text, each.path, each.number) for each in found] == [("one\ntwo", name, 0), ("Zoë", name, 2)]


def test_a_text_file_is_a_document(tmp_path: Path):
    (tmp_path / "a.txt").write_text("one\n\ntwo")
    assert texts(tmp_path / "a.txt") == ["one\n\ntwo"]


def test_wikitext_is_split_at_its_top_headings(tmp_path: Path):
    text = " \n = Cat = \n \n A cat . \n \n = = Diet = = \n \n Mice . \n = Dog = \n A dog . \n"
    (tmp_path / "wiki.test.raw").write_text(text)
    found = texts(tmp_path / "wiki.test.raw")
    assert [each.split(" = ")[1] for each in found] == ["Cat", "Dog"]
    assert "".join(found) == text.removeprefix(" \n")


def test_a_long_file_is_cut_at_blank_lines_and_nothing_is_lost(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(documents, "PART", 50)
    text = "\n\n".join(f"Paragraph {i} has some words." for i in range(20))
    (tmp_path / "a.txt").write_text(text)
    found = texts(tmp_path / "a.txt")
    assert len(found) > 3
    assert "".join(found) == text
    assert all(part.startswith("Paragraph") for part in found)


def test_folders_are_read_by_name(tmp_path: Path):
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "z.txt").write_text("third")
    (tmp_path / "a.txt").write_text("first")
    write_lines(tmp_path / "b" / "c.jsonl", "second")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    assert texts(tmp_path) == ["first", "second", "third"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", b'{"text": "a"}\n{"text": \n', r"line 2 is no JSON"),
        ("a.jsonl", b'{"txt": "a"}\n', r"line 1 has no `text`"),
        ("a.jsonl", b"[1]\n", r"line 1 has no `text`"),
        ("a.jsonl", b'{"text": 5}\n', r"line 1 has no `text`"),
        ("a.jsonl", b"\xff\xfe", r"cannot be read"),
        ("a.jsonl.gz", b"no gzip at all", r"cannot be read"),
        ("a.jsonl.gz", gzip.compress(b'{"text": "a"}\n', mtime=0)[:-6], r"cannot be read"),
        ("a.txt", b"\xff\xfe\xff", r"Expected text in UTF-8"),
        ("a.pdf", b"%PDF", r"ends in none of"),
    ],
)
def test_what_cannot_be_read_is_told_plainly(tmp_path: Path, name: str, content: bytes, message: str):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(CountError, match=message):
        texts(tmp_path / name)


def test_missing_files_and_empty_folders_are_told_plainly(tmp_path: Path):
    with pytest.raises(CountError, match="does not exist"):
        texts(tmp_path / "none.txt")
    with pytest.raises(CountError, match="holds no file"):
        texts(tmp_path)
