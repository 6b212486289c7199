"""A priming run's results: which run, what to know about it, and its views."""

from __future__ import annotations

import json

import pandas as pd
import streamlit as st

from explorer.studies.priming import declared
from explorer.studies.priming import queries as priming_queries
from explorer.ui import layout, resources, show, undecided_verdicts
from explorer.ui.layout import Chosen


def pick(chosen: Chosen) -> str:
    """The id of a priming run of this model on this benchmark; "" where there is none."""
    return layout.pick_stored(resources.ask_store(priming_queries.runs, chosen.benchmark), chosen, name_of)


def draw_run_remarks(run_id: str) -> None:
    """What a reader should know about a run, under what it shows."""
    _remarks(run_id)
    undecided_verdicts.draw_undecided_note([run_id])


def runs_of_other_models(chosen: Chosen, run_id: str) -> dict[str, str]:
    """Runs of other models on the benchmark by id, one a model, with what each is called."""
    runs = resources.ask_store(priming_queries.runs, chosen.benchmark)
    rest = runs[(runs["model"] != chosen.model) & (runs["run_id"] != run_id)].drop_duplicates("model")
    return {str(row["run_id"]): layout.model_title(str(row["model"])) for _, row in rest.iterrows()}


def name_of(row: pd.Series) -> str:
    """What tells a run from others of its model."""
    settings = json.loads(row["spec"])["settings"]
    state = "" if row["status"] == "complete" else f", {row['status']}"
    parts = [f"{row['done']:,} items{state}", f"to {max(settings['lengths']):,} tokens", settings["preset"]]
    parts += [f"{len(settings['edits'])} edits"] if settings["edits"] else []
    parts += ["matrix"] if settings["matrix"] else []
    parts += ["fast preview"] if settings["chains"] else []
    return " · ".join([*parts, f"{row['created']:%d %b %Y %H:%M}", str(row["run_id"])[-6:]])


def _remarks(run_id: str) -> None:
    remarks = resources.ask_store(priming_queries.remarks, run_id)
    for _, row in remarks.iterrows():
        if row["finding"] == declared.SHARED_CONTEXTS.name:
            st.warning(show.plain(str(row["reason"])), icon=":material/bolt:")
        elif row["finding"] == declared.UNRELATED_SOURCE.name:
            if row["reason"]:
                st.warning(show.plain(str(row["reason"])), icon=":material/info:")
            else:
                show.note(f"Unrelated sentences: {row['setting']}, {row['value']:,.0f} of them.")
