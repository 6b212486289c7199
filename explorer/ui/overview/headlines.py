"""One figure of every study for each thing it was run on, the planned runs that are not there named as such."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from explorer import display
from explorer.results import queries_overview
from explorer.results.precomputed_plan import Planned, planned_runs, trained_here
from explorer.scoring import suites
from explorer.studies import STUDIES
from explorer.studies import study as find_study
from explorer.ui import layout, resources, show
from explorer.ui.columns import name_column, text_column

NOT_COMPUTED = "not computed"

Key = tuple[str, str, tuple[str, ...], bool]  # study, benchmark, groups, with neighbours


@dataclass(frozen=True, slots=True)
class Headline:
    """What stands for a study: a sentence that says what is shown, and how a run's findings are written."""

    sentence: str
    write: Callable[[pd.DataFrame], str]


def _share(findings: pd.DataFrame) -> str:
    return display.share(float(findings["value"].iloc[0]))


def _primed(findings: pd.DataFrame) -> str:
    values = {row["condition"]: float(row["value"]) for row in findings.to_dict("records")}
    sides = [values.get(f"matched_{side}", float("nan")) for side in ("acceptable", "unacceptable")]
    return " / ".join(map(display.points, sides))


def _changed(findings: pd.DataFrame) -> str:
    value = float(findings["value"].iloc[0])
    return f"{display.number(value, 1, signed=True)}%" if value == value else display.MISSING


def _difference(findings: pd.DataFrame) -> str:
    return display.points(float(findings["value"].iloc[0]))


def _auc(findings: pd.DataFrame) -> str:
    values = {row["setting"]: float(row["value"]) for row in findings.to_dict("records")}
    return display.number(values.get("mia_neighbours", values.get("mia_loss", float("nan"))))


def _replicated(findings: pd.DataFrame) -> str:
    return f"{_share(findings)} (k = {int(findings['k'].iloc[0])})" if findings["k"].notna().all() else _share(findings)


HEADLINES: Mapping[str, Headline] = {
    "accuracy": Headline("The share of instances on which the model preferred what the benchmark calls right.", _share),
    "priming": Headline(
        "By how many points accuracy changes after the longest context of matched sentences, over suites: acceptable "
        "ones / unacceptable ones.",
        _primed,
    ),
    "perturbation": Headline(
        "By how many percent of the original accuracy changes when nouns and verbs give way to synonyms.",
        _changed,
    ),
    "popularity": Headline(
        "Accuracy on the more popular half of the instances minus that on the less popular half, in points; popularity "
        "is counted in the corpus of the glass box, which only its own models were trained on.",
        _difference,
    ),
    "ontology": Headline("The share of concepts whose ID the model gives, asked for by label.", _share),
    "memorization": Headline(
        "How well the loss on an instance's texts (or its distance from the loss on neighbors) tells right from wrong "
        "answers: AUC of a logistic classifier, 0.5 by chance.",
        _auc,
    ),
    "icl": Headline(
        "The share of test items whose second half the model completes exactly or nearly, after the most "
        "demonstrations.",
        _replicated,
    ),
}


def draw_headlines() -> None:
    """A table per study, a row per benchmark or task, a column per model; accuracy has a figure: gaps alone."""
    headlines = resources.ask_store(queries_overview.study_headlines)
    headlines = headlines[~headlines["model"].map(suites.is_checkpoint).astype(bool)]
    checkpoints = set(trained_here())
    planned = [run for run in planned_runs() if run.model not in checkpoints]
    for study in STUDIES:
        rows = table(
            study,
            headlines[headlines["study"] == study],
            [planned_run for planned_run in planned if planned_run.study == study],
        )
        if rows.empty or study not in HEADLINES:
            continue
        gaps = rows.drop(columns="On").isin([NOT_COMPUTED, ""]).all(axis=1)
        if study != "accuracy":
            st.subheader(show.plain(find_study(study).title), anchor=False)
            show.lead(HEADLINES[study].sentence)
            if not gaps.all():
                columns = {
                    name: name_column(name, width=250) if name == "On" else text_column(name, right=True)
                    for name in map(str, rows)
                }
                show.table(rows[~gaps], f"headlines of {study}", columns=columns)
        if gaps.any():
            show.note(f"{NOT_COMPUTED.capitalize()}: {', '.join(rows.loc[gaps, 'On'])}.")
        for page in layout.PAGES:
            if page.study == study:
                layout.link_to(page.title, f"Look closer: {page.title}")


def table(study: str, headlines: pd.DataFrame, planned: Sequence[Planned]) -> pd.DataFrame:
    """What the runs of a study found, "not computed" where a planned run is not there."""
    cells: dict[Key, dict[str, str]] = {}
    names: dict[Key, str] = {}
    # Whatever was planned, in the plan's order, then whatever else was run; the largest run of each counts.
    for planned_run in planned:
        key = (study, planned_run.benchmark, tuple(sorted(planned_run.suites)), _neighbours(planned_run))
        names.setdefault(key, _name(planned_run.benchmark, planned_run.task, planned_run.suites))
        cells.setdefault(key, {})[layout.model_title(planned_run.model)] = NOT_COMPUTED
    done: set[tuple[Key, str]] = set()
    for _, of_run in headlines.groupby("run_id", sort=False):
        run = of_run.iloc[0]
        suites = tuple(sorted(json.loads(str(run["suites"]))))
        key = (study, str(run["benchmark"]), suites, str(run["neighbours"]) not in ("0", ""))
        names.setdefault(key, _name(str(run["benchmark"]), "", suites))
        model = layout.model_title(str(run["model"]))
        if (key, model) not in done:
            done.add((key, model))
            cells.setdefault(key, {})[model] = HEADLINES[study].write(of_run)
    frame_of = pd.DataFrame([{"On": names[key], **row} for key, row in cells.items()])
    return frame_of.fillna("") if len(frame_of) else frame_of


def _neighbours(planned_run: Planned) -> bool:
    return planned_run.study == "memorization" and int(planned_run.settings.get("neighbours", 1)) > 0


def _name(benchmark: str, task: str, suites: Sequence[str]) -> str:
    part = task or (display.counted(len(suites), "group") if suites else "")
    return f"{layout.benchmark_title(benchmark)}{f', {part}' if part else ''}"
