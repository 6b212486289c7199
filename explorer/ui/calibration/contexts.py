"""The control: what a context does to a verdict should not follow how often the corpus decides the pair."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from explorer import display
from explorer.results.store import Store
from explorer.studies.calibration import doses, words
from explorer.studies.calibration import queries as calibration_queries
from explorer.studies.calibration.doses import Response
from explorer.ui import resources, show
from explorer.ui.calibration import common

CONDITIONS = {
    "matched_acceptable": "after acceptable sentences",
    "matched_unacceptable": "after unacceptable sentences",
}


def draw_contexts(model: str) -> None:
    """The change of accuracy after the longest context, by dose."""
    st.header("Does a context act alike at every dose?", anchor=False)
    answered = resources.ask_store(by_dose, model)
    if answered is None:
        common.nothing("priming", common.PAIRS, model)
        return
    if not answered.responses:
        show.note("No pair of this run has a verdict both before and after a context.")
        return
    show.says(answered.said)
    titles = sorted({response.name for response in answered.responses})
    common.draw_curves(
        "planted contexts",
        [(title, [response for response in answered.responses if response.name == title]) for title in titles],
        alt=f"Change of accuracy after {display.count(answered.longest)} tokens of context, by dose",
        response=f"Change of accuracy after {answered.longest:,} tokens, in points",
        chance=0.0,
        is_share=False,
        first="Context",
        of_models=False,
    )


@dataclass(frozen=True, slots=True)
class AfterContext:
    """The change of accuracy after the longest context (tokens) by kind of context and dose, and what it says."""

    longest: int
    responses: tuple[Response, ...] = ()
    said: str = ""


def by_dose(store: Store, model: str) -> AfterContext | None:
    """What contexts do at each dose; none where no run asked."""
    primed = calibration_queries.primed(store, common.PAIRS)
    primed = primed[primed["model"] == model]
    if primed.empty:
        return None
    primed = common.with_doses(primed)
    before = primed[primed["length"] == 0].groupby("instance_id")["correct"].first()
    longest = int(primed["length"].max())
    after = primed[(primed["length"] == longest) & primed["condition"].isin(list(CONDITIONS))]
    after = after.assign(
        delta=after["correct"] - after["instance_id"].map(before), title=after["condition"].map(CONDITIONS)
    ).dropna(subset=["delta"])
    if after.empty:
        return AfterContext(longest)
    acceptable = after[after["condition"] == "matched_acceptable"]
    sentence = words.priming_in_words(acceptable if len(acceptable) else after)
    in_points = after.assign(delta=100 * after["delta"])
    return AfterContext(longest, tuple(doses.means(in_points, "title", "delta")), sentence)
