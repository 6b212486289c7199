"""Of every run that judged an instance as it stands: verdict and margin."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd

from explorer.studies import chat
from explorer.ui import method_note, show
from explorer.ui.columns import link_column, nats_column, text_column
from explorer.ui.dossier.dossier_rows import DossierRows, run_columns
from explorer.ui.layout import Chosen
from explorer.ui.scored_options import verdict_of

WORDS = {"right": "right", "wrong": "wrong", "tie": "tie", "none": "no verdict"}


def draw_dossier_verdicts(dossier: DossierRows, chosen: Chosen) -> None:
    """A row per run."""
    rows = []
    for run in dossier.run_list():
        factors: dict[str, Any] = {"setting": None, "part": None, "k": None, "length": None, "option": -1}
        if run.study == "perturbation":
            factors["condition"] = "original"
        correct = dossier.rows(run.run_id, "correct", **factors)
        if correct.empty:
            continue
        rows.append(
            {
                **run_columns(run),
                "verdict": WORDS[verdict_of(float(correct["value"].iloc[0]))],
                "margin": dossier.value(run.run_id, "margin", "logprob", **factors),
                "unit": method_note.unit_of_run({"spec": run.spec}),
                "remark": str(correct["reason"].iloc[0] or ""),
                "preset": ", ".join(filter(None, (run.preset, chat.in_words(json.loads(run.spec)["settings"])))),
                "run_id": run.run_id,
            }
        )
    if not rows:
        show.note("These runs gave no verdict on the instance.")
        return
    table = pd.DataFrame(rows)
    several = set(table["unit"]) != {"nats"}
    columns = {
        "model": text_column("Model", width="medium"),
        "verdict": "Verdict",
        "margin": nats_column(
            "Margin" if several else "Margin (nats)",
            "of the right option over the best other; of a last word its log P",
        ),
        "unit": "Unit",
        "study": "Study",
        "preset": "Conventions",
        "remark": "Remark",
        "run": link_column("Run"),
    }
    if (table["remark"] == "").all():
        columns.pop("remark")
    if not several:
        columns.pop("unit")
        table = table.drop(columns="unit")
    show.table(table, "verdicts", columns=columns)
