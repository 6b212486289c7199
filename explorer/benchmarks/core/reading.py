"""Reading benchmark files: text, lines and JSON rows, with errors that name the line."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from explorer.errors import BenchmarkError

ADVICE = "Put the published file in its place, or delete it to download it again."


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
    lines = [line.removesuffix("\r") for line in read_text(path, fallback).split("\n")]
    return lines[:-1] if lines and not lines[-1] else lines


def read_json_rows(path: Path, **fields: type) -> list[dict[str, Any]]:
    """The objects of a JSON Lines file, each holding at least these fields, of these types."""
    rows = []
    for number, line in enumerate(read_lines(path), 1):
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
        rows.append(row)
    return rows


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
    uses: dict[str, int] = {}
    result = []
    for key in keys:
        uses[key] = uses.get(key, 0) + 1
        result.append(key if uses[key] == 1 else f"{key}#{uses[key]}")
    return result
