"""The models that the owner added to the list by hand: names in a small file of the cache."""

from __future__ import annotations

import json
import os

from explorer import sharing
from explorer.errors import ModelError
from explorer.settings import Settings

FILE = "added_models.json"
LONGEST = 1_000  # characters of a name


def read(settings: Settings) -> list[str]:
    """The names added so far, in that order; none where the file is damaged."""
    try:
        names = json.loads((settings.cache / FILE).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return []
    return [listed for listed in names if isinstance(listed, str) and listed] if isinstance(names, list) else []


def add(name: str, settings: Settings) -> None:
    """Puts a model's name on the list."""
    if not name.strip() or len(name) > LONGEST:
        raise ModelError(f"A model's name has 1 to {LONGEST:,} characters, and this one has {len(name):,}.")
    _write([*(listed for listed in read(settings) if listed != name), name], settings)


def remove(name: str, settings: Settings) -> None:
    """Takes a name off the list; the model's files and runs stay."""
    _write([listed for listed in read(settings) if listed != name], settings)


def _write(names: list[str], settings: Settings) -> None:
    path = settings.cache / FILE
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = sharing.beside(path)
        part.write_text(json.dumps(names, ensure_ascii=False, indent=1), "utf-8")
        os.replace(part, path)
    except OSError as error:
        raise ModelError(f"{path} cannot be written ({error}). Check the folder and its permissions.") from error
