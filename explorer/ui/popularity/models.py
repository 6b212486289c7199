"""Low and high halves of every benchmark and model that has a popularity run, side by side."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from explorer.popularity import indexes
from explorer.popularity.ips import Edges
from explorer.popularity.tasks import TASKS
from explorer.studies.popularity import queries as popularity_queries
from explorer.studies.popularity.groups import kind_of
from explorer.ui import inventory, layout, resources, show
from explorer.ui.columns import check_column, count_column, p_column, points_column, share_column
from explorer.ui.popularity.figure_dumbbells import dumbbells

ENDS = {"low": "low half", "high": "high half"}
FIELDS = {"functional": "Functional", "formal": "Formal", "": "Other"}


def draw_popularity_models() -> None:
    """The figure with all models, and its numbers."""
    halves = figure_rows(
        resources.ask(popularity_queries.halves), {one.name: one.field for one in inventory.benchmarks()}
    )
    if halves.empty:
        return
    show.about("popularity")
    st.header("Unpopular and popular halves", anchor=False)
    show.lead(
        "Accuracy on the instances below and above the median popularity. Choices are split by how much more popular "
        "the right option is, passages by their own popularity. A thick line: Fisher's exact p below 0.05."
    )
    figure = dumbbells(halves, ENDS, "Accuracy: open circle low half, filled circle high half")
    show.chart(figure, key="halves", alt="Accuracy of the low and the high half of each task")
    strange = list(dict.fromkeys(halves.loc[~halves["pretraining"], "model"]))
    if strange:
        show.note(f"Counted in an index that is not known to hold the model's pre-training data: {', '.join(strange)}.")
    drawer = st.expander("The numbers", key="halves:table", on_change="rerun")
    if drawer.open:
        with drawer:
            _table(halves)


def figure_rows(halves: pd.DataFrame, fields: dict[str, str]) -> pd.DataFrame:
    """A row a task and model, from the run that says most about it: its own corpus first, then the most instances.

    Tasks are the paper's; a benchmark that has none of them stands for itself.
    """
    rows = []
    for row in halves.to_dict("records"):
        kind, task = kind_of(row["grp"]), row["grp"]
        if kind == "task" and task in TASKS:
            field, title = TASKS[task].field, TASKS[task].title
        elif kind == "overall" and row["benchmark"].split("_")[0] not in {one.benchmark for one in TASKS.values()}:
            field, title = fields.get(row["benchmark"], ""), layout.benchmark_title(row["benchmark"])
        else:
            continue
        edges = Edges.of_run(row["edges"])
        if edges is None:
            continue
        rows.append(
            {
                **row, "task": title, "field": FIELDS[field], "model_id": row["model"], "index": edges.index,
                "model": layout.model_title(row["model"]), "length": edges.n,
                "pretraining": indexes.is_pretraining_data(edges.index, row["model"]) is True,
            }
        )  # fmt: skip
    if not rows:
        return pd.DataFrame(columns=["task", "field", "model"])
    order = [*(task.title for task in TASKS.values()), *dict.fromkeys(row["task"] for row in rows)]
    table = pd.DataFrame(rows).sort_values(["pretraining", "done"], ascending=False, kind="stable")
    table = table.drop_duplicates(["task", "model_id"])
    return table.assign(
        by_field=table["field"].map({name: place for place, name in enumerate(FIELDS.values())}),
        by_task=table["task"].map({name: place for place, name in reversed(list(enumerate(order)))}),
    ).sort_values(["by_field", "by_task", "model"], kind="stable")


def _table(halves: pd.DataFrame) -> None:
    show.table(
        halves.drop(columns=["edges", "by_field", "by_task"]),
        "low and high halves",
        columns={
            "task": "Task",
            "model": "Model",
            "low_value": share_column("Low half", width="small"),
            "high_value": share_column("High half", width="small"),
            "difference": points_column("Difference", "points, high less low", width="small"),
            "p": p_column(width="small"),
            "n": count_column("Instances"),
            "left_out": count_column("Left out"),
            "index": "Index",
            "length": "n",
            "pretraining": check_column("Its own data", "the index holds the model's own data"),
        },
    )
