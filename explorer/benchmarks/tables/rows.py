"""A user's file → its rows: CSV, TSV, JSON, JSON Lines or Parquet, each row with the place it stands at."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from explorer import plain_json
from explorer.benchmarks.core.benchmark import LeftOut
from explorer.benchmarks.core.reading import unique_keys
from explorer.benchmarks.tables import limits, options
from explorer.benchmarks.tables import text as table_text
from explorer.benchmarks.tables.encoding import Decoded, decode
from explorer.benchmarks.tables.reading import Reading
from explorer.errors import BenchmarkError, UsageError

LEVELS = 4  # how deep the fields of an object may be nested
LABELS = "labels"  # how the column from a file of its own is called


@dataclass(frozen=True, slots=True)
class Row:
    """A row's cells by column; `number` counts the file's rows from 0, with those that cannot be read."""

    where: str
    number: int
    cells: Mapping[str, Any]


@dataclass(slots=True)
class Table:
    """A file's rows, and those that cannot be read or are not asked for."""

    names: tuple[str, ...]
    rows: list[Row] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    count: int = 0  # rows so far, with those that cannot be read

    def add(self, where: str, cells: Mapping[str, Any]) -> None:
        self.rows.append(Row(where, self.count, cells))
        self.count += 1

    def leave_out(self, where: str, reason: str, counts: bool = True) -> None:
        self.left_out.append(LeftOut(where, reason))
        self.count += counts

    def column(self, name: str) -> list[Any]:
        return [row.cells.get(name) for row in self.rows]


@dataclass(frozen=True, slots=True)
class Opened:
    """A file as it was first looked at: its reading without kind and columns, and what is in it."""

    reading: Reading
    table: Table
    suites: tuple[Any, ...] = ()  # the SyntaxGym suites that a JSON file is


def open_file(
    path: Path,
    *,
    encoding: str = "",
    delimiter: str | None = None,
    quoting: bool | None = None,
    header: bool | None = None,
    columns: Mapping[str, str] | None = None,
    labels: Path | None = None,
    split: str = "",
) -> Opened:
    """Guesses how a file becomes rows, and reads them; what is given is kept."""
    data = read_bytes(path)
    why: dict[str, str] = {}
    draft = Reading("parquet", "cloze", {}, rules=2, split=split, labels=LABELS if labels else "")
    if not (data.startswith(b"PAR1") or path.suffix.lower() == ".parquet"):
        decoded = decode(data, path.name, encoding)
        if decoded.why:
            why["encoding"] = f"{decoded.why}; a line of it: {_telling_line(decoded)}"
        form = _guess_format(path, decoded.text)
        draft = _changed(draft, format=form, encoding=decoded.encoding, why=why)
        if form == "csv":
            limits.check_cells(decoded.text, path.name, "")
            dialect = table_text.guess_dialect(
                decoded.text, path.name, delimiter, quoting, header, _parts(columns or {})
            )
            draft = _changed(
                draft, delimiter=dialect.delimiter, quoting=dialect.quoting, header=dialect.header, skip=dialect.skip
            )
    suites = suites_of(path, data, draft)
    if suites:
        return Opened(_changed(draft, format="suite", kind="suite"), Table(()), suites)
    table = read_rows(path, data, draft, labels)
    return Opened(_changed(draft, names=table.names), table)


def _parts(columns: Mapping[str, str]) -> list[str]:
    return [part for column in columns.values() for part in (column, *column.split("+"))]


def _changed(reading: Reading, **changes: Any) -> Reading:
    import dataclasses

    return dataclasses.replace(reading, **changes)


def _telling_line(decoded: Decoded) -> str:
    line = next((line for line in decoded.text.splitlines() if not line.isascii()), "")
    return repr(line.strip()[:80])


def read_bytes(path: Path) -> bytes:
    """What is in a file, unless it is plainly no table."""
    limits.check_file(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror or error}). Check the path.") from error
    table_text.refuse_foreign(data, path.name)
    return data


def read_rows(path: Path, data: bytes, reading: Reading, labels: Path | None = None) -> Table:
    """The rows of a file as its reading has them."""
    if reading.format == "parquet":
        table = _from_parquet(path)
    else:
        text = decode(data, path.name, reading.encoding).text
        if reading.format == "csv":
            table = _from_cells(path, text, reading)
        else:
            limits.check_json(text, path.name)
            objects = _json_lines(text) if reading.format == "jsonl" else _rows_of_json(path, text, reading.split)
            table = _from_objects(objects, path)
    return _with_labels(table, path, labels) if labels else table


