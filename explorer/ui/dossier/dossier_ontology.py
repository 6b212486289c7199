"""What models answered when asked for the ID of a concept, and how near they are to knowing it."""

from __future__ import annotations

import pandas as pd

from explorer.ui import layout, show
from explorer.ui.columns import check_column, count_column, link_column, nats_column, number_column, text_column
from explorer.ui.dossier.dossier_rows import DossierRows, run_columns
from explorer.ui.layout import Chosen

OUTCOMES = {"id": "an ID"}


def draw_dossier_ontology(dossier: DossierRows, chosen: Chosen) -> None:
    """A row per run: the answer, how near it is, and what the model knows of the right ID."""
    rows = []
    for run in dossier.run_list():
        run_id = run.run_id
        answers = dossier.answers[(dossier.answers["run_id"] == run_id) & (dossier.answers["request"] == 0)]
        first = answers.iloc[0] if len(answers) else None
        rows.append(
            {
                **run_columns(run),
                "answer": str(first["text"] or "").strip() if first is not None else "",
                "outcome": OUTCOMES.get(first["verdict"], first["verdict"]) if first is not None else "",
                "known": dossier.value(run_id, "correct", language=None) == 1,
                "jaccard": dossier.value(run_id, "label_jaccard", language=None),
                "edits": dossier.value(run_id, "id_levenshtein", language=None),
                "logprob": dossier.value(run_id, "gold_logprob"),
                "rank": dossier.value(run_id, "gold_rank"),
                "count": dossier.value(run_id, "web_count", language=None),
                "bucket": dossier.value(run_id, "bucket", language=None),
                "repeats": int((dossier.answers["run_id"].eq(run_id) & dossier.answers["role"].eq("repeat")).sum()),
            }
        )
    table = pd.DataFrame(rows)
    columns = {
        "model": text_column("Model", width="medium"),
        "answer": text_column("Answer", width="medium"),
        "outcome": text_column("Taken for", width="small"),
        "known": check_column("Right"),
        "jaccard": number_column("Label overlap", 2, "Jaccard of the words of both labels (characters without blanks)"),
        "edits": count_column("Edits", "Levenshtein distance of the wrong and the right ID"),
        "logprob": nats_column("log P of the right ID"),
        "rank": number_column("Its rank", 1, "among other IDs drawn at random, 1 = likeliest"),
        "count": count_column("Web count"),
        "bucket": count_column("Bucket", "of equally many distinct counts, 1 = least popular"),
        "repeats": count_column("Repeats", "answers to the question put again"),
        "run": link_column("Run"),
    }
    for name in ("jaccard", "edits", "logprob", "rank", "count", "bucket"):
        if table[name].isna().all():
            columns.pop(name)
    if (table["repeats"] == 0).all():
        columns.pop("repeats")
    show.table(table, "answers", columns=columns)
    layout.link_to(
        "Ontologies", "Ask for it live", view="Concept inspector", model=chosen.model, benchmark=chosen.benchmark,
        instance=dossier.instance_id, concept=dossier.instance_id.rsplit("/", 1)[-1],
    )  # fmt: skip
