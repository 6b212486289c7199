"""Whether models know an instance's text by heart: attacks on each option, and how it is replicated in context."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from explorer.ui import layout, show
from explorer.ui.dossier.dossier_rows import Held, about
from explorer.ui.layout import Chosen

# Measure → title, format, what it says.
ATTACKS = {
    "tde_accuracy": ("Extracted", "%.0f", "1: the greedy completion of the first half is the second"),
    "tde_likelihood": ("TDE likelihood", "%.2f", "nats, log P of the second half after the first"),
    "mia_loss": ("MIA loss", "%.3f", "nats a token"),
    "mia_perplexity": ("MIA perplexity", "%.2f", "exp of the loss"),
    "mia_neighbours": ("MIA neighbors", "%+.3f", "loss less the mean loss of its neighbors, nats a token"),
    "min_k": ("Min-k %", "%.3f", "nats a token, over the least likely tokens"),
    "zlib": ("Zlib ratio", "%.4f", "nats a token and compressed byte"),
}
SETTINGS = {
    "full": "full information",
    "pairs_labels": "pairs and labels",
    "pairs": "only pairs",
    "general": "no data set named",
}


def memorization(held: Held, chosen: Chosen) -> None:
    """A row a run and option: every attack's score."""
    rows = []
    for run in held.runs.to_dict("records"):
        own = held.measures[(held.measures["run_id"] == run["run_id"]) & (held.measures["option"] >= 0)]
        for option in sorted(own["option"].unique()):
            values = {name: held.value(run["run_id"], name, option=option) for name in ATTACKS}
            if any(value == value for value in values.values()):
                rows.append({**about(run), "option": held.option_name(int(option)), **values})
    if not rows:
        show.note("These runs have no scores of its texts.")
        return
    table = pd.DataFrame(rows)
    columns: dict[str, Any] = {"model": st.column_config.TextColumn("Model", width="medium"), "option": "Text"}
    columns |= {
        name: st.column_config.NumberColumn(title, format=form, help=meaning)
        for name, (title, form, meaning) in ATTACKS.items()
        if table[name].notna().any()
    }
    columns["run"] = st.column_config.LinkColumn("Run", display_text="look")
    show.table(table, "memorization", columns=columns)
    _page(held, "Memorization", "All scores of the run", chosen)


def _page(held: Held, title: str, label: str, chosen: Chosen) -> None:
    """A link to the study's page, to the sidebar's model where it has a run."""
    own = held.runs[held.runs["model"] == chosen.model]
    run = (own if len(own) else held.runs).iloc[0]
    layout.link_to(title, label, model=str(run["model"]), benchmark=chosen.benchmark, run=str(run["run_id"]))


def replication(held: Held, chosen: Chosen) -> None:
    """A row a run, setting and k: what the model wrote, and how near it is to the text."""
    rows = []
    for run in held.runs.to_dict("records"):
        own = held.answers[(held.answers["run_id"] == run["run_id"]) & (held.answers["role"] == "replication")]
        for answer in own.sort_values(["setting", "k"]).to_dict("records"):
            where = {"setting": answer["setting"], "k": answer["k"]}
            rows.append(
                {
                    **about(run),
                    "setting": SETTINGS.get(answer["setting"], answer["setting"]),
                    "k": int(answer["k"]),
                    "verdict": answer["verdict"] or answer["reason"] or "",
                    "rouge": held.value(run["run_id"], "rouge_l_recall", **where),
                    "label": held.value(run["run_id"], "correct", setting=None, k=answer["k"], part=0),
                    "text": str(answer["text"] or ""),
                }
            )
    if not rows:
        show.note("These runs used the instance as a demonstration, or wrote nothing about it.")
        return
    show.table(
        pd.DataFrame(rows),
        "replication",
        columns={
            "model": st.column_config.TextColumn("Model", width="small"),
            "setting": st.column_config.TextColumn("Prompt", width="small"),
            "k": st.column_config.NumberColumn("k", width="small", help="demonstrations"),
            "verdict": st.column_config.TextColumn("By the rule", width="small", help="exact, near-exact or inexact"),
            "rouge": st.column_config.NumberColumn(
                "ROUGE-L recall",
                format="%.2f",
                width="small",
                help="words in order; characters where a script parts no words",
            ),
            "label": st.column_config.NumberColumn(
                "Label right", format="%.1f", width="small", help="1 right, 0 wrong"
            ),
            "text": st.column_config.TextColumn("Completion", width="large"),
            "run": st.column_config.LinkColumn("Run", display_text="look"),
        },
    )
    _page(held, "In-context", "All completions of the run", chosen)
