"""One measure, group by group: where is it high, and do the groups differ at all?"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from explorer import display
from explorer.figures.group_means import group_means
from explorer.results.measures import MEASURES
from explorer.stats.between_groups import GroupDifference, between_groups
from explorer.stats.bootstrap import bootstrap_mean
from explorer.stats.estimate import drawn_from_enough
from explorer.stats.proportion import proportion
from explorer.ui import instances_behind, layout, links, resources, show
from explorer.ui.columns import count_column, group_column, link_column, number_column
from explorer.ui.findings.measure_table import Gathered
from explorer.ui.layout import Chosen

BY = {"group": "grp", "phenomenon": "phenomenon", "field": "field"}
RESAMPLES = 1_000
CERTAIN = 0.05


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
        name = links.pick(st.selectbox, "Measure", "measured", names, default=names[0], format_func=gathered.title)
    kinds = [by for by, column in BY.items() if gathered.table[column].replace("", None).nunique() > 1]
    if not kinds:
        show.note("All instances are of one group.")
        kinds = ["group"]
    with right:
        by = links.pick(st.segmented_control, "By", "by", kinds, default=kinds[0], required=True)
    table = gathered.table[gathered.table[name].notna()]
    groups = means(table[[BY[by], name]].rename(columns={BY[by]: "grp", name: "value"}))
    test = between_groups(table[name], table[BY[by]])
    show.says(_in_words(groups, test, name, by))
    answer = show.chart(
        resources.drawn(group_means, groups, title=gathered.title(name), overall=float(table[name].mean())),
        key=f"group_means:{chosen.model}:{chosen.benchmark}:{name}:{by}",
        n=len(table),
        alt=f"{MEASURES[name].title} of each {by}, with its interval",
        on_select="rerun",
    )
    show.note(
        f"More means: {MEASURES[name].direction}. Intervals are over the instances of a {by}. Click a dot to see its "
        "instances."
    )
    if picked := instances_behind.picked(answer):
        rows = table[table[BY[by]].isin(picked)][["instance_id", "grp", name]]
        instances_behind.draw_instances(
            rows.sort_values(name, ascending=False), chosen, f"instances {name}",
            {name: number_column(MEASURES[name].title)}, key="group",
            title=f"{display.counted(len(rows), 'instance')} of {', '.join(map(display.words, picked))}",
            suggestion=" ".join(picked),
        )  # fmt: skip
    about = {"model": chosen.model, "benchmark": chosen.benchmark, "finding": "Two measures"}
    look = [layout.address_of("Findings", **about, group=str(group)) for group in groups["grp"]]
    columns = {
        "grp": group_column(by.capitalize(), width="medium"),
        "value": number_column("Mean"),
        "low": number_column("From", help="95% bootstrap interval over instances, from five on"),
        "high": number_column("To"),
        "sd": number_column("Sd"),
        "n": count_column("Instances"),
    }
    if by == "group":
        columns["look"] = link_column("Its instances")
    show.folded_table(
        groups.assign(look=look),
        f"groups {name}",
        columns=columns,
        height=min(38 + 35 * len(groups), 420),
    )


def _in_words(groups: pd.DataFrame, test: GroupDifference, name: str, by: str) -> str:
    """Whether the groups differ, how much of the ranks' variation lies between them, and which are at the ends."""
    if test.reason:
        return f"The {by}s cannot be compared: {test.reason}."
    low, high = groups.iloc[groups["value"].argmin()], groups.iloc[groups["value"].argmax()]
    ends = f"lowest in {display.words(str(low['grp']))}, highest in {display.words(str(high['grp']))}"
    if test.p >= CERTAIN:
        return f"No evidence that {MEASURES[name].title} differs from {by} to {by} ({display.p_in_words(test.p)})."
    return (
        f"{display.share(test.value)} of the variation of {MEASURES[name].title} (by rank) lies between {len(groups)} "
        f"{by}s ({display.p_in_words(test.p)}, Kruskal-Wallis; n = {int(groups['n'].sum()):,}): {ends}."
    )


@st.cache_data(max_entries=16, show_spinner=False, hash_funcs={pd.DataFrame: resources.every_row})
def means(table: pd.DataFrame) -> pd.DataFrame:
    """A row per group: mean, bootstrap interval (from five items on), sd, count. `table` has the columns grp, value."""
    rows = []
    for group, values in table.groupby("grp", sort=True)["value"]:
        numbers = values.to_numpy(dtype=float)
        # Of verdicts that are all alike every resample is the same; Wilson's interval has a width then, too.
        judged = bool(values.dropna().isin([0.0, 0.5, 1.0]).all())
        mean = drawn_from_enough(proportion(numbers) if judged else bootstrap_mean(numbers, resamples=RESAMPLES))
        rows.append(
            {
                "grp": str(group) or "none", "value": mean.value, "low": mean.low, "high": mean.high,
                "sd": float(values.std(ddof=1)) if len(values) > 1 else float("nan"), "n": mean.n,
            }
        )  # fmt: skip
    return pd.DataFrame(rows, columns=["grp", "value", "low", "high", "sd", "n"])
