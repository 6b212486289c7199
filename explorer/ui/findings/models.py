"""Two models on the same instances: which is better, where, and is that more than chance?"""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from explorer import display
from explorer.figures.comparison import groups_of_two_runs
from explorer.results import queries, queries_findings
from explorer.results.measures import SCORED
from explorer.stats.estimate import FEWEST, Estimate
from explorer.stats.paired_groups import OVERALL, compare_groups
from explorer.stats.proportion import wilson
from explorer.ui import (
    bos_note,
    item_families,
    layout,
    links,
    method_note,
    resources,
    run_names,
    show,
    undecided_verdicts,
)
from explorer.ui.columns import (
    count_column,
    group_column,
    nats_column,
    number_column,
    p_column,
    points_column,
    share_column,
)
from explorer.ui.layout import Chosen

BY = {"group": "grp", "phenomenon": "phenomenon"}
ROW = 35
FIGURE = {f"{run}{end}": f"{name}_{letter}" for run, letter in (("first", "a"), ("second", "b"))
          for end, name in (("", "value"), ("_low", "low"), ("_high", "high"))}  # fmt: skip
CERTAIN = 0.05


def draw_findings_models(chosen: Chosen) -> None:
    """The pickers of two runs, the paired tests overall and group by group."""
    runs = _runs(chosen)
    if len(runs) < 2:
        show.nothing_yet(
            "Two runs on this benchmark are needed",
            "Run a second model, or the same one under other settings; the same instances are then compared in pairs.",
            f"python -m explorer run accuracy --model smollm2-135m-instruct --benchmark {chosen.benchmark}",
        )
        return
    first, second = _pick(runs, chosen)
    short = run_names.short_names(runs.set_index("run_id", drop=False).loc[[first, second]])
    names = (short[first], short[second])
    items = resources.ask_store(queries.two_runs, first, second)
    if items.empty:
        show.nothing_yet("Nothing in common", "These two runs looked at different instances. Choose two others.")
        return
    show.about("findings", " and ".join(names), chosen.benchmark, len(items))
    items = _with_phenomena(items, first)
    units = method_note.units_of([first, second])
    apart = method_note.units_in_words(units, short)
    if apart:
        items = items.assign(margin_a=math.nan, margin_b=math.nan)
    kinds = [by for by, column in BY.items() if items[column].replace("", None).nunique() > 1] or ["group"]
    by = links.pick(st.segmented_control, "By", "by", kinds, default=kinds[0], required=True)
    rows = comparisons(items[["correct_a", "correct_b", "margin_a", "margin_b", BY[by]]], BY[by])
    known = items.dropna(subset=["correct_a", "correct_b"])
    families = item_families.find(known, chosen.benchmark)
    over = None if families is None else item_families.difference(known["correct_a"], known["correct_b"], families)
    show.says(in_words(rows.iloc[0], names, over))
    differing = queries.differing_texts(resources.store(), first, second)
    if differing:
        st.warning(f"Left out, since the text differs between the runs: {display.counted(differing, 'instance')}.")
    groups = rows.iloc[1:]
    if len(groups) > 1:
        show.chart(
            groups_of_two_runs(groups.rename(columns=FIGURE), *names),
            key="two_models",
            alt=f"Accuracy of both models, {by} by {by}",
        )
    undecided_verdicts.draw_undecided_note([first, second])
    bos_note.draw_policy_note([first, second], dict(zip((first, second), names, strict=True)))
    method_note.draw_settings_note(runs[runs["run_id"].isin([first, second])], short)
    if apart:
        show.note(apart)
    _overall(rows.iloc[0], names, units[first])
    show.note(
        f"McNemar's exact test on the instances that changed sides, ties counted as wrong; margins in {units[first]}, "
        f"{names[1]} less {names[0]}, mean difference with its bootstrap interval and Wilcoxon's signed-rank test. "
        f"p-values of the {len(groups)} rows are adjusted by Holm; the row of all instances is a test of its own. "
        "Margins of two models compare only where both have the same units: log-probabilities of the same texts."
    )
    _table(rows, names, first, second, by, units[first])


def in_words(row: pd.Series, names: tuple[str, str], over: Estimate | None = None) -> str:
    """Which of the two is right more often on the shared instances, or that there is no evidence of it.

    `over` is the difference with its interval over groups whose items share material, where they do.
    """
    # The better one first, so that its numbers stand beside its name.
    sides = [(names[0], row["first"], row["lost"]), (names[1], row["second"], row["gained"])]
    (better, share, alone), (other, of_other, other_alone) = sides if row["first"] >= row["second"] else sides[::-1]
    numbers = (
        f"{display.share(share)} against {display.share(of_other)} of {row['n']:,} shared instances; {alone:,} are "
        f"right with {better} only, {other_alone:,} with {other} only, McNemar's {display.p_in_words(row['p'])}"
    )
    if not row["p"] < CERTAIN:
        return f"No evidence that {better} and {other} differ in accuracy ({numbers})."
    if over is not None and not (over.low > 0 or over.high < 0):
        return (
            f"On these items {better} is right more often than {other} ({numbers}). There is no evidence that it would "
            f"be on others: over groups whose items share material the difference is {_points(over)}."
        )
    return f"{better} is right more often than {other} ({numbers})."


def _points(over: Estimate) -> str:
    if math.isnan(over.low):
        return f"{display.points(over.value)} points, without an interval since they are few"
    return f"{display.points(over.low)} to {display.points(over.high)} points"


