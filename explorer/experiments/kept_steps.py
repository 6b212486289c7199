"""Steps of a long part kept in the run's folder as they are done, so that a run that was stopped repeats none."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from explorer.runs import files

FOLDER = "steps"

Rows = dict[str, list[dict[str, Any]]]


class KeptSteps:
    """Rows of result tables, and a remark about how they were made, by the name of the step."""

    def __init__(self, folder: Path, instance_ids: Sequence[str]) -> None:
        self.folder = folder / FOLDER
        self.folder.mkdir(exist_ok=True)
        self._of = hashlib.sha256("\n".join(instance_ids).encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def rows(self, name: str, make: Callable[[], tuple[Rows, dict[str, Any]]]) -> Rows:
        """A step's rows for these instances: kept ones, else what `make` gives, which is kept with its remark."""
        path = self.folder / f"{name}.json"
        kept = files.read_json(path)
        if kept.get("of") != self._of:
            rows, remark = make()
            kept = {"of": self._of, "rows": rows, "remark": remark}
            files.write_json(path, kept)
        return dict(kept["rows"])


def remarks(folder: Path) -> dict[str, dict[str, Any]]:
    """The remark of every step that was kept, by its name."""
    return {
        path.stem: files.read_json(path).get("remark") or {} for path in sorted((folder / FOLDER).glob("*.json"))
    }  # fmt: skip
