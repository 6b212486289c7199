"""Does the model know the ID of a concept?"""

import streamlit as st

from explorer.ui import layout, links, nearest_run, show, study_start
from explorer.ui.ontology import inspector as ontology_inspector
from explorer.ui.ontology import results as ontology_results

VIEWS = ["Results", "Concept inspector"]

chosen = layout.open_page(
    "Ontologies",
    "Asked for the ID of a concept by its label, what does the model answer, and how near is it to knowing?",
)

with show.problems():
    with st.container(horizontal=True, vertical_alignment="center"):
        view = links.pick(
            st.segmented_control, "View", "view", VIEWS, default=VIEWS[0], required=True, label_visibility="collapsed"
        )
        options = st.container()
    if view == VIEWS[1]:
        # The model that is asked is the one in the bar at the top, whatever runs there are.
        if not ontology_inspector.is_ontology(chosen.benchmark):
            chosen = layout.Chosen(chosen.model, nearest_run.with_runs("ontology", chosen).benchmark)
        with options, show.options("ontology:run"):
            run_id = ontology_results.pick(chosen)
        ontology_inspector.draw_ontology_inspector(run_id, chosen)
    elif not ontology_results.draw_ontology_results(chosen := ontology_results.nearest(chosen), options):
        study_start.offer(
            "ontology",
            chosen,
            "No ontology run yet",
            "A run asks for the ID of each concept, compares the answers with the right ones, and groups concepts by "
            "how popular they are. Predictions made elsewhere can be imported from the command line "
            "(import-predictions).",
        )
