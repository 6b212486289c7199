"""Whether models know an instance's text by heart: attacks on each option, and how it is replicated in context."""

from __future__ import annotations

from typing import Any

import pandas as pd

from explorer.ui import layout, show
from explorer.ui.columns import count_column, link_column, number_column, text_column
from explorer.ui.dossier.dossier_rows import DossierRows, run_columns
from explorer.ui.layout import Chosen

# Measure → title, decimals, what it says.
ATTACKS = {
    "tde_accuracy": ("Extracted", 0, "1: the greedy completion of the first half is the second"),
    "tde_likelihood": ("TDE likelihood", 2, "nats, log P of the second half after the first"),
    "mia_loss": ("MIA loss", 3, "nats a token"),
    "mia_perplexity": ("MIA perplexity", 2, "exp of the loss"),
    "mia_neighbours": ("MIA neighbors", 3, "loss minus the mean loss of its neighbors, nats a token"),
    "min_k": ("Min-k %", 3, "nats a token, over the least likely tokens"),
    "zlib": ("Zlib ratio", 4, "nats a token and compressed byte"),
}
SETTINGS = {
    "full": "full information",
    "pairs_labels": "pairs and labels",
    "pairs": "only pairs",
    "general": "no data set named",
}


def memorization(dossier: DossierRows, chosen: Chosen) -> None:
    """A row per run and option: every attack's score."""
    rows = []
    for run in dossier.run_list():
        measures = dossier.measures[(dossier.measures["run_id"] == run.run_id) & (dossier.measures["option"] >= 0)]
        for option in sorted(measures["option"].unique()):
            values = {name: dossier.value(run.run_id, name, option=option) for name in ATTACKS}
            if any(value == value for value in values.values()):
                rows.append({**run_columns(run), "option": dossier.option_name(int(option)), **values})
    if not rows:
        show.note("These runs have no scores of its texts.")
        return
    table = pd.DataFrame(rows)
    columns: dict[str, Any] = {"model": text_column("Model", width="medium"), "option": "Text"}
    columns |= {
        name: number_column(title, decimals, meaning, signed=name == "mia_neighbours")
        for name, (title, decimals, meaning) in ATTACKS.items()
        if table[name].notna().any()
    }
    columns["run"] = link_column("Run")
    show.table(table, "memorization", columns=columns)
    _page(dossier, "Memorization", "All scores of the run", chosen)


def _page(dossier: DossierRows, title: str, label: str, chosen: Chosen) -> None:
    """A link to the study's page, to the chosen model where it has a run."""
    of_model = dossier.runs[dossier.runs["model"] == chosen.model]
    linked = (of_model if len(of_model) else dossier.runs).iloc[0]
    layout.link_to(title, label, model=str(linked["model"]), benchmark=chosen.benchmark, run=str(linked["run_id"]))


def replication(dossier: DossierRows, chosen: Chosen) -> None:
    """A row per run, setting and k: what the model wrote, and how near it is to the text."""
    rows = []
    for run in dossier.run_list():
        answers = dossier.answers[
            (dossier.answers["run_id"] == run.run_id) & (dossier.answers["role"] == "replication")
        ]
        for answer in answers.sort_values(["setting", "k"]).to_dict("records"):
            where = {"setting": answer["setting"], "k": answer["k"]}
            rows.append(
                {
                    **run_columns(run),
                    "setting": SETTINGS.get(answer["setting"], answer["setting"]),
                    "k": int(answer["k"]),
                    "verdict": answer["verdict"] or answer["reason"] or "",
                    "rouge": dossier.value(run.run_id, "rouge_l_recall", **where),
                    "label": dossier.value(run.run_id, "correct", setting=None, k=answer["k"], part=0),
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
            "model": text_column("Model", width="small"),
            "setting": text_column("Prompt", width="small"),
            "k": count_column("k", "demonstrations", width="small"),
            "verdict": text_column("By the rule", "exact, near-exact or inexact", width="small"),
            "rouge": number_column(
                "ROUGE-L recall", 2, "words in order; characters where a script parts no words", width="small"
            ),
            "label": number_column("Label right", 1, "1 right, 0 wrong", width="small"),
            "text": text_column("Completion", width="large"),
            "run": link_column("Run"),
        },
    )
    _page(dossier, "In-context", "All completions of the run", chosen)
