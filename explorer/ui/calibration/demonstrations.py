"""Labeled items that the corpus holds so and so often, completed after demonstrations."""

from __future__ import annotations

import streamlit as st

from explorer import benchmarks
from explorer.figures import theme
from explorer.glassbox import starters
from explorer.results.store import Store
from explorer.settings import Settings
from explorer.studies.calibration import doses, words
from explorer.studies.calibration import queries as calibration_queries
from explorer.studies.calibration.doses import Response
from explorer.ui import resources, show
from explorer.ui.calibration import common
from explorer.ui.calibration.common import title_of

REPEATED = ("exact", "near-exact")


def draw_demonstrations(model: str) -> None:
    """The share of items whose second half the model repeats, by how often it has read them, a line per k."""
    st.header("Do demonstrations bring out what was read?", anchor=False)
    by_k = resources.ask_store(by_demonstrations, model, resources.settings())
    if not by_k:
        common.nothing("icl", "starter_questions", model)
        return
    show.says(*(words.replication_in_words(title_of(model), k, lines) for k, lines in by_k.items()))
    common.draw_curves(
        "planted demonstrations",
        [(f"k = {k}", lines) for k, lines in by_k.items()],
        alt="Share of items that the model completes exactly or nearly, by how often they occur in the corpus",
        response="Exact or near-exact",
        first="Demonstrations",
        colors=theme.in_order(len(by_k)),
        of_models=False,
    )


def by_demonstrations(store: Store, model: str, settings: Settings) -> dict[int, list[Response]]:
    """k → the share of items that are repeated, by dose; empty where no run asked."""
    answers = calibration_queries.completions(store)
    answers = answers[answers["model"] == model]
    if answers.empty:
        return {}
    dealt: dict[str, int] = {}
    for name in sorted(answers["benchmark"].unique()):
        dealt |= starters.doses(benchmarks.load(str(name), settings).instances)
    answers = answers.assign(
        dose=answers["instance_id"].map(dealt), repeated=answers["verdict"].isin(REPEATED).astype(float)
    ).dropna(subset=["dose"])
    responses = doses.shares(answers.astype({"k": int, "dose": int}), "k", "repeated")
    return {
        int(k): [response for response in responses if response.name == str(k)]
        for k in sorted(answers["k"].astype(int).unique())
    }
