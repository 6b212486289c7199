"""Do demonstrations bring out what the model knows by heart, and is that why it gets better?"""

import streamlit as st

from explorer.ui import layout, links, nearest_run, show, study_start
from explorer.ui.icl import lab as icl_lab
from explorer.ui.icl import results as icl_results
from explorer.ui.icl import review as icl_review
from explorer.ui.icl import run as icl_run
from explorer.ui.icl import together as icl_together

VIEWS = {"Over k": icl_results.draw_icl_results, "Review verdicts": icl_review.draw_icl_review}
NEAREST = {"Review verdicts": {"useful": icl_review.keeps_completions}}
LIVE, TOGETHER = "Live lab", "All data sets"

chosen = layout.open_page(
    "In-context",
    "Ask for the rest of a data-set instance after k demonstrations: what comes back word for word was memorized.",
)
with st.container(horizontal=True, vertical_alignment="center"):
    view = links.pick(
        st.segmented_control, "View", "facet", ["Over k", TOGETHER, "Review verdicts", LIVE], default="Over k",
        required=True,
        label_visibility="collapsed",
    )  # fmt: skip
    options = st.container()
with show.problems():
    if view == LIVE:
        icl_lab.draw_icl_lab(chosen)
    elif view == TOGETHER:
        if not icl_together.has_runs(chosen.model):
            chosen = nearest_run.with_runs("icl", chosen)
        if not icl_together.draw_icl_together(chosen):
            show.note("No in-context run of this model has concluded yet.")
    else:
        chosen = nearest_run.with_runs("icl", chosen, **NEAREST.get(view, {}))
        with options, show.options("icl:run"):
            run_id = icl_run.pick(chosen)
        if run_id:
            VIEWS[view](run_id, chosen)
        else:
            study_start.offer(
                "icl",
                chosen,
                "No in-context run yet",
                "A run asks for the second half of test items after k demonstrations, judges each completion, scores "
                "the labels after the same demonstrations, and compares the two over k.",
                settings={"k": "0,5,10", "instances": 40},
            )