@st.cache_data(max_entries=16, show_spinner="Comparing", hash_funcs={pd.DataFrame: resources.every_row})
def comparisons(items: pd.DataFrame, by: str) -> pd.DataFrame:
    """A row for all instances and one a group: accuracies, changes of sides, margin difference, raw and adjusted p."""
    compared = compare_groups(
        items["correct_a"], items["correct_b"], items["margin_a"], items["margin_b"], items[by].astype(str)
    )
    return pd.DataFrame(
        [
            {
                "grp": comparison.group or "none",
                "n": comparison.outcomes.n,
                "first": comparison.outcomes.before,
                **_ends("first", comparison.outcomes.before, comparison.outcomes.n),
                "second": comparison.outcomes.after,
                **_ends("second", comparison.outcomes.after, comparison.outcomes.n),
                "difference": comparison.outcomes.value,
                "lost": comparison.outcomes.lost,
                "gained": comparison.outcomes.gained,
                "p": display.above_zero(comparison.outcomes.p),
                "adjusted_p": display.above_zero(comparison.outcome_p),
                "margin": comparison.margins.value,
                "margin_low": comparison.margins.low,
                "margin_high": comparison.margins.high,
                "margin_p": display.above_zero(comparison.raw_margin_p),
                "margin_adjusted_p": display.above_zero(comparison.margin_p),
                "left_out": comparison.outcomes.left_out,
            }
            for comparison in compared
        ]
    )


def _ends(of: str, share: float, n: int) -> dict[str, float]:
    """The ends of a share's Wilson interval; none of fewer items than an interval needs."""
    low, high = wilson(share * n, n, 0.95) if n >= FEWEST else (math.nan, math.nan)
    return {f"{of}_low": low, f"{of}_high": high}


def _runs(chosen: Chosen) -> pd.DataFrame:
    """The runs that judge instances as they stand, the chosen model first, then one a model and study."""
    runs = resources.ask_store(queries_findings.runs, chosen.benchmark)
    runs = runs[runs["study"].isin(SCORED[:2])]
    runs = runs.assign(own=runs["model"] == chosen.model, place=runs["study"].map(SCORED.index))
    return runs.sort_values(["own", "place"], ascending=[False, True], kind="stable").reset_index(drop=True)


def _pick(runs: pd.DataFrame, chosen: Chosen) -> tuple[str, str]:
    names = run_names.names(runs)
    left, right = st.columns(2)
    with left:
        first = links.pick(st.selectbox, "First", "first", list(names), always=True, format_func=names.__getitem__)
    model = runs.set_index("run_id")["model"]
    # Another model is the likelier wish than another run of the same one.
    others = sorted((run_id for run_id in names if run_id != first), key=lambda run_id: model[run_id] == model[first])
    with right:
        second = links.pick(st.selectbox, "Second", "second", others, always=True, format_func=names.__getitem__)
    return first, second


def _with_phenomena(items: pd.DataFrame, run_id: str) -> pd.DataFrame:
    run_phenomena = resources.ask_store(queries_findings.phenomena, run_id)
    phenomena = dict(zip(run_phenomena["instance_id"], run_phenomena["phenomenon"], strict=True))
    return items.assign(phenomenon=[str(phenomena.get(name) or "") for name in items["instance_id"]])


def _overall(row: pd.Series, names: tuple[str, str], unit: str) -> None:
    show.numbers(
        [
            (show.plain(names[0]), display.share(row["first"]), "Accuracy on the shared instances, ties as wrong."),
            (show.plain(names[1]), display.share(row["second"]), "Accuracy on the shared instances, ties as wrong."),
            ("Lost / gained", f"{row['lost']:,} / {row['gained']:,}", "Right in the first only / in the second only."),
            ("McNemar p", display.p_value(row["p"]), "Exact, two-sided, on the instances that changed sides."),
            (
                "Margin difference",
                display.MISSING
                if math.isnan(row["margin"])
                else f"{display.number(row['margin'], signed=True)} {unit}",
                f"{display.number(row['margin_low'])} to {display.number(row['margin_high'])} {unit}, "
                f"Wilcoxon {display.p_in_words(row['margin_p'])}."
                if not math.isnan(row["margin"])
                else "None: the margins are in different units, or were not stored.",
            ),
        ]
    )
    out = f"; {row['left_out']:,} without a verdict left out" if row["left_out"] else ""
    show.note(f"{row['n']:,} shared instances{out}.")


def _table(rows: pd.DataFrame, names: tuple[str, str], first: str, second: str, by: str, unit: str) -> None:
    named = rows.assign(grp=rows["grp"].replace(OVERALL, "all instances"))
    show.folded_table(
        named,
        f"two models by {by}",
        columns={
            "grp": group_column(by.capitalize(), width=190),
            "n": count_column("n", "instances", width=58),
            "first": share_column("First", names[0], width=66),
            "second": share_column("Second", names[1], width=68),
            "difference": points_column("Points", "second less first", width=62),
            "lost": count_column("Lost", "right in the first only", width=52),
            "gained": count_column("Gained", "right in the second only", width=64),
            "adjusted_p": p_column("p (Holm)", "McNemar, adjusted over the groups", width=74),
            "margin": nats_column("Margin", f"mean difference in {unit}, second less first", signed=True, width=66),
            "margin_low": number_column("From", 2, "95% bootstrap interval of the margin", width=58),
            "margin_high": number_column("To", 2, width=58),
            "margin_adjusted_p": p_column("p (Holm)", "Wilcoxon, adjusted", width=74),
        },
        height=min(ROW * (len(rows) + 1) + 3, 560),
    )
    with st.container(horizontal=True):
        layout.link_to("Runs", "Item by item, and the instances that changed sides",
                      view="Compare", runs=f"{first},{second}")  # fmt: skip
