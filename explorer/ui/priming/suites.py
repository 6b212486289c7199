"""Suite by suite: which move most, and whether the accuracy without a context foretells that after one."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from explorer import display
from explorer.studies.priming import declared
from explorer.studies.priming import queries as priming_queries
from explorer.studies.priming.published import MEAN, before_and_after, unacceptable_table
from explorer.ui import instances_behind, links, resources, show
from explorer.ui.columns import count_column, group_column, points_column, share_column
from explorer.ui.layout import Chosen
from explorer.ui.priming.behind_dots import draw_pairs
from explorer.ui.priming.figure_curves import LOOKS, name_of
from explorer.ui.priming.figure_suites import baseline_against_longest, moved_suites

ENDS = 10  # suites at each end, as in the paper's tables 1 and 2
CONDITIONS = ("matched_acceptable", "matched_unacceptable", "mismatched_acceptable", "mismatched_unacceptable")


def draw_priming_suites(chosen: Chosen, run_id: str) -> None:
    """The two figures and their table."""
    suites = resources.ask_store(priming_queries.suites, run_id)
    suites = suites[suites["delta"].notna()]
    conditions = [name for name in (*CONDITIONS, "unrelated") if name in set(suites["condition"])]
    if not conditions:
        show.nothing_yet("No suite was primed in this run", "Start one with conditions and lengths above 0.")
        return
    stereotypes = chosen.benchmark == "crows_pairs"
    condition = links.pick(
        st.segmented_control, "Contexts", "contexts", conditions, default=conditions[0], required=True,
        format_func=lambda name: name_of(name, stereotypes=stereotypes),
    )  # fmt: skip
    of_condition = suites[suites["condition"] == condition].sort_values("delta", ascending=False)
    show.says(moved_in_words(of_condition, name_of(condition, stereotypes=stereotypes)))
    answer = show.chart(
        resources.drawn(moved_suites, _ends(of_condition), _published(chosen, condition)),
        key=f"moved:{run_id}:{condition}",
        on_select="rerun",
        alt="The suites with the largest rise and the largest fall of accuracy, with the sd over lengths",
    )
    many = len(of_condition)
    if many > 2 * ENDS:
        show.note(f"The {ENDS} highest and the {ENDS} lowest of {many} suites (tables 1 and 2 of the paper).")
    show.note("Lines are the standard deviation over lengths, no interval. Click a dot to see the pairs of its suite.")
    for suite in instances_behind.picked(answer)[:1]:
        draw_pairs(run_id, [condition], chosen, group=suite)
    drawer = st.expander("Every suite", key="suites:all", on_change="rerun")
    if drawer.open:
        with drawer:
            _table(of_condition, chosen, condition, run_id)

    matched = suites[suites["condition"].isin(CONDITIONS[:2])]
    if len(matched):
        st.subheader("Before and after", anchor=False)
        show.chart(
            resources.drawn(baseline_against_longest, matched, stereotypes=stereotypes),
            key="before_after",
            alt="Each suite's accuracy without a context against that after its longest matched context",
        )
        _correlation(run_id, stereotypes)


def moved_in_words(suites: pd.DataFrame, contexts: str) -> str:
    """How many suites fall and rise, how many by more than the lines that are drawn, and which changes most."""
    if suites.empty:
        return ""
    delta = suites["delta"]
    down, up = int((delta < 0).sum()), int((delta > 0).sum())
    beyond = int((delta.abs() > suites["sd"].fillna(0)).sum())
    most = suites.iloc[delta.abs().argmax()]
    return (
        f"On average over lengths, {contexts} contexts lower accuracy in {down} of {len(suites)} suites and raise it "
        f"in {up}; in {beyond} the change is larger than its standard deviation over lengths. The suite "
        f"“{display.words(str(most['grp']))}” changes most, by {display.points(most['delta'])} points."
    )


def _ends(ordered: pd.DataFrame) -> pd.DataFrame:
    return ordered if len(ordered) <= 2 * ENDS else pd.concat([ordered.head(ENDS), ordered.tail(ENDS)])


def _published(chosen: Chosen, condition: str) -> pd.DataFrame:
    """The paper's changes, of the same model where it has it, else the mean over its six."""
    rows = []
    if chosen.benchmark == "blimp" and condition == "matched_unacceptable":
        for suite, models in unacceptable_table().items():
            figure = models.get(chosen.model, models[MEAN])
            rows.append((suite, figure.value, figure.sd))
    return pd.DataFrame(rows, columns=["grp", "delta", "sd"])


def _table(of_condition: pd.DataFrame, chosen: Chosen, condition: str, run_id: str) -> None:
    published = _published(chosen, condition).set_index("grp")["delta"]
    columns = {
        "grp": group_column("Suite"),
        "delta": points_column("Mean change", "points"),
        "sd": points_column("sd over lengths", "points"),
        "baseline": share_column("Without a context"),
        "longest": share_column("After the longest"),
        "longest_length": count_column("Tokens of the longest"),
        "n": "Items",
    }
    if len(published):
        of_condition = of_condition.assign(published=of_condition["grp"].map(published))
        columns["published"] = points_column("Published", "Sinha et al. (2023), table 2")
    show.table(of_condition, f"suites {condition} {run_id}", columns=columns)


def _correlation(run_id: str, stereotypes: bool) -> None:
    findings = resources.ask_store(priming_queries.correlations, run_id)
    sentences = []
    for _, row in findings[findings["finding"] == declared.BASELINE_AGAINST_LONGEST.name].iterrows():
        if row["condition"] in LOOKS and row["condition"].startswith("matched"):
            name = name_of(str(row["condition"]), stereotypes=stereotypes)
            value = float(row["value"])
            sentences.append(
                f"{name}: not defined ({row['reason']})"
                if math.isnan(value)
                else f"{name}: r = {display.number(value)} ({_range(row)}) over {row['n']} suites"
            )
    if sentences:
        show.note(
            f"Pearson's r of the two accuracies over suites, {'; '.join(sentences)}. Published, mean of three sets: "
            f"{_published_correlations()} (figures 10 and 11)."
        )


def _range(row: pd.Series) -> str:
    return f"{display.number(row['low'])} to {display.number(row['high'])}"


def _published_correlations() -> str:
    """What the paper prints for acceptable and unacceptable contexts, model by model."""
    pairs = zip(before_and_after(CONDITIONS[0]), before_and_after(CONDITIONS[1]), strict=True)
    return ", ".join(
        f"{display.number(first.value)} and {display.number(two.value)} for {first.model}" for first, two in pairs
    )
