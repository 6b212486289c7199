"""Any two measures of the same instances: dots to be picked, the instances behind them, and their dossiers."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from explorer import display
from explorer.figures.measure_scatter import group_scatter, measure_scatter
from explorer.results.measures import MEASURES
from explorer.stats.spearman import spearman, spearman_within
from explorer.ui import layout, links, show
from explorer.ui.columns import count_column, group_column, id_column, link_column, number_column
from explorer.ui.findings import correlations, data
from explorer.ui.findings.data import Gathered
from explorer.ui.layout import Chosen
from explorer.ui.scored_options import verdict_of

EVERY_GROUP = "All groups"
MOST = 20_000  # dots
LISTED = 500  # rows of the table while nothing is picked
DOTS = ["An instance", "A group"]
COLORS = {"nothing": "", "verdict": "verdict", "group": "grp", "phenomenon": "phenomenon"}


def draw_findings_scatter(chosen: Chosen, gathered: Gathered) -> None:
    """The pickers, the figure, and the instances that were picked in it."""
    names = gathered.measures
    if len(names) < 2:
        correlations.nothing_to_compare(chosen, gathered)
        return
    x, y, group, color = _pickers(gathered)
    dots = links.pick(st.segmented_control, "A dot is", "dot", DOTS, default=DOTS[0], required=True)
    items = _items(gathered, x, y, group)
    if items.empty:
        show.nothing_yet("No instance has both measures", "Choose two others, or all groups.")
        return
    _describe(items, group)
    if dots == DOTS[1]:
        _groups(items, x, y)
        return
    shown = correlations.sample(items, MOST).reset_index(drop=True)
    if len(shown) < len(items):
        show.note(f"{len(shown):,} of {len(items):,} instances are drawn, a fixed sample.")
    figure = measure_scatter(shown, data.title(x), data.title(y), COLORS[color])
    answer = show.chart(
        figure,
        alt=f"{MEASURES[x].title} against {MEASURES[y].title}, a dot an instance",
        key=f"scatter:{chosen.model}:{chosen.benchmark}:{x}:{y}:{group}",
        on_select="rerun",
        n=len(shown),
    )
    _picked(shown, answer, x, y, chosen)


def _pickers(gathered: Gathered) -> tuple[str, str, str, str]:
    names = gathered.measures
    first, second = _defaults(names)
    boxes = st.columns([1.4, 1.4, 1.2, 1], vertical_alignment="bottom")
    with boxes[0]:
        x = links.pick(st.selectbox, "Across", "x", names, default=first, format_func=data.title)
    with boxes[1]:
        y = links.pick(st.selectbox, "Up", "y", names, default=second, format_func=data.title)
    groups = [EVERY_GROUP, *sorted(gathered.table["grp"].dropna().unique())]
    with boxes[2]:
        group = links.pick(st.selectbox, "Group", "group", groups, default=EVERY_GROUP)
    colors = [name for name in COLORS if name != "verdict" or "correct" in names]
    with boxes[3]:
        color = links.pick(st.selectbox, "Colored by", "color", colors, default=colors[min(1, len(colors) - 1)])
    return x, y, "" if group == EVERY_GROUP else group, color


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
    shown = table[data.ABOUT].assign(x=table[x], y=table[y], verdict=verdicts.replace("none", "no verdict"))
    return shown.reset_index(drop=True)


def _describe(items: pd.DataFrame, group: str) -> None:
    """The correlation of what is drawn, pooled and within groups."""
    estimates = [("Spearman's rho", spearman(items["x"], items["y"], permutations=0, resamples=0))]
    if not group and items["grp"].nunique() > 1:
        within = spearman_within(items["x"], items["y"], items["grp"], permutations=0, resamples=0)
        estimates.append(("Within groups", within))
    show.numbers(
        [
            ("Instances", f"{len(items):,}", "Those that have both measures."),
            *(
                (
                    name,
                    display.number(one.value, 3, signed=True),
                    one.reason
                    or f"Over {one.n:,} instances" + (f" in {one.groups} groups." if one.groups > 1 else "."),
                )
                for name, one in estimates
            ),
        ]
    )
    if not group and items["grp"].nunique() > 1:
        show.note("The pooled figure mostly compares groups with each other; the one within groups does not.")


def _groups(items: pd.DataFrame, x: str, y: str) -> None:
    means = items.groupby("grp", sort=False).agg(x=("x", "mean"), y=("y", "mean"), n=("x", "size")).reset_index()
    show.chart(
        group_scatter(means, data.title(x), data.title(y)),
        key="group_scatter",
        n=len(items),
        alt=f"Group means of {MEASURES[x].title} against those of {MEASURES[y].title}",
    )
    show.table(
        means,
        f"group means {x} {y}",
        columns={
            "grp": group_column("Group"),
            "x": number_column(data.title(x)),
            "y": number_column(data.title(y)),
            "n": count_column("Instances"),
        },
    )


def _picked(shown: pd.DataFrame, answer: Any, x: str, y: str, chosen: Chosen) -> None:
    rows = rows_of(answer)
    kept = shown.loc[[row for row in rows if row in shown.index]] if rows else shown.head(LISTED)
    st.subheader(f"{len(kept):,} picked instances" if rows else "Instances", anchor=False)
    if not rows:
        more = f"; the first {LISTED} are listed" if len(shown) > LISTED else ""
        show.note(f"Draw a box around dots to list only these{more}.")
    about = {"model": chosen.model, "benchmark": chosen.benchmark}
    kept = kept.assign(look=[layout.address_of("Instance", **about, instance=name) for name in kept["instance_id"]])
    columns = {
        "x": number_column(MEASURES[x].title),
        "y": number_column(MEASURES[y].title),
        "verdict": "Verdict",
        "grp": group_column("Group"),
        "look": link_column("Dossier", "open"),
        "instance_id": id_column("Instance", width="medium"),
    }
    if (kept["verdict"] == "").all():
        columns.pop("verdict")
    show.table(kept, f"instances {x} {y}", columns=columns, height=min(38 + 35 * max(1, len(kept)), 420))


def rows_of(answer: Any) -> list[int]:
    """The rows of the figure's table whose dots were picked, each once."""
    points = answer["selection"]["points"] if answer else []
    return list(dict.fromkeys(int(point["customdata"][0]) for point in points if point.get("customdata")))
