"""How does a growing context move a judgement of acceptability?"""

import streamlit as st

from explorer.ui import layout, links, nearest_run, show, study_start
from explorer.ui.cockpit import lab
from explorer.ui.priming import (
    curves as priming_curves,
)
from explorer.ui.priming import (
    likeness as priming_likeness,
)
from explorer.ui.priming import (
    run as priming_run,
)
from explorer.ui.priming import (
    statistics as priming_statistics,
)
from explorer.ui.priming import (
    suites as priming_suites,
)

LAB, CURVES, SUITES, REGRESSION, EDITS, MATRICES, PAPER = (
    "Live lab",
    "Curves",
    "Suites",
    "Regression",
    "Perturbed contexts",
    "Heat maps",
    "Beside the paper",
)

NEAREST = {MATRICES: {"useful": priming_likeness.has_matrices, "far": True}}

chosen = layout.open_page(
    "Priming", "Sentences before a pair move what a model prefers: acceptable or not, like the pair or unlike it."
)
view = links.pick(
    st.segmented_control,
    "View",
    "priming",
    [LAB, CURVES, SUITES, REGRESSION, EDITS, MATRICES, PAPER],
    default=LAB,
    required=True,
    label_visibility="collapsed",
)
options = st.container()
with show.problems():
    run_id = ""
    if view != LAB:
        chosen = nearest_run.with_runs("priming", chosen, **NEAREST.get(view, {}))
        with options, show.options("priming:run", "Stored run"):
            run_id = priming_run.pick(chosen)
    if view == LAB:
        lab.draw_context_lab(chosen)
    elif not run_id:
        study_start.offer(
            "priming",
            chosen,
            "No priming run yet",
            "A run puts growing contexts before the pairs of every suite, judges each pair after every length, and "
            "draws the curves and statistics of the paper. A first look lets the items of a suite share contexts.",
            settings={"chains": 2, "lengths": "0,100,200,300,400,500"},
        )
    elif view == CURVES:
        priming_curves.draw_priming_curves(chosen, run_id)
    elif view == SUITES:
        priming_suites.draw_priming_suites(chosen, run_id)
    elif view == REGRESSION:
        priming_statistics.regressions(run_id, chosen.model)
    elif view == EDITS:
        priming_likeness.edits(chosen, run_id)
    elif view == MATRICES:
        priming_likeness.matrices(chosen, run_id)
    else:
        priming_statistics.beside_the_paper(chosen, run_id)
    if run_id:
        priming_run.draw_run_remarks(run_id)
