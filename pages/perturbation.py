"""Does the verdict survive when words give way to synonyms? Swap them by hand, or look at full runs."""

import streamlit as st

from explorer.ui import layout, links, nearest_run, show, study_start
from explorer.ui.cockpit import lab
from explorer.ui.perturbation import run as perturbation_run
from explorer.ui.perturbation import same_instances

VIEWS = ["Live lab", "Full runs", "Same meaning?"]

chosen = layout.open_page(
    "Perturbation", "Swap nouns and verbs for synonyms: the meaning stays, and what the model makes of it may not."
)
view = links.pick(
    st.segmented_control, "View", "facet", VIEWS, default=VIEWS[0], required=True, label_visibility="collapsed"
)
with show.problems():
    if view != "Live lab":
        chosen = nearest_run.with_runs("perturbation", chosen)
    if view == "Live lab":
        lab.draw_swap_lab(chosen)
    elif view == "Full runs":
        perturbation_run.draw_perturbation_run(chosen)
    else:
        same_instances.draw_same_instances(chosen)
    if view != "Live lab" and not perturbation_run.has_run(chosen):
        study_start.offer(
            "perturbation",
            chosen,
            "No perturbation run yet",
            "A run swaps the nouns and verbs of every instance, scores both versions, counts the n-grams of both, and "
            "tests whether the swaps changed the verdicts.",
        )
