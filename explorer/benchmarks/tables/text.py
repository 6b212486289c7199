"""Text → rows of cells: guesses a table's delimiter, quoting, the lines before it, and whether it has a header."""

from __future__ import annotations

import codecs
import csv
import io
import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from statistics import median

from explorer.benchmarks.tables.names import is_known_name
from explorer.errors import BenchmarkError, UsageError

DELIMITERS = (",", "\t", ";", "|")
SAMPLE = 200_000  # characters on which the delimiter is guessed
HEADED = 200  # rows with which a first row is compared
WIDEST = 2**31 - 1  # characters in a cell

_FOREIGN = (
    (b"PK\x03\x04", "a zip or Excel file", "Unpack it, or save the sheet as CSV"),
    (b"\x1f\x8b", "a gzip file", "Unpack it"),
    (b"BZh", "a bzip2 file", "Unpack it"),
    (b"\xfd7zXZ\x00", "an xz file", "Unpack it"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file", "Unpack it"),
    (b"\x04\x22\x4d\x18", "an LZ4 file", "Unpack it"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip file", "Unpack it"),
    (b"Rar!\x1a\x07", "a RAR file", "Unpack it"),
    (b"ARROW1", "an Arrow or Feather file", "Save its table as Parquet"),
    (b"SQLite format 3\x00", "an SQLite database", "Save its table as CSV"),
    (b"\x89HDF", "an HDF5 file", "Save its table as CSV"),
    (b"%PDF", "a PDF", "Save its table as CSV"),
    (b"\xd0\xcf\x11\xe0", "an old Excel file", "Save the sheet as CSV"),
)
OBO = re.compile(rb"format-version:\s|\[term\]\s")  # how an ontology in OBO begins, in small letters
EXCEL = re.compile(r"[\ufeff\s]*\"?sep=(.)\"?[ \t]*\r?(\n|$)", re.IGNORECASE)  # names the delimiter to Excel


@dataclass(frozen=True, slots=True)
class Dialect:
    """How lines become cells. A delimiter of "" means that each line is one cell."""

    delimiter: str
    quoting: bool  # whether "..." encloses a cell; otherwise quotes are text
    header: bool
    skip: int = 0  # lines before the table


@dataclass(frozen=True, slots=True)
class Line:
    """The cells of one row, or why it could not be read; `number` is the line where it ends, from 1."""

    number: int
    cells: tuple[str, ...] = ()
    reason: str = ""
    counts: bool = True  # whether it is a row, if an unreadable one; empty lines and comments are none


def no_texts(name: str, what: str) -> BenchmarkError:
    """What to do about the terms of an ontology, which no model is asked about as a table."""
    return BenchmarkError(f"{name} {what}; those are asked by `python -m explorer run ontology --benchmark FILE`.")


def refuse_foreign(data: bytes, name: str) -> None:
    """Raise for what is plainly no table: an archive, a PDF, a web page, nothing."""
    if not data.strip():
        raise BenchmarkError(f"{name} is empty, expected a table. Choose another file.")
    for start, file_type, advice in _FOREIGN:
        if data.startswith(start):
            raise BenchmarkError(f"{name} is {file_type}, expected a table. {advice} and import that.")
    if data[257:262] == b"ustar":
        raise BenchmarkError(f"{name} is a tar file, expected a table. Unpack it and import that.")
    begin = data[:2000].lstrip(codecs.BOM_UTF8 + b" \t\r\n").lower()
    if begin.startswith((b"<?xml", b"<!doctype rdf", b"<rdf:rdf", b"<ontology")) and any(
        mark in begin for mark in (b"<rdf:rdf", b"<owl:ontology", b"<ontology")
    ):
        raise no_texts(name, "is an ontology in OWL, which holds terms and no table")
    if OBO.match(begin):
        raise no_texts(name, "is an ontology in OBO, which holds terms and no table")
    if begin.startswith((b"<!doctype html", b"<html", b"<head", b"<?xml", b"<!doctype")):
        raise BenchmarkError(f"{name} is a web page or XML, expected a table. Download the raw file and import that.")


def guess_dialect(
    text: str,
    name: str,
    delimiter: str | None = None,
    quoting: bool | None = None,
    header: bool | None = None,
    columns: Collection[str] = (),
) -> Dialect:
    """The dialect under which most rows have as many cells as the first; what is given is kept.

    `columns` are the names that somebody said columns have: where the first row holds one, it is a header.
    """
    if delimiter is not None and (len(delimiter) > 1 or delimiter in ("\r", "\n", '"', " ")):
        raise UsageError(f"{delimiter!r} cannot part cells; name one character, or none where a line is one cell.")
    excel_line = EXCEL.match(text)
    skip = text[: excel_line.end()].count("\n") if excel_line else 0
    if excel_line and delimiter is None:
        delimiter = excel_line[1]
    comments = _comment_lines(text, skip)
    body = _text_after(text, skip + comments)
    sample = body[: body.find("\n", SAMPLE) + 1 or len(body)]  # whole lines, however long
    if delimiter is None or (delimiter and delimiter not in body):
        guessed = _guess_delimiter(sample, quoting, prefers_tabs=name.lower().endswith((".tsv", ".tab")))
        if delimiter and guessed:  # a table would be read as a text a line
            raise UsageError(
                f"{name} holds no {delimiter!r}, expected it between cells; {guessed!r} parts its lines. Name that "
                "one, or none where a line is one cell."
            )
        delimiter = guessed if delimiter is None else delimiter
    if quoting is None:
        quoting = bool(delimiter) and _guess_quoting(body, delimiter)
    if comments and _is_headed_by_comment(text, skip + comments, body, delimiter, quoting):
        comments -= 1
    skip += comments
    if header is None:
        lines = (line.cells for line in split_rows(text, delimiter, quoting, skip) if line.cells)
        header = has_header(list(itertools.islice(lines, HEADED)), columns)
    return Dialect(delimiter, quoting, header, skip)


def _comment_lines(text: str, skip: int) -> int:
    """How many lines from there on begin with #, none where all do."""
    lines = text[:SAMPLE].split("\n")[skip:]
    count = next((number for number, line in enumerate(lines) if line.strip() and not line.startswith("#")), 0)
    return count if any(line.startswith("#") for line in lines[:count]) else 0


def _is_headed_by_comment(text: str, lines: int, body: str, delimiter: str, quoting: bool) -> bool:
    """Whether the last line with # has the columns of the rows below, as in "#good<tab>bad", and they no header."""
    rows = [line.cells for line in itertools.islice(split_rows(body, delimiter, quoting), HEADED) if line.cells]
    if has_header(rows):
        return False
    last = text.split("\n")[lines - 1]
    widths = Counter(len(line.cells) for line in itertools.islice(split_rows(body, delimiter, quoting), HEADED))
    cells = next((line.cells for line in split_rows(last, delimiter, quoting)), ())
    return len(cells) > 1 and bool(widths) and len(cells) == widths.most_common(1)[0][0]


def _text_after(text: str, lines: int) -> str:
    return text.split("\n", lines)[-1] if lines else text


def split_rows(text: str, delimiter: str, quoting: bool, skip: int = 0) -> Iterator[Line]:
    """The rows of a text, with those that cannot be read, and the empty lines and comments that are no rows."""
    for number, line in enumerate(text.split("\n")[:skip] if skip else (), 1):
        if line.strip("\ufeff \t\r"):
            yield Line(number, reason="a line before the table", counts=False)
    body = _text_after(text, skip)
    end = (
        skip + len(re.findall(r"\r\n|\r|\n", body.rstrip())) + 1
    )  # empty lines at the end of a file are nothing that is missing
    if not delimiter:
        for number, line in enumerate(io.StringIO(body, newline=""), skip + 1):
            if line.strip():
                yield Line(number, (line.rstrip("\r\n"),))
            elif number < end:
                yield Line(number, reason="an empty row", counts=False)
        return
    csv.field_size_limit(WIDEST)
    rows = io.StringIO(body, newline="")
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
            yield Line(skip + reader.line_num, reason=f"broken quoting ({error})")
        else:
            if any(cells):
                yield Line(skip + reader.line_num, tuple(cells))
            elif cells or skip + reader.line_num < end:
                yield Line(skip + reader.line_num, reason="an empty row", counts=False)


def has_header(rows: Sequence[tuple[str, ...]], columns: Collection[str] = ()) -> bool:
    """Whether the first row holds names of columns and not the first values of them."""
    if not rows:
        return False
    first = [cell.strip() for cell in rows[0]]
    filled = [cell for cell in first if cell]
    below = [row for row in rows[1:] if len(row) == len(first)]
    if columns and any(column in first for column in columns):
        return True
    if any(re.fullmatch(r"column \d+", column) for column in columns):
        return False
    if not filled or (len(filled) > 1 and len(set(filled)) == 1):
        return False
    if any(_reads_like_a_value(cell) for cell in filled):
        return False
    values = [{row[i].strip() for row in below} for i in range(len(first))]
    # A name does not come again below it; what does is a value, like True, good or a label.
    if any(cell and cell in column for cell, column in zip(first, values, strict=False)):
        return False
    if any(is_known_name(cell) for cell in filled):
        return True
    return not any(_is_alike(cell, [row[i] for row in below]) for i, cell in enumerate(first) if cell)


def _reads_like_a_value(cell: str) -> bool:
    """Whether a cell is plainly no name: a sentence, a number, a long text."""
    if re.fullmatch(r"[-+]?[\d.,]+%?|true|false|nan|null|none|\?|\*", cell, re.IGNORECASE):
        return True
    if len(cell) > 60 or len(cell.split()) > 6:
        return True
    if is_known_name(cell):
        return False
    return bool(re.search(r"[.!?。！？…][\"'”’)]?$", cell)) and not re.search(r"\bno\.$", cell, re.IGNORECASE)


def _is_alike(cell: str, column: Sequence[str]) -> bool:
    """Whether a cell with several words could be one more of the texts below it."""
    words = [len(text.split()) for text in column if text.strip()]
    if not words or len(cell.split()) < 3:
        return False
    return len(cell.split()) >= min(words) and median(words) >= 3


def look_alike(first: str, second: str) -> float:
    """How much of two texts is shared, word by word, from 0 to 1."""
    return SequenceMatcher(None, first.split(), second.split(), autojunk=False).ratio()


def _guess_delimiter(sample: str, quoting: bool | None, prefers_tabs: bool) -> str:
    best, chosen = 0.0, ""
    for delimiter in ("\t", *DELIMITERS) if prefers_tabs else DELIMITERS:
        for marks in (True, False) if quoting is None else (quoting,):
            widths = Counter(len(line.cells) for line in split_rows(sample, delimiter, marks) if line.counts)
            width, count = widths.most_common(1)[0] if widths else (0, 0)
            # The more cells agree on more columns, the better; the extension breaks the tie of plain text.
            share = count / widths.total() if width > 1 else 0.0
            if prefers_tabs and delimiter == "\t" and share > 0.9:
                return "\t"
            if delimiter in ",;|" and width > 1 and _is_running_text(sample, delimiter, marks):
                continue
            if share > 0.5 and (score := share + 0.001 * min(width, 50)) > best:
                best, chosen = score, delimiter
    return chosen


def _is_running_text(sample: str, delimiter: str, quoting: bool) -> bool:
    """Whether the signs are those of sentences: each stands before a blank, and the first row holds no names."""
    lines = [line.cells for line in split_rows(sample, delimiter, quoting) if line.counts]
    if any(is_known_name(cell) for cell in lines[0]):
        return False
    return all(cell.startswith(" ") or not cell for cells in lines for cell in cells[1:]) and '"' not in sample


def _guess_quoting(text: str, delimiter: str) -> bool:
    if '"' not in text:
        return True
    plain = [line for line in split_rows(text, delimiter, quoting=False) if line.counts]
    quoted = [line for line in split_rows(text, delimiter, quoting=True) if line.counts]
    shares = [_agreement(lines) for lines in (quoted, plain)]
    if shares[0] != shares[1]:
        return shares[0] > shares[1]
    # Both readings are even: quotes are marks where each that opens a cell also closes it.
    opened = [cell for line in plain for cell in line.cells if cell.startswith('"')]
    return all(len(cell) > 1 and cell.endswith('"') for cell in opened)


def _agreement(lines: list[Line]) -> float:
    if not lines:
        return 0.0
    width = len(lines[0].cells)
    return sum(len(line.cells) == width for line in lines) / len(lines)
