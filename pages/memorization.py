"""Does the model know a benchmark's texts by heart, and does that say what it gets right?"""

import streamlit as st

from explorer.ui import layout, links, nearest_run, show, study_start
from explorer.ui.memorization import run as memorization_run

VIEWS = {
    "Scores": memorization_run.scores,
    "Classifiers": memorization_run.classifiers,
    "Low and high": memorization_run.low_high,
}

chosen = layout.open_page(
    "Memorization",
    "How much of a benchmark can be drawn out of the model, and are instances that it has seen answered better?",
)

with show.problems():
    chosen = nearest_run.with_runs("memorization", chosen)
    run_id = memorization_run.pick(chosen)
    if run_id:
        view = links.pick(
            st.segmented_control, "View", "facet", list(VIEWS), default="Scores", required=True,
            label_visibility="collapsed",
        )  # fmt: skip
        VIEWS[view](run_id, chosen)
    else:
        study_start.offer(
            "memorization",
            chosen,
            "No memorization run yet",
            "A run asks for the second half of every text, measures the loss of the whole and of neighbors that "
            "differ in a word, and tests whether these scores tell right from wrong answers.",
            settings={"neighbours": 0},
        )
