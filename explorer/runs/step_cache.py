"""Steps of a long part kept in the run's folder as they are done, so that a run that was stopped repeats none."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from explorer.rows.builders import Row
from explorer.runs import files

FOLDER = "steps"

Rows = dict[str, list[Row]]  # table name → its rows
# How a step was made, stored beside its rows as JSON: tokens read, seconds, why nothing was scored.
Remark = dict[str, Any]


class KeptSteps:
    """Rows of result tables, and a remark about how they were made, by the name of the step."""

    def __init__(self, folder: Path, instance_ids: Sequence[str]) -> None:
        self.folder = folder / FOLDER
        self.folder.mkdir(exist_ok=True)
        self._of = hashlib.sha256("\n".join(instance_ids).encode("utf-8", "surrogatepass")).hexdigest()[:16]
        self._rows: dict[str, Rows] = {}  # read or kept so far

    def has(self, name: str) -> bool:
        """Whether a step's rows for these instances are kept."""
        return self.read(name) is not None

    def read(self, name: str) -> Rows | None:
        """A step's rows for these instances, None where they are not kept."""
        if name not in self._rows and (rows := files.read_json(self._path(name)).get("rows")) is not None:
            self._rows[name] = dict(rows)
        return self._rows.get(name)

    def keep(self, name: str, rows: Rows, remark: Remark) -> None:
        """Keeps a step's rows with its remark."""
        files.write_json(self._path(name), {"rows": rows, "remark": remark}, compact=True)
        self._rows[name] = rows

    def _path(self, name: str) -> Path:
        # A run that several processes share has a file for each one's instances.
        return self.folder / f"{name}-{self._of}.json"


def remarks(folder: Path) -> list[Remark]:
    """The remarks of all steps that were kept, by their names."""
    stored = (files.read_json(path).get("remark") for path in sorted((folder / FOLDER).glob("*.json")))
    return [remark for remark in stored if remark]
