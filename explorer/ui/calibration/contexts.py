"""The control: what a context does to a verdict should not follow how often the corpus decides the pair."""

from __future__ import annotations

import streamlit as st

from explorer import display
from explorer.studies.calibration import doses, words
from explorer.studies.calibration import queries as calibration_queries
from explorer.ui import resources, show
from explorer.ui.calibration import common

CONDITIONS = {
    "matched_acceptable": "after acceptable sentences",
    "matched_unacceptable": "after unacceptable sentences",
}


def draw_contexts(model: str) -> None:
    """The change of accuracy after the longest context, by dose."""
    st.header("Does a context act alike at every dose?", anchor=False)
    primed = resources.ask(calibration_queries.primed, common.PAIRS)
    primed = primed[primed["model"] == model] if len(primed) else primed
    if primed.empty:
        common.nothing("priming", common.PAIRS, model)
        return
    primed = common.with_doses(primed)
    before = primed[primed["length"] == 0].groupby("instance_id")["correct"].first()
    longest = int(primed["length"].max())
    after = primed[(primed["length"] == longest) & primed["condition"].isin(list(CONDITIONS))]
    after = after.assign(
        delta=after["correct"] - after["instance_id"].map(before), title=after["condition"].map(CONDITIONS)
    ).dropna(subset=["delta"])
    if after.empty:
        show.note("No pair of this run has a verdict both before and after a context.")
        return
    responses = doses.means(after, "title", "delta")
    acceptable = after[after["condition"] == "matched_acceptable"]
    show.says(words.priming_in_words(acceptable if len(acceptable) else after))
    common.draw_curves(
        "planted contexts",
        [(title, [one for one in responses if one.name == title]) for title in sorted(after["title"].unique())],
        alt=f"Change of accuracy after {display.count(longest)} tokens of context, by dose",
        response=f"Change of accuracy after {longest:,} tokens",
        chance=0.0,
        first="Context",
    )
