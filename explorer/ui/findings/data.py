"""Measures across studies as a table: a row an instance of a benchmark, a column a measure, each from one run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from explorer.results import queries_findings
from explorer.results.measures import MEASURES
from explorer.runs import imported
from explorer.ui import layout, resources
from explorer.ui.layout import Chosen

ABOUT = ["instance_id", "grp", "phenomenon", "field"]


@dataclass(frozen=True, slots=True)
class Gathered:
    """What is stored about a benchmark's instances and one model.

    table    instance_id, grp, phenomenon, field, and a column for each measure that varies or not
    sources  measure → the run that it is from
    other    instances that a run saw with another text than the first run did; they are left out of that run's column
    """

    table: pd.DataFrame
    sources: Mapping[str, Mapping[str, Any]]
    other: int

    @property
    def measures(self) -> list[str]:
        """The measures that are there, in the order of the registry."""
        return list(self.sources)


def gather(chosen: Chosen) -> Gathered:
    """The measures of the chosen model on its benchmark; what is about texts alone may be from another's run."""
    runs = resources.ask(queries_findings.runs, chosen.benchmark)
    sources: dict[str, Mapping[str, Any]] = {}
    for name, measure in MEASURES.items():
        for source in _candidates(runs, measure.studies, chosen.model, of_text=measure.of_text):
            if int(resources.ask(queries_findings.size, name, source["run_id"])["n"].iloc[0]):
                sources[name] = source
                break
    if not sources:
        return Gathered(pd.DataFrame(columns=ABOUT), sources, 0)
    runs_of_measures = tuple((name, str(source["run_id"])) for name, source in sources.items())
    table = resources.ask(queries_findings.table, runs_of_measures)
    return Gathered(table.drop(columns="other_text"), sources, int(table["other_text"].sum()))


def title(name: str) -> str:
    """What a measure is called, with its unit."""
    measure = MEASURES[name]
    return f"{measure.title} ({measure.unit})"


def sources_table(gathered: Gathered) -> pd.DataFrame:
    """A row a measure: where it is from, what more of it means, and how many instances have it."""
    return pd.DataFrame(
        [
            {
                "measure": MEASURES[name].title,
                "unit": MEASURES[name].unit,
                "direction": MEASURES[name].direction,
                "n": int(gathered.table[name].notna().sum()),
                "study": source["study"],
                "model": imported.named(layout.model_title(str(source["model"])), str(source["spec"])),
                "status": source["status"],
                "run_id": source["run_id"],
                "look": layout.address_of("Runs", shown=str(source["run_id"])),
            }
            for name, source in gathered.sources.items()
        ]
    )


def warn_of_other_texts(gathered: Gathered) -> None:
    """A warning where runs saw different texts under the same ids."""
    if gathered.other:
        st.warning(
            f"{gathered.other:,} values are left out: their run saw another text under the same id than the others did."
        )


def _candidates(runs: pd.DataFrame, studies: tuple[str, ...], model: str, *, of_text: bool) -> list[Mapping[str, Any]]:
    """The runs that may hold a measure, the one wanted most first: the model's own, by study, complete and large."""
    usable = runs[runs["study"].isin(studies) & ((runs["model"] == model) | of_text)]
    ranked = usable.assign(own=usable["model"] == model, place=usable["study"].map(studies.index))
    ranked = ranked.sort_values(["own", "place"], ascending=[False, True], kind="stable")
    return [{str(name): value for name, value in row.items()} for row in ranked.to_dict("records")]
