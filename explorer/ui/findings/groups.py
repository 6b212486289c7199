"""One measure, group by group: where is it high, and do the groups differ at all?"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from explorer import display
from explorer.figures.group_means import group_means
from explorer.results.measures import MEASURES
from explorer.stats.between_groups import between_groups
from explorer.stats.bootstrap import bootstrap_mean
from explorer.ui import layout, links, show
from explorer.ui.columns import count_column, group_column, link_column, number_column
from explorer.ui.findings import data
from explorer.ui.findings.data import Gathered
from explorer.ui.layout import Chosen

BY = {"group": "grp", "phenomenon": "phenomenon", "field": "field"}
RESAMPLES = 1_000


def draw_findings_groups(chosen: Chosen, gathered: Gathered) -> None:
    """The pickers of measure and grouping, the test, the figure and its table."""
    names = gathered.measures
    if not names:
        show.nothing_yet(
            "Nothing is stored yet",
            "A run of any study on this benchmark with this model gives its instances measures to compare.",
            f"python -m explorer run accuracy --model {chosen.model} --benchmark {chosen.benchmark}",
        )
        return
    left, right = st.columns([2, 1], vertical_alignment="bottom")
    with left:
        name = links.pick(st.selectbox, "Measure", "measured", names, default=names[0], format_func=data.title)
    kinds = [by for by, column in BY.items() if gathered.table[column].replace("", None).nunique() > 1]
    if not kinds:
        show.note("All instances are of one group.")
        kinds = ["group"]
    with right:
        by = links.pick(st.segmented_control, "By", "by", kinds, default=kinds[0], required=True)
    table = gathered.table[gathered.table[name].notna()]
    groups = means(table[[BY[by], name]].rename(columns={BY[by]: "grp", name: "value"}))
    test = between_groups(table[name], table[BY[by]])
    show.numbers(
        [
            ("Instances", f"{len(table):,}", "Those that have the measure."),
            ("Groups", f"{len(groups):,}", "Groups with at least one of them."),
            (
                "Between groups",
                display.share(test.value),
                test.reason or "Share of the variation of ranks that lies between groups (epsilon squared).",
            ),
            (
                "Kruskal-Wallis p",
                display.p_value(test.p),
                test.reason or f"H = {test.statistic:.1f}: do the groups differ beyond chance?",
            ),
        ]
    )
    show.note(f"More means: {MEASURES[name].direction}.")
    show.chart(
        group_means(groups, title=data.title(name), overall=float(table[name].mean())),
        key="group_means",
        n=len(table),
        alt=f"{MEASURES[name].title} of each {by}, with its interval",
    )
    about = {"model": chosen.model, "benchmark": chosen.benchmark, "finding": "Two measures"}
    look = [layout.address_of("Findings", **about, group=str(group)) for group in groups["grp"]]
    columns = {
        "grp": group_column(by.capitalize(), width="medium"),
        "value": number_column("Mean"),
        "low": number_column("From", help="95% bootstrap interval over instances"),
        "high": number_column("To"),
        "sd": number_column("Sd"),
        "n": count_column("Instances"),
    }
    if by == "group":
        columns["look"] = link_column("Its instances")
    show.table(
        groups.assign(look=look),
        f"groups {name}",
        columns=columns,
        height=min(38 + 35 * len(groups), 420),
    )


@st.cache_data(max_entries=16, show_spinner=False)
def means(table: pd.DataFrame) -> pd.DataFrame:
    """A row a group: mean with its bootstrap interval, sd and count. `table` has the columns grp, value."""
    rows = []
    for group, values in table.groupby("grp", sort=True)["value"]:
        mean = bootstrap_mean(values.to_numpy(dtype=float), resamples=RESAMPLES)
        rows.append(
            {
                "grp": str(group) or "none", "value": mean.value, "low": mean.low, "high": mean.high,
                "sd": float(values.std(ddof=1)) if len(values) > 1 else float("nan"), "n": mean.n,
            }
        )  # fmt: skip
    return pd.DataFrame(rows, columns=["grp", "value", "low", "high", "sd", "n"])
