"""The runs that the Overview shows: of each study, benchmark and model the largest, as the database has them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from explorer.results import queries_overview
from explorer.results.store import Store
from explorer.scoring import catalog, suites
from explorer.studies.runs_together import OfRun
from explorer.studies.sentences import Findings
from explorer.ui import conclusions, resources


@dataclass(frozen=True, slots=True)
class Run:
    """A stored run with its study, the ids of its model and benchmark, and what it found."""

    study: str
    model: str
    benchmark: str
    found: OfRun


def runs() -> list[Run]:
    """All but those of checkpoints, in the order of the models in the catalog, the largest of a model first."""
    return list(resources.ask_shared(_runs))


def _runs(store: Store) -> tuple[Run, ...]:
    by_run: dict[str, list[dict[Any, Any]]] = {}
    for row in queries_overview.findings_for_figures(store).to_dict("records"):
        by_run.setdefault(str(row["run_id"]), []).append(row)
    stored = [
        Run(
            str(rows[0]["study"]),
            str(rows[0]["model"]),
            str(rows[0]["benchmark"]),
            OfRun(run_id, conclusions.about_run(rows[0]), Findings(rows)),
        )
        for run_id, rows in by_run.items()
    ]
    # A checkpoint is no model of its own; where nothing else was run, it is what there is to see.
    stored = [run for run in stored if not suites.is_checkpoint(run.model)] or stored
    order = list(catalog.MODELS)
    return tuple(sorted(stored, key=lambda run: order.index(run.model) if run.model in order else len(order)))


def is_glass_box(model: str) -> bool:
    """Whether the model was trained on the corpus with planted doses, which has figures of its own."""
    known = catalog.find(model)
    return bool(known and known.trained_by)


def tried(stored: Sequence[Run]) -> list[str]:
    """Models that a user added for trying: neither does the catalog bring them, nor did a run of theirs come along."""
    models = dict.fromkeys(run.model for run in stored)
    folder = resources.settings().runs
    came_along = {run.model for run in stored if not os.path.exists(folder / run.found.run_id / "spec.json")}
    return [name for name in models if name not in came_along and not _comes_along(name)]


def _comes_along(model: str) -> bool:
    known = catalog.find(model)
    return bool(known and (known.embedded or known.trained_by))
