"""Steps of a long part kept in the run's folder as they are done, so that a run that was stopped repeats none."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
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

    def rows(self, name: str, make: Callable[[], tuple[Rows, Remark]]) -> Rows:
        """A step's rows for these instances: kept ones, else what `make` gives, which is kept with its remark."""
        # A run that several processes share has a file for each one's instances.
        path = self.folder / f"{name}-{self._of}.json"
        step = files.read_json(path)
        if "rows" not in step:
            rows, remark = make()
            step = {"rows": rows, "remark": remark}
            files.write_json(path, step)
        return dict(step["rows"])


def remarks(folder: Path) -> list[Remark]:
    """The remarks of all steps that were kept, by their names."""
    stored = (files.read_json(path).get("remark") for path in sorted((folder / FOLDER).glob("*.json")))
    return [remark for remark in stored if remark]
