"""Full runs: the queue, each run's progress and findings, two runs side by side, and runs from elsewhere."""

import streamlit as st

from explorer.studies import STUDIES, study
from explorer.ui import layout, links, show
from explorer.ui.runs import compare, import_run, run_list
from explorer.ui.runs import details as runs_details

VIEWS = ["One run", "Compare two", "From elsewhere"]

chosen = layout.open_page(
    "Runs", "Full runs go on in a process of their own: closing this window leaves them going, and so does a restart."
)

with show.problems():
    view = links.pick(
        st.segmented_control, "View", "view", VIEWS, default=VIEWS[0], required=True, label_visibility="collapsed"
    )
    if view == VIEWS[1]:
        compare.draw_compare()
    elif view == VIEWS[2]:
        import_run.draw_import_run()
    elif run := run_list.choose():
        if run.study in STUDIES:
            model, benchmark = layout.model_title(run.model), layout.benchmark_title(run.benchmark)
            st.subheader(show.plain(f"{study(run.study).title}: {model} on {benchmark}"), anchor=False)
        else:
            st.subheader(show.plain(run.run_id), anchor=False)
        runs_details.draw_run_details(run)
    else:
        show.nothing_yet(
            "No run yet",
            "Choose a model, a benchmark and a study in the sidebar and press Run, or type in a terminal:",
            f"python -m explorer run accuracy --model {chosen.model} --benchmark {chosen.benchmark} --limit 200",
        )
