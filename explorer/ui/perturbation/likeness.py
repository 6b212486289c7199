"""How alike texts are before and after swaps, all tasks in one picture (Figure 3 of the lexical-popularity paper)."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd

from explorer import display
from explorer.popularity.tasks import TASKS
from explorer.studies.perturbation import declared
from explorer.studies.perturbation import queries as perturbation_queries
from explorer.studies.popularity.groups import title_of
from explorer.ui import resources, show
from explorer.ui.columns import count_column, number_column
from explorer.ui.perturbation.figure_likeness import boxes_by_task

QUANTILES = ("least", "lower", "median", "upper", "greatest")  # of 5, 25, 50, 75, 95%


def draw_likeness(model: str, pos: str) -> None:
    """The boxes of every task of the paper that the model's runs have; nothing where they have none."""
    likeness = resources.ask_store(perturbation_queries.likeness, model, pos)
    likeness = likeness[likeness["grp"].isin(list(TASKS))]
    rows = rows_of(likeness)
    if rows.empty:
        return
    show.section("How alike the texts stay, all tasks")
    show.says(in_words(rows))
    show.chart(
        boxes_by_task(rows, {similarity.name: similarity.title for similarity in declared.SIMILARITIES}),
        key=f"likeness:{model}:{pos}",
        alt="BERTScore and ROUGE-L of original and swapped texts, a box per task",
    )
    show.note(
        "Changed texts only: a box holds the middle half of a task's texts with the median as its line, whiskers reach "
        "from 5 to 95%. Formal tasks above, functional below (the paper's figure 3; its encoder is roberta-large, so "
        "that its BERTScore is not comparable)."
    )
    show.folded_table(
        rows,
        "likeness by task",
        columns={
            "title": "Of", "task": "Task", "lower": number_column("25%", 3), "median": number_column("Median", 3),
            "upper": number_column("75%", 3), "value": number_column("Mean", 3), "n": count_column("Changed texts"),
        },
    )  # fmt: skip


def rows_of(likeness: pd.DataFrame) -> pd.DataFrame:
    """A row per task and measure with its quantiles, formal tasks first."""
    titles = {similarity.name: similarity.title for similarity in declared.SIMILARITIES}
    rows: list[dict[str, Any]] = []
    for row in likeness.to_dict("records"):
        detail = json.loads(row["detail"]) if isinstance(row["detail"], str) else {}
        quantiles = detail.get("quantiles") or []
        if len(quantiles) == len(QUANTILES):
            rows.append(
                {
                    **dict(zip(QUANTILES, map(float, quantiles), strict=True)), "measure": row["finding"],
                    "title": titles[row["finding"]], "task": title_of(row["grp"]), "value": row["value"], "n": row["n"],
                    "field": TASKS[row["grp"]].field, "place": list(TASKS).index(row["grp"]),
                }
            )  # fmt: skip
    task_rows = pd.DataFrame(rows)
    return (
        task_rows.sort_values(["measure", "place"], kind="stable").reset_index(drop=True)
        if len(task_rows)
        else task_rows
    )


def in_words(rows: pd.DataFrame) -> str:
    """Between what the medians of the tasks lie."""
    sentences = []
    for title, of_measure in rows.groupby("title", sort=False):
        low, high = of_measure["median"].min(), of_measure["median"].max()
        sentences.append(f"{title} {display.number(low)} to {display.number(high)}")
    return f"Medians over {rows['task'].nunique()} tasks: {'; '.join(sentences)}."
