"""People's verdicts, vetoes and judge clicks: one JSON line each, appended, never changed."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from explorer import sharing
from explorer.errors import RunError
from explorer.runs import files, validation

MOST_BYTES = 256 << 20


def add(path: Path, review: Mapping[str, Any]) -> None:
    """Appends a person's verdict, with the time."""
    line = json.dumps(files.sealed({**review, "at": time.time()}), ensure_ascii=False) + "\n"
    try:
        with path.open("ab") as file:
            file.write(line.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise RunError(
            sharing.kept_from_us(path, writing=True)
            or f"The verdict could not be kept in {path} ({error.strerror or error}). Make room for it, then give it "
            "again."
        ) from error


def read(path: Path) -> list[dict[str, Any]]:
    """All verdicts in the order given; a line that was half written, or was changed since, is left out."""
    try:
        text = files.read_plain(path, MOST_BYTES).decode("utf-8", "replace")
    except PermissionError as error:
        raise RunError(sharing.kept_from_us(path) or f"{path} cannot be read ({error}).") from error
    except OSError:
        return []
    reviews: list[dict[str, Any]] = []
    for line in text.splitlines():
        with contextlib.suppress(ValueError, RecursionError):
            review = files.unsealed(json.loads(line))
            reviews += [validation.plain(review)] if review else []
    return [review for review in reviews if review]
