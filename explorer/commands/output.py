"""Where a command's answer goes: a file that is whole or not there, or whatever device stands under the name."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

from explorer.commands.common import without_nan
from explorer.errors import UsageError
from explorer.settings import path_of


def check_writable(target: Path) -> Path:
    """The target, once it is known that it can be written; to be asked before the work, not after it."""
    where = path_of(target)
    try:
        if where.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not where.exists() or where.is_file():
            part = _part_file(where.resolve())
            part.parent.mkdir(parents=True, exist_ok=True)
            part.touch()
            part.unlink()
    except OSError as error:
        raise _unwritable(target, error) from error
    return target


def write_text(target: Path, text: str) -> None:
    """Writes the text: a file under a temporary name first, a link where it points, a device or pipe as it is."""
    where = path_of(target)
    try:
        if where.exists() and not where.is_file():
            where.write_text(text, "utf-8", newline="\n")
            return
        where = where.resolve()
        part = _part_file(where)
        part.parent.mkdir(parents=True, exist_ok=True)
        try:
            part.write_text(text, "utf-8", newline="\n")
            os.replace(part, where)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise _unwritable(target, error) from error


def json_line(row: dict[str, Any]) -> str:
    """The row as one line of strict JSON; nan becomes null, an unpaired surrogate goes out as it came in, escaped."""
    clean = without_nan(row)
    line = json.dumps(clean, ensure_ascii=False)
    try:
        line.encode("utf-8")
    except UnicodeEncodeError:
        line = json.dumps(clean)
    return line + "\n"


def _part_file(target: Path) -> Path:
    return target.with_name(f".{target.name}.{os.getpid()}.part")


def _unwritable(target: Path, error: OSError) -> UsageError:
    return UsageError(f"{target} cannot be written ({error.strerror}). Give another file with --out.")
