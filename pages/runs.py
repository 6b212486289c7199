"""Full runs: the queue, each run's progress and findings, two runs side by side, and runs from elsewhere."""

import streamlit as st

from explorer.experiments import STUDIES, study
from explorer.ui import compare, frame, links, run_details, run_import, runs_list, show

VIEWS = ["One run", "Compare two", "From elsewhere"]

chosen = frame.open_page(
    "Runs", "Full runs go on in a process of their own: closing this window leaves them going, and so does a restart."
)

with show.problems():
    view = links.pick(
        st.segmented_control, "View", "view", VIEWS, default=VIEWS[0], required=True, label_visibility="collapsed"
    )
    if view == VIEWS[1]:
        compare.draw()
    elif view == VIEWS[2]:
        run_import.draw()
    elif run := runs_list.choose():
        if run.study in STUDIES:
            model, benchmark = frame.model_title(run.model), frame.benchmark_title(run.benchmark)
            st.subheader(show.plain(f"{study(run.study).title}: {model} on {benchmark}"), anchor=False)
        else:
            st.subheader(show.plain(run.run_id), anchor=False)
        run_details.draw(run)
    else:
        show.nothing_yet(
            "No run yet",
            "Choose a model, a benchmark and a study in the sidebar and press Run, or type in a terminal:",
            f"python -m explorer run accuracy --model {chosen.model} --benchmark {chosen.benchmark} --limit 200",
        )
