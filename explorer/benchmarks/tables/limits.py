"""How large a user's table may be, checked before it is read into memory."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from explorer import parquet_bounds
from explorer.errors import BenchmarkError, UsageError
from explorer.parquet_bounds import Bounds, TooLarge

MOST_BYTES = 200 << 20  # of a file on disk; .streamlit/config.toml takes no larger upload
MOST_ROWS = 1_000_000
MOST_VALUES = 10_000_000
MOST_COLUMNS = 2_000
PARQUET = Bounds(rows=MOST_ROWS, values=MOST_VALUES, bytes=512 << 20)


def check_file(path: Path) -> None:
    """UsageError where the path is no plain file, BenchmarkError where the file is larger than any table here."""
    try:
        file_stat = os.stat(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror or error}). Check the path.") from error
    if not stat.S_ISREG(file_stat.st_mode):
        raise UsageError(f"{path} cannot be read as a table, since it is no plain file. Give a file.")
    if file_stat.st_size > MOST_BYTES:
        raise _too_large(path.name, f"{file_stat.st_size / 2**20:,.0f} MiB, expected at most {MOST_BYTES / 2**20:,.0f}")


def check_cells(text: str, name: str, delimiter: str) -> None:
    """BenchmarkError where a text has more lines or cells than a table may have."""
    rows = max(text.count("\n"), text.count("\r"))
    cells = rows + (text.count(delimiter) if delimiter else 0)
    _refuse_too_many(name, rows, cells)


def check_json(text: str, name: str) -> None:
    """BenchmarkError where a JSON text has more rows or values than a table may have."""
    # An empty list is two characters of a file and sixty bytes of memory.
    values = text.count(",") + text.count("[") + text.count("{")
    _refuse_too_many(name, text.count("\n{"), values // 2)


def check_columns(count: int, name: str) -> None:
    """BenchmarkError where a table has more columns than any does."""
    if count > MOST_COLUMNS:
        raise _too_large(name, f"{count:,} columns, expected at most {MOST_COLUMNS:,}")


def check_parquet(path: Path) -> None:
    """BenchmarkError where a Parquet file takes more memory than a table may."""
    try:
        parquet_bounds.check(path, PARQUET)
    except TooLarge as error:
        raise _too_large(path.name, str(error)) from error


def _refuse_too_many(name: str, rows: int, values: int) -> None:
    if rows > MOST_ROWS:
        raise _too_large(name, f"{rows:,} lines, expected at most {MOST_ROWS:,}")
    if values > MOST_VALUES:
        raise _too_large(name, f"{values:,} values, expected at most {MOST_VALUES:,}")


def _too_large(name: str, actual: str) -> BenchmarkError:
    return BenchmarkError(
        f"{name} has {actual}. Cut it into smaller files, or leave out the columns that are not used."
    )