def suites_of(path: Path, data: bytes, reading: Reading) -> tuple[Any, ...]:
    """The SyntaxGym suites that a JSON file holds, none where it holds something else."""
    if reading.format not in ("json", "suite", "jsonl"):
        return ()
    text = decode(data, path.name, reading.encoding).text
    if '"predictions"' not in text or '"items"' not in text:
        return ()
    limits.check_json(text, path.name)
    try:
        content = (
            [json.loads(line) for line in text.splitlines() if line.strip()]
            if reading.format == "jsonl"
            else (json.loads(text))
        )
    except (ValueError, RecursionError):
        return ()
    suites = content if isinstance(content, list) else [content]
    needed = {"items", "predictions"}
    return tuple(suites) if suites and all(isinstance(suite, dict) and needed <= set(suite) for suite in suites) else ()


def _guess_format(path: Path, text: str) -> str:
    suffix = path.suffix.lower()
    begin = text.lstrip("\ufeff \t\r\n")
    if suffix in (".jsonl", ".ndjson"):
        # JSON by another name: a list of objects, or objects over several lines, is no line of JSON Lines.
        if begin[:1] == "[" or begin.partition("\n")[0].strip() in ("{", '{"'):
            limits.check_json(text, path.name)
            return "json" if _is_json(text.removeprefix("\ufeff")) else "jsonl"
        return "jsonl"
    if suffix == ".json" or begin[:1] in ("{", "["):
        first = begin.partition("\n")[0].strip()
        # One object on the first line and more lines below are JSON Lines, whatever the file is called. A file of one
        # line is not decoded for that: nobody has counted yet how much is in it.
        if first.startswith("{") and len(begin) > len(first) + 1 and _is_json(first):
            return "jsonl"
        if suffix != ".json" and begin[:1] == "[" and not _is_json(text):
            return "csv"  # a bracket may begin a cell
        return "json" if suffix == ".json" or begin[:1] == "[" or first == "{" else "jsonl"
    return "csv"


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _from_cells(path: Path, text: str, reading: Reading) -> Table:
    limits.check_cells(text, path.name, reading.delimiter)
    table: Table | None = None
    early: list[table_text.Line] = []  # what stood before the first row, where the table has no columns yet
    for line in table_text.split_rows(text.removeprefix("\ufeff"), reading.delimiter, reading.quoting, reading.skip):
        if table is None and line.reason and not line.counts:
            early.append(line)
            continue
        if table is None:
            first = line.cells if line.cells else ("",)
            heads = first if reading.header else tuple(f"column {n}" for n in range(1, len(first) + 1))
            limits.check_columns(len(heads), path.name)
            table = Table(tuple(unique_keys(head.strip() or f"column {n}" for n, head in enumerate(heads, 1))))
            for dropped in early:
                table.leave_out(f"line {dropped.number}", dropped.reason, counts=False)
            if reading.header:
                continue
        where = f"line {line.number}"
        if line.reason:
            table.leave_out(where, line.reason, line.counts)
        elif len(line.cells) != len(table.names):
            table.leave_out(where, f"{len(line.cells)} fields, expected {len(table.names)}")
        else:
            table.add(where, dict(zip(table.names, line.cells, strict=False)))
    if table is None:
        raise BenchmarkError(f"{path.name} has no rows, expected a table. Choose another file.")
    return table


def _json_lines(text: str) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        if line.strip():
            try:
                yield f"line {number}", json.loads(line)
            except (ValueError, RecursionError):
                yield f"line {number}", LeftOut(f"line {number}", "no JSON")


def _rows_of_json(path: Path, text: str, split: str) -> Iterator[tuple[str, Any]]:
    try:
        content = plain_json.read(text.removeprefix("\ufeff"))
    except ValueError as error:
        raise BenchmarkError(f"{path.name} is not JSON ({str(error)[:100]}). Mend or convert the file.") from error
    other_splits: dict[str, int] = {}
    chosen_split = ""
    if isinstance(content, dict):
        lists = {name: value for name, value in content.items() if isinstance(value, list)}
        lengths = {len(value) for value in lists.values()}
        objects = [name for name, value in lists.items() if value and isinstance(value[0], dict)]
        if len(lists) == len(content) > 1 and len(lengths) == 1 and len(objects) < len(lists):
            content = [
                dict(zip(content, row, strict=False)) for row in zip(*content.values(), strict=False)
            ]  # a list a column
        elif content and all(isinstance(value, dict) for value in content.values()):
            content = _from_keys(content)
        else:
            if split and split not in lists:
                raise UsageError(f"{path.name} has no list {split!r}; it has {', '.join(lists) or 'none'}.")
            chosen_split = split or next(iter(objects), "")
            other_splits = {name: len(lists[name]) for name in objects if name != chosen_split}
            content = lists[chosen_split] if chosen_split else [content]
    if not isinstance(content, list):
        raise BenchmarkError(
            f"{path.name} holds {_in_words(content)}, expected a list of objects. Choose another file."
        )
    for number, row in enumerate(content, 1):
        yield f"row {number}", row
    for name, count in other_splits.items():
        for number in range(1, count + 1):
            yield "", LeftOut(f"{name} row {number}", f"in the split {name!r}; only {chosen_split!r} is read")


