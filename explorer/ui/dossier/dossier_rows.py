"""What is stored about an instance, and small helpers that the parts of its dossier share."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from explorer.records import Instance
from explorer.results import queries_dossier
from explorer.results.store import Store
from explorer.runs import imported
from explorer.scoring import suites
from explorer.ui import layout, scored_options


@dataclass(frozen=True, slots=True)
class DossierRun:
    """A stored run that judged the instance; `preset` is how it was scored, `spec` its spec.json."""

    run_id: str
    study: str
    model: str
    preset: str
    spec: str


@dataclass(frozen=True, slots=True)
class DossierRows:
    """Rows of results/queries_dossier.py about one instance."""

    instance_id: str
    instance: Instance | None  # none where its text is not on this machine
    runs: pd.DataFrame
    measures: pd.DataFrame
    swaps: pd.DataFrame
    answers: pd.DataFrame

    def run_list(self) -> list[DossierRun]:
        """The runs in the order of the query."""
        return [
            DossierRun(
                str(row["run_id"]),
                str(row["study"]),
                str(row["model"]),
                row["preset"] if isinstance(row["preset"], str) else "",
                str(row["spec"]),
            )
            for row in self.runs.to_dict("records")
        ]

    def of(self, studies: Sequence[str]) -> DossierRows:
        """What the runs of these studies hold."""
        runs = self.runs[self.runs["study"].isin(studies)]
        return self._of_runs(runs)

    def of_run(self, run_id: str) -> DossierRows:
        """What one run holds."""
        return self._of_runs(self.runs[self.runs["run_id"] == run_id])

    def _of_runs(self, runs: pd.DataFrame) -> DossierRows:
        known = set(runs["run_id"])
        measures, swaps, answers = (
            table[table["run_id"].isin(known)] for table in (self.measures, self.swaps, self.answers)
        )
        return dataclasses.replace(self, runs=runs, measures=measures, swaps=swaps, answers=answers)

    def option_name(self, option: int) -> str:
        """What an option is called."""
        if self.instance is not None:
            return scored_options.option_name(self.instance, option)
        gold = self.runs["gold"].dropna()
        return f"Option {option + 1}" + (" (right)" if len(gold) and int(gold.iloc[0]) == option else "")

    def value(self, run_id: str, *names: str, **factors: Any) -> float:
        """A measure of a run under these factors (None = no such factor), nan where there is none."""
        rows = self.rows(run_id, *names, **factors)
        return float(rows["value"].iloc[0]) if len(rows) else float("nan")

    def reason(self, run_id: str, *names: str, **factors: Any) -> str:
        """Why a measure is what it is, "" where nothing is said."""
        rows = self.rows(run_id, *names, **factors)
        return str(rows["reason"].iloc[0] or "") if len(rows) else ""

    def rows(self, run_id: str, *names: str, **factors: Any) -> pd.DataFrame:
        """The rows of measures of these names in a run under these factors."""
        rows = self.measures[(self.measures["run_id"] == run_id) & self.measures["measure"].isin(names)]
        for name, wish in factors.items():
            rows = rows[rows[name].isna() if wish is None else rows[name] == wish]
        return rows


def gather(store: Store, instance_id: str, instance: Instance | None) -> DossierRows:
    """What the database holds about an instance; checkpoints have a page of their own, Trajectories.

    For `resources.ask_shared`, which remembers it.
    """
    runs = queries_dossier.runs(store, instance_id)
    on_the_way = set(runs.loc[runs["model"].map(suites.is_checkpoint).astype(bool), "run_id"])
    if len(on_the_way) == runs["run_id"].nunique():
        on_the_way = set()

    def without(frame: pd.DataFrame) -> pd.DataFrame:
        return frame[~frame["run_id"].isin(on_the_way)] if on_the_way else frame

    return DossierRows(
        instance_id,
        instance,
        runs=without(runs),
        measures=without(queries_dossier.measures(store, instance_id)),
        swaps=without(queries_dossier.swaps(store, instance_id)),
        answers=without(queries_dossier.answers(store, instance_id)),
    )


def run_columns(run: DossierRun) -> dict[str, Any]:
    """The columns that say which run a row is from."""
    return {
        "model": imported.marked_name(layout.model_title(run.model), run.spec),
        "study": run.study,
        "run": layout.address_of("Runs", shown=run.run_id),
    }
