"""Text files → the documents of a corpus, in a fixed order.

.jsonl, .json.gz, .jsonl.gz    a JSON object with `text` a line, a document each
.txt, .raw, .md, .rst          a document a file; WikiText files an article each; long files in parts cut at blank lines
a folder                       all such files below it, by name
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import IO

from explorer.errors import CountError

JSON_SUFFIXES = (".jsonl", ".jsonl.gz", ".json.gz")
TEXT_SUFFIXES = (".txt", ".raw", ".md", ".rst")
LONGEST = 1 << 28  # characters of a JSON line; a small gzip file may hold one without end
PART = 1 << 20  # characters; a longer file is cut, and no n-gram is counted across a cut
_ARTICLE = re.compile(r"^ = [^=].*[^=] = \n", re.MULTILINE)  # WikiText's top-level headings
_PARAGRAPH = re.compile(r"\n[ \t]*\n")


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """A document's text, its file and its number in it, from 0."""

    text: str
    path: str
    number: int


def read_documents(inputs: Sequence[Path]) -> Iterator[SourceDocument]:
    """The documents of all files and folders, empty ones left out."""
    for path in list_files(inputs):
        documents = _json_lines(path) if path.name.endswith(JSON_SUFFIXES) else _text_parts(path)
        for number, text in documents:
            if text.strip():
                yield SourceDocument(text, path.name, number)


def list_files(inputs: Iterable[Path]) -> list[Path]:
    """The files to be read, folders opened."""
    paths: list[Path] = []
    for path in inputs:
        if path.is_dir():
            inside = sorted(each for each in path.rglob("*") if each.is_file() and _is_readable(each))
            if not inside:
                raise CountError(f"{path} holds no file ending in {', '.join(JSON_SUFFIXES + TEXT_SUFFIXES)}.")
            paths += inside
        elif not path.exists():
            raise CountError(f"{path} does not exist. Give text or JSONL files, or a folder of them.")
        elif not _is_readable(path):
            raise CountError(
                f"{path} ends in none of {', '.join(JSON_SUFFIXES + TEXT_SUFFIXES)}. Rename or convert it."
            )
        else:
            paths.append(path)
    return paths


def _is_readable(path: Path) -> bool:
    return path.name.endswith(JSON_SUFFIXES + TEXT_SUFFIXES)


def _json_lines(path: Path) -> Iterator[tuple[int, str]]:
    with _open(path) as lines:
        try:
            for number, line in enumerate(iter(lambda: lines.readline(LONGEST), "")):
                if len(line) == LONGEST:
                    raise CountError(
                        f"{path} line {number + 1} has more than {LONGEST:,} characters, which no document has. Cut "
                        "it up."
                    )
                if line.strip():
                    yield number, _text_field(path, number, line)
        except (
            OSError,
            EOFError,
            zlib.error,
            UnicodeDecodeError,
        ) as error:  # also what gzip raises over a damaged file
            raise CountError(f"{path} cannot be read ({error}). Expected JSON lines in UTF-8.") from error


def _text_field(path: Path, number: int, line: str) -> str:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise CountError(f"{path} line {number + 1} is no JSON ({error}). Expected an object with `text`.") from error
    text = row.get("text") if isinstance(row, dict) else None
    if not isinstance(text, str):
        raise CountError(f"{path} line {number + 1} has no `text`. Expected an object with a text under that key.")
    # Half a surrogate pair is no character: nothing could be counted with it.
    return text.encode("utf-8", "replace").decode("utf-8")


def _open(path: Path) -> IO[str]:
    if path.name.endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8")
    return path.open(encoding="utf-8")


def _text_parts(path: Path) -> Iterator[tuple[int, str]]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CountError(f"{path} cannot be read ({error}). Expected text in UTF-8.") from error
    headings = [match.start() for match in _ARTICLE.finditer(text)]
    pieces = _cut_text(text, headings) if len(headings) > 1 else [text]
    yield from enumerate(part for piece in pieces for part in _in_parts(piece))


def _in_parts(text: str) -> list[str]:
    """A text in parts of about PART characters, cut at blank lines."""
    if len(text) <= PART:
        return [text]
    cuts, last = [], 0
    for match in _PARAGRAPH.finditer(text):
        if match.end() - last >= PART:
            cuts.append(match.end())
            last = match.end()
    return _cut_text(text, cuts)


def _cut_text(text: str, cuts: Sequence[int]) -> list[str]:
    bounds = [0, *(cut for cut in cuts if cut > 0), len(text)]
    return [text[first:last] for first, last in pairwise(bounds)]
