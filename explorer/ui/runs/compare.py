"""Two runs item by item: which instances changed sides, and whether that is more than chance."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from explorer import display
from explorer.figures.comparison import groups_of_two_runs, margins_of_two_runs
from explorer.results import queries
from explorer.runs import imported
from explorer.stats.mcnemar import mcnemar
from explorer.ui import layout, links, resources, show, undecided
from explorer.ui.columns import group_column, id_column, link_column, nats_column

PAIRS = ("first", "second")


def draw_compare() -> None:
    """The pickers of two runs on one benchmark, and what came of the comparison."""
    runs = resources.ask(queries.runs)
    runs = runs[(runs["study"] == "accuracy") & (runs["done"] > 0)]
    many = runs["benchmark"].value_counts()
    runs = runs[runs["benchmark"].isin(many[many > 1].index)]
    if runs.empty:
        show.nothing_yet(
            "Two runs are needed",
            "Run the study Accuracy twice on one benchmark, with two models or two settings; then compare them here.",
        )
        return
    names = {row["run_id"]: _name(row) for _, row in runs.iterrows()}
    left, right = st.columns(2)
    with left:
        first = links.pick(st.selectbox, "First run", "first", list(names), always=True, format_func=names.__getitem__)
    benchmark = runs.loc[runs["run_id"] == first, "benchmark"].iloc[0]
    others = list(runs.loc[(runs["benchmark"] == benchmark) & (runs["run_id"] != first), "run_id"])
    with right:
        second = links.pick(st.selectbox, "Second run", "second", others, always=True, format_func=names.__getitem__)
    row = runs.set_index("run_id").loc[second]
    about = {"model": str(row["model"]), "benchmark": str(row["benchmark"]), "run": second}
    _show(first, second, *_short_names(runs, first, second), about)


def _show(first: str, second: str, name: str, other: str, about: Mapping[str, str]) -> None:
    items = resources.ask(queries.two_runs, first, second)
    if items.empty:
        show.nothing_yet("Nothing in common", "These two runs looked at different instances. Choose two others.")
        return
    show.about("accuracy", f"{name} and {other}", about["benchmark"], len(items))
    change = mcnemar(items["correct_a"], items["correct_b"])
    show.numbers(
        [
            (
                show.plain(name),
                display.share(change.before),
                "Accuracy on the shared instances, ties counted as wrong.",
            ),
            (
                show.plain(other),
                display.share(change.after),
                "Accuracy on the shared instances, ties counted as wrong.",
            ),
            ("Lost", f"{change.lost:,}", "Right in the first run, not in the second."),
            ("Gained", f"{change.gained:,}", "Right in the second run, not in the first."),
            ("McNemar p", display.p_value(change.p), "Exact two-sided test on the instances that changed sides."),
        ]
    )
    differing = queries.differing_texts(resources.store(), first, second)
    remarks = [f"{change.n:,} shared instances"]
    remarks += [f"{change.left_out:,} without a verdict left out"] if change.left_out else []
    remarks += [f"{differing:,} left out because their text differs between the runs"] if differing else []
    show.note("; ".join(remarks) + ".")
    undecided.tell([first, second])
    groups = _groups(items)
    if len(groups) > 1:
        st.subheader("Group by group", anchor=False)
        show.chart(groups_of_two_runs(groups, name, other), key="two_groups", alt="Accuracy of each group in both runs")
    known = items[items["margin_a"].notna() & items["margin_b"].notna() & (items["outcome"] != "no verdict")]
    if len(known):
        st.subheader("Item by item", anchor=False)
        show.chart(margins_of_two_runs(known, name, other), key="two_margins", alt="Margins of both runs")
    changed = items[items["outcome"].isin(["only the first", "only the second"])]
    changed = changed.assign(
        look=[layout.address_of("Instance", **about, instance=name) for name in changed["instance_id"]]
    )
    st.subheader("Instances that changed sides", anchor=False)
    show.table(
        changed,
        f"changed {first} {second}",
        columns={
            "outcome": "Right in",
            "margin_a": nats_column("First margin (nats)"),
            "margin_b": nats_column("Second margin (nats)"),
            "grp": group_column("Group"),
            "look": link_column("Tokens"),
            "instance_id": id_column("Instance", width="medium"),
        },
        height=320,
    )


def _groups(items: pd.DataFrame) -> pd.DataFrame:
    return (
        items.dropna(subset=["correct_a", "correct_b"])
        .groupby("grp", sort=False)
        .agg(value_a=("correct_a", "mean"), value_b=("correct_b", "mean"), n=("correct_a", "size"))
        .reset_index()
    )


def _name(row: pd.Series) -> str:
    model, benchmark = layout.model_title(str(row["model"])), layout.benchmark_title(str(row["benchmark"]))
    name = f"{model} · {benchmark} · {row['done']:,} instances · {display.short_id(row['run_id'])}"
    return " · ".join(filter(None, [imported.label(str(row["spec"])), name]))


def _short_names(runs: pd.DataFrame, first: str, second: str) -> tuple[str, str]:
    by_id = runs.set_index("run_id")
    model = {
        name: imported.named(layout.model_title(str(by_id.loc[name, "model"])), str(by_id.loc[name, "spec"]))
        for name in (first, second)
    }
    if model[first] != model[second]:
        return model[first], model[second]
    return f"{model[first]} ({first[-6:]})", f"{model[second]} ({second[-6:]})"
