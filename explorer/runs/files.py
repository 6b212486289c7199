"""Files that are whole or absent: written under a temporary name, then renamed."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from explorer.errors import RunError


def write_atomically(path: Path, write: Callable[[Path], Any]) -> None:
    """Calls `write` with a temporary path beside `path`, then renames it over `path`."""
    temporary: Path | None = None
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
        temporary = Path(name)
        os.close(handle)
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


def write_json(path: Path, value: Any) -> None:
    """The value as JSON at `path`, whole or not at all."""
    text = json.dumps(value, ensure_ascii=False, indent=1, default=str)
    write_atomically(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object at `path`; {} where the file is absent or damaged."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}
