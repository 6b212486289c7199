"""Files that are whole or absent: written under a temporary name, then renamed; and locks looked at from outside."""

from __future__ import annotations

import contextlib
import json
import os
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


def write_json(path: Path, value: Any) -> None:
    """The value as JSON at `path`, whole or not at all."""
    write_json_text(path, json.dumps(value, ensure_ascii=False, indent=1, default=str))


def write_json_text(path: Path, text: str) -> None:
    """JSON that is text already at `path`; half a surrogate pair, which is not UTF-8, is escaped as JSON may."""
    data = text.encode("utf-8", "backslashreplace")
    write_atomically(path, lambda temporary: temporary.write_bytes(data))


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object at `path`; {} where the file is absent or damaged."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


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
