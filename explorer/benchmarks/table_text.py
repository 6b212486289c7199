"""Bytes → rows of cells: guesses a table's encoding, delimiter, quoting and header."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from explorer.errors import BenchmarkError, UsageError

DELIMITERS = (",", "\t", ";", "|")
SAMPLE = 200_000  # characters on which the delimiter is guessed
WIDEST = 2**31 - 1  # characters in a cell

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_FOREIGN = (
    (b"PK\x03\x04", "a zip or Excel file", "Unpack it, or save the sheet as CSV"),
    (b"\x1f\x8b", "a gzip file", "Unpack it"),
    (b"%PDF", "a PDF", "Save its table as CSV"),
    (b"\xd0\xcf\x11\xe0", "an old Excel file", "Save the sheet as CSV"),
)


@dataclass(frozen=True, slots=True)
class Dialect:
    """How lines become cells. A delimiter of "" means that each line is one cell."""

    delimiter: str
    quoting: bool  # whether "..." encloses a cell; otherwise quotes are text
    header: bool


@dataclass(frozen=True, slots=True)
class Line:
    """The cells of one row, or why it could not be read; `number` is the line where it ends, from 1."""

    number: int
    cells: tuple[str, ...] = ()
    reason: str = ""


def refuse_foreign(data: bytes, name: str) -> None:
    """Raise for what is plainly no table: an archive, a PDF, a web page, nothing."""
    if not data.strip():
        raise BenchmarkError(f"{name} is empty, expected a table. Choose another file.")
    for start, what, advice in _FOREIGN:
        if data.startswith(start):
            raise BenchmarkError(f"{name} is {what}, expected a table. {advice} and import that.")
    begin = data[:2000].lstrip(codecs.BOM_UTF8 + b" \t\r\n").lower()
    if begin.startswith((b"<!doctype html", b"<html", b"<head", b"<?xml", b"<!doctype")):
        raise BenchmarkError(f"{name} is a web page or XML, expected a table. Download the raw file and import that.")


def decode(data: bytes, name: str, encoding: str = "") -> tuple[str, str]:
    """(text, encoding); unless given, the first that fits of BOM, UTF-16 without BOM, UTF-8, Windows and Latin-1."""
    if encoding:
        try:
            return data.decode(encoding), encoding
        except (UnicodeError, LookupError) as error:
            raise BenchmarkError(f"{name} cannot be read as {encoding} ({error}). Name another encoding.") from error
    for candidate in _encodings(data):
        try:
            text = data.decode(candidate)
        except UnicodeError:
            continue
        if text.count("\0") > len(text) // 10:
            break
        return text, candidate
    raise BenchmarkError(f"{name} is no text file, expected CSV, TSV, JSON, JSON Lines or Parquet.")


def _encodings(data: bytes) -> list[str]:
    marked = [encoding for bom, encoding in _BOMS if data.startswith(bom)]
    if marked:
        return marked[:1]
    even, odd = data[:4000:2].count(0), data[1:4000:2].count(0)
    if max(even, odd) > len(data[:4000]) // 5:  # Latin letters in UTF-16 leave every other byte zero
        return ["utf-16-be" if even > odd else "utf-16-le"]
    return ["utf-8", "cp1252", "latin-1"]


def guess_dialect(
    text: str,
    name: str,
    delimiter: str | None = None,
    quoting: bool | None = None,
    header: bool | None = None,
) -> Dialect:
    """The dialect under which most rows have as many cells as the first; what is given is kept."""
    if delimiter is not None and (len(delimiter) > 1 or delimiter in ("\r", "\n", '"', " ")):
        raise UsageError(f"{delimiter!r} cannot part cells; name one character, or none where a line is one cell.")
    if delimiter is None:
        sample = text[: text.find("\n", SAMPLE) + 1 or len(text)]  # whole lines, however long
        delimiter = _guess_delimiter(sample, quoting, prefers_tabs=name.lower().endswith((".tsv", ".tab")))
    if quoting is None:
        quoting = bool(delimiter) and _guess_quoting(text, delimiter)
    if header is None:
        first = next((line for line in split(text, delimiter, quoting) if line.cells), Line(0))
        header = looks_like_header(first.cells)
    return Dialect(delimiter, quoting, header)


def split(text: str, delimiter: str, quoting: bool) -> Iterator[Line]:
    """The rows of a text, those that cannot be read included, empty lines left out."""
    if not delimiter:
        for number, line in enumerate(io.StringIO(text, newline=""), 1):
            if line.strip():
                yield Line(number, (line.rstrip("\r\n"),))
        return
    csv.field_size_limit(WIDEST)
    rows = io.StringIO(text, newline="")
    reader = (
        csv.reader(rows, delimiter=delimiter, strict=True)
        if quoting
        else csv.reader(rows, delimiter=delimiter, quoting=csv.QUOTE_NONE)
    )
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield Line(reader.line_num, reason=f"broken quoting ({error})")
        else:
            if any(cells):
                yield Line(reader.line_num, tuple(cells))


def looks_like_header(cells: tuple[str, ...]) -> bool:
    """Whether cells read like column names: short, not all the same, no sentences, no numbers."""
    named = [cell.strip() for cell in cells if cell.strip()]
    return (
        bool(named)
        and (len(named) == 1 or len(set(named)) > 1)
        and all(re.fullmatch(r"[^\W\d][\w .:/-]{0,39}", cell) and not cell.endswith(".") for cell in named)
        and all(len(cell.split()) <= 4 for cell in named)
    )


def _guess_delimiter(sample: str, quoting: bool | None, prefers_tabs: bool) -> str:
    best, chosen = 0.0, ""
    for delimiter in ("\t", *DELIMITERS) if prefers_tabs else DELIMITERS:
        for marks in (True, False) if quoting is None else (quoting,):
            widths = Counter(len(line.cells) for line in split(sample, delimiter, marks))
            width, count = widths.most_common(1)[0] if widths else (0, 0)
            # The more cells agree on more columns, the better; the extension breaks the tie of plain text.
            share = count / widths.total() if width > 1 else 0.0
            if prefers_tabs and delimiter == "\t" and share > 0.9:
                return "\t"
            if share > 0.5 and (score := share + 0.001 * min(width, 50)) > best:
                best, chosen = score, delimiter
    return chosen


def _guess_quoting(text: str, delimiter: str) -> bool:
    if '"' not in text:
        return True
    plain = list(split(text, delimiter, quoting=False))
    quoted = list(split(text, delimiter, quoting=True))
    shares = [_agreement(lines) for lines in (quoted, plain)]
    if shares[0] != shares[1]:
        return shares[0] > shares[1]
    # Both readings are even: quotes are marks where each that opens a cell also closes it.
    opened = [cell for line in plain for cell in line.cells if cell.startswith('"')]
    return all(len(cell) > 1 and cell.endswith('"') for cell in opened)


def _agreement(lines: list[Line]) -> float:
    width = len(lines[0].cells)
    return sum(len(line.cells) == width for line in lines) / len(lines)
