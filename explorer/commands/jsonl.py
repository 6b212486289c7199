"""JSON Lines in and out: each line that is not blank has its place in the answer, whether it could be read or not."""

from __future__ import annotations

import codecs
import contextlib
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from explorer import plain_json, unpacking
from explorer.commands import common, output
from explorer.errors import UsageError
from explorer.settings import path_of

MOST_BYTES = 1 << 30  # of a file in


@dataclass(slots=True)
class Line:
    """A line of the file in: what it holds, why it cannot be used where it cannot, and itself where it is no object."""

    number: int
    fields: dict[str, Any]
    error: str = ""
    raw: str = ""


def read_lines(source: str, needed: Sequence[str]) -> list[Line]:
    """Every line that is not blank, with its number in the file; `source` is a file, or - for standard input.

    A line without a string under each needed key is in error, and the others can still be used.
    """
    try:
        with contextlib.nullcontext(sys.stdin.buffer) if source == "-" else path_of(source).open("rb") as file:
            data = unpacking.bounded(file, MOST_BYTES)
    except OSError as error:
        raise UsageError(f"{source} cannot be read ({error.strerror}). Give a JSONL file with --in.") from error
    if data is None:
        raise UsageError(f"{source} has more than {MOST_BYTES >> 30} GiB, expected less. Cut it into smaller files.")
    numbered = enumerate(data.removeprefix(codecs.BOM_UTF8).split(b"\n"), start=1)
    return [_parse_line(number, line, needed) for number, line in numbered if line.strip()]


def read_objects(source: str, needed: Sequence[str] = ()) -> list[dict[str, Any]]:
    """The object of every line; UsageError at the first line that is none, or lacks a string under a needed key."""
    lines = read_lines(source, needed)
    for line in lines:
        if line.error:
            raise UsageError(f"{source} line {line.number}: {line.error}. Mend the line, then try again.")
    return [line.fields for line in lines]


def write_lines(out: str, lines: Sequence[Line], missing: Mapping[str, Any]) -> None:
    """All lines at once to a file, or to standard output for -; a line in error carries what is `missing`, its error,
    and, where it was no object, its text as `raw`."""
    write_objects(out, [_fields_to_write(line, missing) for line in lines])


def write_objects(out: str, rows: Iterable[dict[str, Any]]) -> None:
    """The objects, one a line, to a file, or to standard output for -."""
    text = "".join(map(output.json_line, rows))
    if out == "-":
        sys.stdout.write(text)
    else:
        output.write_text(Path(out), text)


def report_errors(lines: Sequence[Line]) -> int:
    """Prints why each line in error is so; the number of such lines."""
    failed = [line for line in lines if line.error]
    for line in failed:
        common.report(f"line {line.number}: {line.error}")
    return len(failed)


def _parse_line(number: int, data: bytes, needed: Sequence[str]) -> Line:
    # Bytes that are no UTF-8 become half surrogates, from which the line can be had again.
    raw = data.removesuffix(b"\r").decode("utf-8", "surrogateescape")
    expected = f"an object with {' and '.join(needed)}" if needed else "an object"
    try:
        fields = plain_json.read(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        return Line(number, {}, f"byte {error.start} is not UTF-8; save the file as UTF-8", raw)
    except ValueError as error:
        return Line(number, {}, f"not a JSON object ({error}), expected {expected}", raw)
    if not isinstance(fields, dict):
        return Line(number, {}, f"a JSON {_json_type(fields)}, expected {expected}", raw)
    for key in needed:
        if not isinstance(fields.get(key), str):
            problem = f"is a {_json_type(fields[key])}" if key in fields else "is missing"
            return Line(number, fields, f"{key} {problem}, expected a string")
    return Line(number, fields)


def _fields_to_write(line: Line, missing: Mapping[str, Any]) -> dict[str, Any]:
    if not line.error:
        return line.fields
    line_number = {} if line.fields else {"line": line.number}
    raw_line = {"raw": line.raw} if line.raw else {}
    return {**line_number, **raw_line, **line.fields, **missing, "error": line.error}


def _json_type(value: Any) -> str:
    names = {dict: "object", list: "list", str: "string", bool: "truth value", int: "number", float: "number"}
    return names.get(type(value), "null")
