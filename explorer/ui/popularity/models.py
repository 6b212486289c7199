"""Low and high halves of every benchmark and model that has a popularity run, side by side."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from explorer import display, numbers
from explorer.popularity import indexes
from explorer.popularity.ips import DecileEdges
from explorer.popularity.tasks import TASKS
from explorer.results.store import Store
from explorer.scoring import suites
from explorer.studies.popularity import queries as popularity_queries
from explorer.studies.popularity.groups import kind_of
from explorer.ui import corpus_mark, instances_behind, inventory, layout, resources, show
from explorer.ui.columns import count_column, p_column, points_column, share_column, text_column
from explorer.ui.popularity.figure_dumbbells import certain, dumbbells

ENDS = {"low": "low half", "high": "high half"}
FIELDS = {"functional": "Functional", "formal": "Formal", "": "Other"}


def draw_popularity_models() -> None:
    """The figure with all models, and its numbers."""
    halves = resources.ask_shared(compared)
    if halves.empty:
        return
    show.about("popularity")
    st.header("Unpopular and popular halves", anchor=False)
    show.says(sentence(halves))
    answer = show.chart(
        resources.drawn(dumbbells, halves, ENDS, "Accuracy: ○ less popular half, ● more popular half"),
        key="halves",
        alt="Accuracy of the less and the more popular half of each task",
        on_select="rerun",
    )
    show.note(
        "Instances are split at the median of how much more popular the right option is, passages at that of their own "
        "popularity. A thick line: the difference is beyond chance, by the 95% interval over paradigms where items "
        "share them, else by Fisher's exact p below 0.05. Click a dot to go to its instances."
    )
    _links(halves, instances_behind.picked(answer))
    if not halves["pretraining"].all():
        show.note(f"{corpus_mark.MEANING}: {', '.join(dict.fromkeys(halves.loc[~halves['pretraining'], 'model']))}.")
    _table(halves)


def compared(store: Store) -> pd.DataFrame:
    """The rows of the figure; for `resources.ask_shared`, which remembers them."""
    return figure_rows(
        popularity_queries.halves(store), {benchmark.name: benchmark.field for benchmark in inventory.benchmarks()}
    )


def sentence(halves: pd.DataFrame) -> str:
    """In how many of the comparisons the two halves differ by more than chance, and in which direction."""
    clear = halves[certain(halves)]
    up, down = int((clear["difference"] > 0).sum()), int((clear["difference"] < 0).sum())
    if not up and not down:
        return f"In none of {len(halves)} comparisons do the two halves differ by more than chance."
    return (
        f"Of {len(halves)} comparisons, the more popular half is answered better in {display.none_or(up)} and worse in "
        f"{display.none_or(down)}; in the other {len(halves) - up - down} there is no evidence of a difference."
    )


def _links(halves: pd.DataFrame, picked: list[str]) -> None:
    for place in numbers.places(picked, len(halves)):
        row = halves.iloc[place]
        layout.link_to(
            "Popularity", f"{row['task']}, {row['model']}: its instances",
            model=str(row["model_id"]), benchmark=str(row["benchmark"]), of=str(row["grp"]), run=str(row["run_id"]),
        )  # fmt: skip


def figure_rows(halves: pd.DataFrame, fields: dict[str, str]) -> pd.DataFrame:
    """A row per task and model, from the run that says most about it: its own corpus first, then the most instances.

    Checkpoints have a page of their own. Tasks are the paper's; a benchmark that has none of them stands for itself.
    """
    rows = []
    for row in halves.to_dict("records"):
        if suites.is_checkpoint(row["model"]):
            continue
        kind, task = kind_of(row["grp"]), row["grp"]
        if kind == "task" and task in TASKS:
            field, title = TASKS[task].field, TASKS[task].title
        elif kind == "overall" and row["benchmark"].split("_")[0] not in {task.benchmark for task in TASKS.values()}:
            field, title = fields.get(row["benchmark"], ""), layout.benchmark_title(row["benchmark"])
        else:
            continue
        edges = DecileEdges.of_run(row["edges"])
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
    marked = [
        f"{corpus_mark.title(index)}{'' if pretraining else ' ' + corpus_mark.MARK}"
        for index, pretraining in zip(halves["index"], halves["pretraining"], strict=True)
    ]
    show.folded_table(
        halves.drop(columns=["edges", "by_field", "by_task"]).assign(corpus=marked),
        "low and high halves",
        columns={
            "task": "Task",
            "model": "Model",
            "low_value": share_column("Low half", width="small"),
            "high_value": share_column("High half", width="small"),
            "difference": points_column("Difference", "points, high less low", width="small"),
            "p": p_column("p", "by paradigms where items share them, else Fisher's exact over items", width="small"),
            "over_low": points_column("From", "95% interval of the difference over paradigms", width="small"),
            "over_high": points_column("To", width="small"),
            "n": count_column("Instances"),
            "corpus": text_column("Counted in", corpus_mark.MEANING, width="medium"),
            "left_out": count_column("Left out"),
            "length": "n-grams",
        },
    )
