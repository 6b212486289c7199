"""How a growing context moved the judgment of an instance: its margin after every length, by condition."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from explorer.ui import layout, links, show
from explorer.ui.dossier.dossier_rows import DossierRows
from explorer.ui.dossier.figure_margins import margin_curves
from explorer.ui.layout import Chosen


def draw_dossier_priming(dossier: DossierRows, chosen: Chosen) -> None:
    """The curves of one run, the chosen model's first, and what became of the verdict."""
    runs = {run.run_id: run for run in dossier.run_list()}
    ordered = sorted(runs, key=lambda run_id: runs[run_id].model != chosen.model)
    run_id = ordered[0]
    if len(ordered) > 1:
        names = {run_id: f"{layout.model_title(runs[run_id].model)} · {run_id[-6:]}" for run_id in ordered}
        run_id = links.pick(
            st.selectbox, "Priming run", "primed", ordered, default=ordered[0], format_func=names.__getitem__
        )
    points = curve(dossier, run_id)
    if points.empty:
        show.note("This run has no margins of the instance.")
        return
    stereotypes = chosen.benchmark == "crows_pairs"
    show.chart(
        margin_curves(points, stereotypes=stereotypes),
        key="dossier_priming",
        alt="Margin of the instance after growing contexts, one line per condition",
    )
    show.note(
        f"Margin of the {'less stereotypical' if stereotypes else 'acceptable'} sentence after contexts of growing "
        f"length; below zero the verdict has turned. Run of {layout.model_title(runs[run_id].model)}."
    )
    with st.container(horizontal=True):
        about = {"model": runs[run_id].model, "benchmark": chosen.benchmark}
        layout.link_to("Priming", "Its whole suite", priming="Suites", run=run_id, **about)
        layout.link_to("Priming", "Prime it live", priming="Live lab", instance=dossier.instance_id, **about)


def curve(dossier: DossierRows, run_id: str) -> pd.DataFrame:
    """A row per condition and length (tokens; 0 without a context) with the margin in nats."""
    rows = dossier.rows(run_id, "margin", part=None, setting=None, option=-1)
    rows = rows[rows["value"].notna()]
    bare = rows[rows["condition"] == "baseline"]
    primed = rows[rows["length"].notna() & (rows["length"] > 0)]
    starts = [
        {"condition": condition, "length": 0, "value": float(bare["value"].iloc[0])}
        for condition in primed["condition"].unique()
        if len(bare)
    ]
    points = pd.concat([pd.DataFrame(starts), primed[["condition", "length", "value"]]], ignore_index=True)
    return points.astype({"length": int}).sort_values(["condition", "length"]) if len(points) else points
