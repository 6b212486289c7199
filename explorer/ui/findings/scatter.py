"""Any two measures of the same instances: dots to be picked, the instances behind them, and their dossiers."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from explorer import display
from explorer.figures.measure_scatter import group_scatter, measure_scatter
from explorer.results.measures import MEASURES
from explorer.runs.slices import Slice
from explorer.stats.spearman import RankCorrelation, spearman, spearman_within
from explorer.studies.declared import shared_number
from explorer.ui import instances_behind, links, show, slices, texts
from explorer.ui.columns import count_column, group_column, number_column
from explorer.ui.findings import correlations, measure_table
from explorer.ui.findings.measure_table import Gathered
from explorer.ui.layout import Chosen
from explorer.ui.scored_options import verdict_of

EVERY_GROUP = "All groups"
MOST = 20_000  # dots
RESAMPLES = 500
ALIKE = 0.05  # two rho that differ by less are not told apart
DOTS = ["An instance", "A group"]
COLORS = {"nothing": "", "verdict": "verdict", "group": "grp", "phenomenon": "phenomenon"}


def draw_findings_scatter(chosen: Chosen, gathered: Gathered) -> None:
    """The pickers, the figure, and the instances that were picked in it."""
    names = gathered.measures
    if len(names) < 2:
        correlations.nothing_to_compare(chosen, gathered)
        return
    x, y, group, color, dots, slice_picked = _pickers(gathered, chosen)
    items = slices.rows_of_slice(_items(gathered, x, y, group), slice_picked).reset_index(drop=True)
    if items.empty:
        show.nothing_yet("No instance has both measures", "Choose two others, or all groups.")
        return
    show.says(_in_words(items, group, x, y))
    if shared := shared_number(x, y):
        show.note(f"Both are computed from {shared}: they go together by the way they are made.")
    if dots == DOTS[1]:
        _groups(items, x, y, gathered)
        return
    shown = correlations.sample(items, MOST).reset_index(drop=True)
    if len(shown) < len(items):
        show.note(f"{len(shown):,} of {len(items):,} instances are drawn, a fixed sample.")
    known = texts.sentences(chosen.benchmark, list(shown["instance_id"]))
    shown = shown.assign(text=shown["instance_id"].map(known).fillna(""))
    figure = measure_scatter(shown, gathered.title(x), gathered.title(y), COLORS[color])
    answer = show.chart(
        figure,
        alt=f"{MEASURES[x].title} against {MEASURES[y].title}, one dot per instance",
        key=f"scatter:{chosen.model}:{chosen.benchmark}:{x}:{y}:{group}",
        on_select="rerun",
        n=len(shown),
    )
    _picked(shown, answer, x, y, chosen)


def _pickers(gathered: Gathered, chosen: Chosen) -> tuple[str, str, str, str, str, Slice | None]:
    names = gathered.measures
    first, second = _defaults(names)
    left, right = st.columns(2, vertical_alignment="bottom")
    with left:
        x = links.pick(st.selectbox, "Across", "x", names, default=first, format_func=gathered.title)
    with right:
        y = links.pick(st.selectbox, "Up", "y", names, default=second, format_func=gathered.title)
    with show.options("scatter:options"):
        groups = [EVERY_GROUP, *sorted(gathered.table["grp"].dropna().unique())]
        group = links.pick(st.selectbox, "Group", "group", groups, default=EVERY_GROUP, format_func=display.words)
        colors = [name for name in COLORS if name != "verdict" or "correct" in names]
        color = links.pick(st.selectbox, "Colored by", "color", colors, default=colors[min(1, len(colors) - 1)])
        dots = links.pick(st.segmented_control, "A dot is", "dot", DOTS, default=DOTS[0], required=True)
        slice_picked = slices.pick(chosen.benchmark)
    return x, y, "" if group == EVERY_GROUP else group, color, dots, slice_picked


def _defaults(names: list[str]) -> tuple[str, str]:
    """Popularity across and the margin up, where both are there."""
    across = [name for name in ("relative_difference", "ips", "web_count") if name in names]
    up = [name for name in ("margin", "gold_logprob", "correct") if name in names]
    first = across[0] if across else names[0]
    second = next((name for name in (*up, *names) if name != first), names[-1])
    return first, second


def _items(gathered: Gathered, x: str, y: str, group: str) -> pd.DataFrame:
    table = gathered.table
    table = table[table[x].notna() & table[y].notna() & (table["grp"].eq(group) if group else True)]
    verdicts = table["correct"].map(verdict_of) if "correct" in table else pd.Series("", index=table.index)
    shown = table[measure_table.ABOUT].assign(x=table[x], y=table[y], verdict=verdicts.replace("none", "no verdict"))
    return shown.reset_index(drop=True)


def _in_words(items: pd.DataFrame, group: str, x: str, y: str) -> str:
    """How far the two go together over what is drawn: within groups where there are several, then pooled."""
    pooled = spearman(items["x"], items["y"], permutations=0, resamples=RESAMPLES)
    pair = f"“{MEASURES[x].title}” and “{MEASURES[y].title}”"
    if group or items["grp"].nunique() < 2:
        return _correlation_in_words(pair, pooled, f"over {pooled.n:,} instances")
    within = spearman_within(items["x"], items["y"], items["grp"], permutations=0, resamples=RESAMPLES)
    if within.value != within.value:
        return _correlation_in_words(pair, pooled, f"pooled over {pooled.n:,} instances")
    apart = abs(pooled.value - within.value) > ALIKE
    rest = f" Pooled it is {display.number(pooled.value)}" + (", which also compares groups." if apart else ".")
    return _correlation_in_words(pair, within, f"within {within.groups} groups, {within.n:,} instances") + rest


def _correlation_in_words(pair: str, rho: RankCorrelation, over: str) -> str:
    if rho.value != rho.value:
        return f"{pair}: no correlation ({rho.reason})."
    numbers = f"rho {display.number(rho.value)}, 95% interval {display.number(rho.low)} to {display.number(rho.high)}"
    if rho.low != rho.low:
        return f"{pair}: rho {display.number(rho.value)} {over}, {rho.reason}."
    if rho.low <= 0 <= rho.high:
        return f"No evidence that {pair} go together ({numbers}, {over})."
    return f"{pair} {'go together' if rho.value > 0 else 'go in opposite directions'} ({numbers}, {over})."


def _groups(items: pd.DataFrame, x: str, y: str, gathered: Gathered) -> None:
    means = items.groupby("grp", sort=False).agg(x=("x", "mean"), y=("y", "mean"), n=("x", "size")).reset_index()
    show.chart(
        group_scatter(means, gathered.title(x), gathered.title(y)),
        key="group_scatter",
        n=len(items),
        alt=f"Group means of {MEASURES[x].title} against those of {MEASURES[y].title}",
    )
    show.folded_table(
        means,
        f"group means {x} {y}",
        columns={
            "grp": group_column("Group"),
            "x": number_column(gathered.title(x)),
            "y": number_column(gathered.title(y)),
            "n": count_column("Instances"),
        },
    )


def _picked(shown: pd.DataFrame, answer: Any, x: str, y: str, chosen: Chosen) -> None:
    rows = rows_of(answer)
    picked_rows = shown.loc[[row for row in rows if row in shown.index]] if rows else shown
    if not rows:
        show.note("Click a dot, or draw a box around some, to list only these.")
    columns: dict[str, Any] = {
        "verdict": "Verdict",
        "x": number_column(MEASURES[x].title),
        "y": number_column(MEASURES[y].title),
    }
    if (picked_rows["verdict"] == "").all():
        columns.pop("verdict")
    instances_behind.draw_instances(
        picked_rows.drop(columns=["text"]), chosen, f"instances {x} {y}", columns, key="scatter",
        title=f"{len(picked_rows):,} picked instances" if rows else "Instances", suggestion=f"{x} and {y}",
    )  # fmt: skip


def rows_of(answer: Any) -> list[int]:
    """The rows of the figure's table whose dots were picked, each once."""
    points = answer["selection"]["points"] if answer else []
    return list(dict.fromkeys(int(point["customdata"][0]) for point in points if point.get("customdata")))