def _from_keys(content: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rows of an object of objects: pandas writes a column each, {"a": {"0": ...}}; others a row under its key."""
    inner = [tuple(value) for value in content.values()]
    if len(inner) > 1 and len(set(inner)) == 1 and all(key.isdecimal() for key in inner[0]):
        return [{name: column[key] for name, column in content.items()} for key in inner[0]]
    return [dict(value) if "id" in value else {"id": name, **value} for name, value in content.items()]


def _from_objects(rows: Iterator[tuple[str, Any]], path: Path) -> Table:
    names: dict[str, None] = {}
    table = Table(())
    for where, row in rows:
        if isinstance(row, LeftOut):
            table.leave_out(row.where, row.reason, counts=bool(where))
        elif isinstance(row, dict):
            flat = _flatten(row)
            names |= dict.fromkeys(flat)
            table.add(where, flat)
        else:
            table.leave_out(where, f"{_in_words(row)}, expected an object")
    if not names:
        raise BenchmarkError(f"{path.name} has no row with fields, expected a table. Choose another file.")
    limits.check_columns(len(names), path.name)
    table.names = tuple(names)
    return table


def _in_words(value: Any) -> str:
    """What a JSON value is called."""
    if value is None:
        return "JSON's null"
    words = {bool: "true or false", int: "number", float: "number", str: "text", list: "list"}
    return f"a JSON {words.get(type(value), 'object')}"


def _flatten(row: Mapping[str, Any], levels: int = LEVELS) -> dict[str, Any]:
    """Fields of a nested object become "outer.inner", as in choices.text; what is nested deeper than that stays.

    An object of objects under letters or numbers in a row, {"A": {"text": ...}, "B": ...}, stays whole: it is a list
    of options.
    """
    flat: dict[str, Any] = {}
    for name, value in row.items():
        if not isinstance(value, dict) or not levels or _is_list_of_options(value):
            flat[name] = value
        else:
            flat |= {f"{name}.{inner}": deeper for inner, deeper in _flatten(value, levels - 1).items()}
    return flat


def _is_list_of_options(value: Mapping[str, Any]) -> bool:
    return (
        options.in_a_row(value)
        and options.from_list(value) is not None
        and all(isinstance(member, dict) for member in value.values())
    )


def _from_parquet(path: Path) -> Table:
    import pyarrow
    import pyarrow.parquet

    try:
        limits.check_parquet(path)
        twice = [name for name, times in Counter(pyarrow.parquet.read_schema(path).names).items() if times > 1]
        if twice:
            raise BenchmarkError(
                f"{path.name} has several columns called {twice[0]!r}, expected one of each name. Rename all but one."
            )
        table = pyarrow.parquet.read_table(path, page_checksum_verification=True)
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        reason = " ".join(str(error).split())[:120]
        raise BenchmarkError(f"{path.name} is not a readable Parquet file ({reason}). Download it again.") from error
    try:
        rows = table.to_pylist()
    except (pyarrow.ArrowException, ValueError, TypeError, ArithmeticError, LookupError) as error:
        # A date beyond the year 9999, a time zone that nobody knows.
        reason = " ".join(str(error).split())[:120]
        raise BenchmarkError(
            f"{path.name} holds a value that cannot be read ({reason}). Write its columns as text, then import it."
        ) from error
    return _from_objects(((f"row {number}", row) for number, row in enumerate(rows, 1)), path)


def _with_labels(table: Table, path: Path, labels: Path) -> Table:
    """The table with a column more, from a file that has a line for each of its rows."""
    lines = [line.strip() for line in decode(read_bytes(labels), labels.name).text.splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    if len(lines) == table.count + 1 and table_text.has_header([(line,) for line in lines]):
        del lines[0]
    if len(lines) != table.count:
        raise UsageError(
            f"{labels.name} has {len(lines):,} lines, expected one for each of the {table.count:,} rows of {path.name}."
        )
    name = unique_keys([*table.names, LABELS])[-1]
    rows = [Row(row.where, row.number, {**row.cells, name: lines[row.number]}) for row in table.rows]
    return Table((*table.names, name), rows, table.left_out, table.count)
