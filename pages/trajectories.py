"""How it came to be: what stored runs found along training, size and seed, and when single instances were learned."""

import streamlit as st

from explorer.studies.trajectories import queries as trajectory_queries
from explorer.ui import layout, links, resources, show
from explorer.ui.trajectories import findings as trajectory_findings
from explorer.ui.trajectories import instances as trajectory_instances
from explorer.ui.trajectories import no_lines
from explorer.ui.trajectories import one_instance as trajectory_one

FINDINGS, LEARNED, ONE = VIEWS = ["Findings", "When learned", "One instance"]

chosen = layout.open_page(
    "Trajectories", "How does it come to be? What runs found after so many tokens of training, at so many parameters, "
    "with other seeds, and when each instance was learned.",
)  # fmt: skip
with show.problems():
    if no_lines.is_empty():
        no_lines.draw_empty(chosen)
    else:
        row = st.container(horizontal=True, horizontal_alignment="distribute")
        with row:
            view = links.pick(
                st.segmented_control, "View", "trajectory", VIEWS, default=FINDINGS, required=True,
                label_visibility="collapsed",
            )  # fmt: skip
        if view == LEARNED:
            trajectory_instances.draw_learned(chosen, resources.ask_store(trajectory_queries.runs))
        elif view == ONE:
            trajectory_one.draw_one(chosen, resources.ask_store(trajectory_queries.runs))
        else:
            trajectory_findings.draw_findings(chosen, row)
