"""Files that are whole or absent: written under a temporary name, then renamed; and locks looked at from outside."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from explorer import sharing
from explorer.errors import RunError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


# A reader sees the old file or the new one, never half of one, because a rename within a folder is one step for the
# system. The temporary file lies beside the target and not in /tmp: a rename between two disks would be a copy.
#
#     .scores.parquet.x7.tmp   written here, as long as it takes       a kill here leaves a .tmp, which is swept
#     scores.parquet           then renamed over this, all at once
#
# A link is followed first, or the link would be replaced by a file and what it names would keep the old content.
def write_atomically(path: Path, write: Callable[[Path], Any]) -> None:
    """Calls `write` with a temporary path beside `path`, then renames it over `path`; a link is followed, and a device
    or pipe gets the content as it is."""
    temporary: Path | None = None
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            _write_through(path, write)
            return
        path = path.resolve()
        if why := sharing.kept_from_us(path, writing=True):
            raise RunError(why)
        temporary = sharing.beside(path)
        sharing.new_file(temporary)
        write(temporary)
        os.replace(temporary, path)
    except OSError as error:
        raise RunError(
            f"{path} could not be written ({error.strerror or error}). Make room for it or allow it, then try again."
        ) from error
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink()


def _write_through(path: Path, write: Callable[[Path], Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / path.name)
        path.write_bytes((Path(folder) / path.name).read_bytes())


def make_folder(path: Path) -> None:
    """The folder at `path`, made where it is new."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(
            sharing.kept_from_us(path, writing=True)
            or f"The folder {path} could not be made ({error.strerror or error}). Make room for it or allow it, then "
            "try again."
        ) from error


MOST_JSON = 64 << 20  # bytes of a file of JSON
CHECK = "check"  # under it, the first digits of the SHA-256 of all else in an object, so that a changed byte is noticed


def write_json(path: Path, value: Any, *, compact: bool = False) -> None:
    """The value as JSON at `path`, whole or not at all; an object carries its check.

    `compact` is for what nobody reads by eye: on one line, which takes a tenth of the time.
    """
    value = sealed(value) if isinstance(value, dict) else value
    write_json_text(path, json.dumps(value, ensure_ascii=False, indent=None if compact else 1, default=str))


def sealed(value: dict[str, Any]) -> dict[str, Any]:
    """The object with its check."""
    return {**value, CHECK: _check_of(value)}


def unsealed(value: Any) -> dict[str, Any]:
    """The object without its check; {} where it is none, or is not what its check says."""
    if not isinstance(value, dict) or (CHECK in value and value[CHECK] != _check_of(value)):
        return {}
    return {name: item for name, item in value.items() if name != CHECK}


# The check is taken over the values, not over the bytes of the file, so that indentation and the order of names may
# change. It must survive being written and read: what JSON turns into something else (a tuple into a list, a date into
# a text) is turned first. It lies in the same file and so notices damage, not intent; archives have SHA256SUMS besides.
def _check_of(value: dict[str, Any]) -> str:
    without_check = json.loads(json.dumps({name: item for name, item in value.items() if name != CHECK}, default=str))
    return hashlib.sha256(json.dumps(without_check, sort_keys=True).encode()).hexdigest()[:16]


def write_json_text(path: Path, text: str) -> None:
    """JSON that is text already at `path`; half a surrogate pair, which is not UTF-8, is escaped as JSON may."""
    data = text.encode("utf-8", "backslashreplace")
    write_atomically(path, lambda temporary: temporary.write_bytes(data))


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object at `path`; {} where the file is absent or damaged, or is not what its check says."""
    try:
        return unsealed(json.loads(read_plain(path).decode("utf-8")))
    except (OSError, ValueError, RecursionError):
        return {}


def is_as_written(path: Path) -> bool:
    """Whether a file of JSON is an object and what its check says, or is not there, or is kept by another account."""
    if not os.path.lexists(path) or sharing.kept_from_us(path):
        return True
    try:
        value = json.loads(read_plain(path).decode("utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    if not isinstance(value, dict):
        return False
    if CHECK in value:
        return bool(value[CHECK] == _check_of(value))
    # A changed letter in the name of the check would leave an object that has none, as earlier versions wrote them.
    return not any(
        item == _check_of({key: other for key, other in value.items() if key != name}) for name, item in value.items()
    )


def read_plain(path: Path, most: int = MOST_JSON) -> bytes:
    """The bytes of a plain file; OSError where it is a pipe or device, which might keep a reader forever, or too large.

    The folder may be another's: whatever stands under a name, looking at it ends.
    """
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(handle, "rb") as file:
        file_stat = os.fstat(file.fileno())
        if not stat.S_ISREG(file_stat.st_mode):
            raise OSError(f"{path.name} is no plain file")
        if file_stat.st_size > most:
            raise OSError(f"{path.name} has {file_stat.st_size:,} bytes, expected at most {most:,}")
        return file.read(most + 1)


# Looking must not be taken for holding. An exclusive lock taken for a moment by one onlooker would tell a second one
# that a worker is at work, and the list of runs would flicker between "running" and "interrupted". Shared locks go
# together with each other and not with the worker's exclusive one. FileLock has none, so this is `flock` itself where
# there is one.
def is_locked(path: Path) -> bool:
    """Whether some process holds the lock at `path` now; any number may look at once, and see only the holder."""
    try:
        with path.open("rb") as file:
            if fcntl is not None:
                # Shared: two that look at the same moment must not take each other for the holder.
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                return False
        with FileLock(path).acquire(timeout=0.05):
            return False
    except FileNotFoundError:
        return False
    except (BlockingIOError, PermissionError, Timeout):
        return True
