"""A run of the precomputed file, read as a run's folder is: to be listed, exported and reviewed."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.errors import RunError
from explorer.records import RunSpec
from explorer.results import queries, store
from explorer.results.queries import StoredRun
from explorer.results.store import Store
from explorer.rows.schema import FACTORS, TABLES
from explorer.runs import queue, reviews
from explorer.runs import spec as specs
from explorer.runs.folder import RunFolder, all_folders, no_such_run
from explorer.runs.queue import RunInfo
from explorer.runs.state import Progress
from explorer.settings import Settings

if TYPE_CHECKING:
    import pandas as pd

SOURCE = "precomputed"
# What orders the rows of an instance, or of the findings.
_ORDER = ("finding", "request", "variant_id", "option", *FACTORS, "measure", "index_name", "n", "start", "grp")


@dataclass(frozen=True, slots=True)
class PackedRun:
    """A run that came with the explorer. It is complete, and has no folder."""

    run_id: str
    spec: RunSpec
    environment: dict[str, Any]
    reviews: Path
    store: Store = field(repr=False)
    created: float = 0.0
    total: int = 0

    @property
    def keeps_texts(self) -> bool:
        """Whether the file holds the texts: those of the starter sets."""
        from explorer.benchmarks import starter

        return self.spec.benchmark in starter.BENCHMARKS

    @property
    def keeps_tokens(self) -> bool:
        """Whether the file holds its tokens: those of accuracy on the explorer's own sets, where the run kept them."""
        from explorer.results.precomputed import OWN

        is_own = self.spec.study == "accuracy" and self.spec.benchmark in OWN
        return is_own and bool(self.spec.settings.get("tokens"))

    @property
    def left_out(self) -> str:
        """What the file does not hold of this run, in words."""
        from explorer.results.precomputed import left_out

        return left_out(self.spec.study, self.keeps_texts, self.keeps_tokens)

    def progress(self) -> Progress:
        return Progress("complete", self.total, self.total, created=self.created, updated=self.created)

    def read(self, table: str, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """The table's rows, by instance in run order."""
        selected = ", ".join(f'rows."{name}"' for name in columns or TABLES[table])
        order = [f'rows."{name}"' for name in _ORDER if name in TABLES[table]]
        joined = ""
        if "instance_id" in TABLES[table]:
            joined = "LEFT JOIN instances AS place USING (run_id, instance_id)"
            order = ["place.position NULLS LAST", "rows.instance_id", *order]
        return self.store.frame(
            f"SELECT {selected} FROM {table} AS rows {joined} WHERE rows.run_id = ? ORDER BY {', '.join(order)}",
            [self.run_id],
        )

    def add_review(self, review: Mapping[str, Any]) -> None:
        """Appends a person's verdict, with the time, to a file in the cache."""
        self.reviews.parent.mkdir(parents=True, exist_ok=True)
        reviews.add(self.reviews, review)

    def read_reviews(self) -> list[dict[str, Any]]:
        """All verdicts in the order given."""
        return reviews.read(self.reviews)


Run = RunFolder | PackedRun


def packed_run(opened: Store, run_id: str, settings: Settings, answer: pd.DataFrame | None = None) -> PackedRun:
    """The packed run of this id in a store that shows it; `answer` is that of `queries.run`, where it is known."""
    [row] = (queries.run(opened, run_id) if answer is None else answer).to_dict("records")
    return PackedRun(
        run_id,
        specs.from_json(row["spec"]),
        json.loads(row["environment"]),
        settings.cache / "reviews" / f"{run_id}.jsonl",
        opened,
        row["created"].timestamp(),
        int(row["total"]),
    )


def list_all(settings: Settings) -> list[RunInfo]:
    """The runs on this machine, the newest first, then those of the precomputed file that are not there, too."""
    local = queue.list_runs(settings)
    path = store.precomputed_file(settings)
    if path is None:
        return local
    opened = Store(None, path)
    try:
        return local + as_infos(queries.stored_runs(opened), {run.run_id for run in local})
    finally:
        opened.close()


def as_infos(stored: Iterable[StoredRun], local_ids: set[str]) -> list[RunInfo]:
    """The packed among stored runs: those whose id is not among `local_ids`, those of this machine."""
    return [
        RunInfo(
            run_id=run.run_id,
            study=run.study,
            model=run.model,
            benchmark=run.benchmark,
            status=run.status,
            created=run.created.replace(tzinfo=UTC).timestamp(),
            done=run.done,
            total=run.total,
            rate=math.nan,
            eta=math.nan,
            message=run.message,
            source=SOURCE,
        )
        for run in stored
        if run.run_id not in local_ids
    ]


def find_run(settings: Settings, run_id: str) -> Run:
    """The run with this id, or with the only id that starts so: one on this machine, else a precomputed one."""
    try:
        return RunFolder.find(settings.runs, run_id)
    except RunError:
        path = store.precomputed_file(settings)
        some_here = any(folder.run_id.startswith(run_id) for folder in all_folders(settings.runs))
        if path is None or not run_id or some_here:
            raise
    opened = Store(None, path)
    names = [run.run_id for run in queries.stored_runs(opened) if run.run_id.startswith(run_id)]
    if len(names) != 1:
        raise no_such_run(run_id, names)
    return packed_run(opened, names[0], settings)


def find_own(settings: Settings, run_id: str) -> RunFolder:
    """The run on this machine; RunError where it is none, or came with the explorer."""
    run = find_run(settings, run_id)
    if isinstance(run, PackedRun):
        raise RunError(
            f"{run.run_id} came with the explorer, in {store.precomputed_file(settings)}: it is complete and has no "
            "folder, so that it cannot be resumed, cancelled or deleted. EXPLORER_PRECOMPUTED=none hides such runs."
        )
    return run
