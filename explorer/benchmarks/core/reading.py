"""Reading benchmark files: text, lines and JSON rows, with errors that name the line."""

from __future__ import annotations

import contextlib
import gc
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from explorer.errors import BenchmarkError

ADVICE = "Put the published file in its place, or delete it to download it again."


# Records of a file hold no circles, and as many as BLiMP has make the collector go through all objects there are, the
# packages' too, several times: a seventh of the time of reading. Where two threads read at once, it rests until the one
# ends that found it at work.
@contextlib.contextmanager
def without_collector() -> Iterator[None]:
    """Within it the garbage collector rests."""
    was_at_work = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_at_work:
            gc.enable()


def damaged_file(path: Path, line: int | None, actual: str, expected: str) -> BenchmarkError:
    """The error for a file that is not what its format says."""
    where = f"{path.name} line {line}" if line else path.name
    return BenchmarkError(f"{where}: {actual}, expected {expected}. {ADVICE}")


def read_text(path: Path, fallback: str = "") -> str:
    """The file as text, UTF-8 (or `fallback`), line ends as they are."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BenchmarkError(f"{path} cannot be read ({error.strerror or error}). Check the file.") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if fallback:
            return data.decode(fallback)
        raise damaged_file(path, None, f"a byte that is no UTF-8 at {error.start}", "UTF-8") from error


def read_lines(path: Path, fallback: str = "") -> list[str]:
    """The file's lines without their ends; only \\n and \\r\\n end a line, other separators belong to the text."""
    lines = (text := read_text(path, fallback)).split("\n")
    if "\r" in text:
        lines = [line.removesuffix("\r") for line in lines]
    return lines[:-1] if lines and not lines[-1] else lines


def read_json_rows(path: Path, **fields: type) -> list[dict[str, Any]]:
    """The objects of a JSON Lines file, each holding at least these fields, of these types."""
    lines = read_lines(path)
    rows = _plain_rows(lines, fields)
    return rows or [_checked_row(path, number, line, fields) for number, line in enumerate(lines, 1)]


_decode = json.JSONDecoder().raw_decode  # the value that a text begins with, and where it ends


# Nearly always all is well: each line is an object from its first character to its last, and each field has values of
# just its type. That is asked of a whole file at once, column by column, without a step of Python a line. Where it does
# not hold, the lines are read one by one, which finds the first that is damaged, or that none is.
def _plain_rows(lines: Sequence[str], fields: Mapping[str, type]) -> list[dict[str, Any]]:
    """The objects of lines that are plainly in order; none where some line has to be looked at."""
    try:
        decoded = list(map(_decode, lines))
    except ValueError:
        return []
    rows = [row for row, _ in decoded]
    if [end for _, end in decoded] != list(map(len, lines)) or not set(map(type, rows)) <= {dict}:
        return []
    is_plain = all(set(map(type, [row.get(name) for row in rows])) <= {kind} for name, kind in fields.items())
    return rows if is_plain else []


def _checked_row(path: Path, number: int, line: str, fields: Mapping[str, type]) -> dict[str, Any]:
    """The object of one line, which may have blanks around it; BenchmarkError where it is not one with the fields."""
    try:
        row = json.loads(line)
    except ValueError as error:
        raise damaged_file(path, number, f"no JSON ({error})", "a JSON object a line") from error
    if not isinstance(row, dict):
        raise damaged_file(path, number, f"a JSON {type(row).__name__}", "an object")
    for name, kind in fields.items():
        if not isinstance(row.get(name), kind):
            actual = f"{name} is {row[name]!r:.40}" if name in row else f"no field {name}"
            raise damaged_file(path, number, actual, f"{name} as {kind.__name__}")
    return row


def read_rows(path: Path, separator: str, fields: int, *, splits: int = -1, fallback: str = "") -> list[list[str]]:
    """The lines of a table that has no quoting, cut at `separator` (at most `splits` times) into `fields` cells."""
    rows = []
    for number, line in enumerate(read_lines(path, fallback), 1):
        row = line.split(separator, splits)
        if len(row) != fields:
            raise damaged_file(path, number, f"{len(row)} fields", f"{fields}")
        rows.append(row)
    return rows


def unique_keys(keys: Iterable[str]) -> list[str]:
    """The keys in order; the second and later uses of one get "#2", "#3" ..."""
    keys = list(keys)
    if len(set(keys)) == len(keys):
        return keys
    uses: dict[str, int] = {}
    result = []
    for key in keys:
        uses[key] = uses.get(key, 0) + 1
        result.append(key if uses[key] == 1 else f"{key}#{uses[key]}")
    return result
