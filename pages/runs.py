"""Full runs by study and benchmark: progress and findings of each, several side by side, and runs from elsewhere."""

import streamlit as st

from explorer.studies import STUDIES
from explorer.ui import layout, links, run_names, show
from explorer.ui.runs import compare, import_run, run_list, sweeps
from explorer.ui.runs import details as runs_details

LIST, SWEEPS, COMPARE, ELSEWHERE = VIEWS = ["All runs", "Sweeps", "Compare", "From elsewhere"]

chosen = layout.open_page(
    "Runs", "Full runs go on in a process of their own: closing this window leaves them going, and so does a restart."
)

with show.problems():
    if links.recall("view").startswith(COMPARE):  # an address of an earlier version says "Compare two"
        links.remember("view", COMPARE)
    view = links.pick(
        st.segmented_control, "View", "view", VIEWS, default=LIST, required=True, label_visibility="collapsed"
    )
    if view == COMPARE:
        compare.draw_compare()
    elif view == SWEEPS:
        sweeps.draw_sweeps()
    elif view == ELSEWHERE:
        import_run.draw_import_run()
    else:
        run, ticked = run_list.choose(chosen)
        if len(ticked) > 1:
            compare.offer(ticked)
        if run is None:
            show.nothing_yet(
                "No run yet",
                "Choose a model, a benchmark and a study and press Run.",
                f"python -m explorer run accuracy --model {chosen.model} --benchmark {chosen.benchmark} --limit 200",
            )
        else:
            if run.study in STUDIES:
                model, benchmark = layout.model_title(run.model), layout.benchmark_title(run.benchmark)
                st.subheader(show.plain(f"{run_names.study_title(run.study)}: {model} on {benchmark}"), anchor=False)
            else:
                st.subheader(show.plain(run.run_id), anchor=False)
            runs_details.draw_run_details(run)
