"""One in-context run over k: memorization in each setting, performance beside it, and what the paper prints."""

from __future__ import annotations

import json
import math
from typing import Any

import pandas as pd
import streamlit as st

from explorer import display
from explorer.finding import Finding
from explorer.studies.icl import declared
from explorer.studies.icl import published as icl_published
from explorer.studies.icl import queries as icl_queries
from explorer.ui import conclusions, instances_behind, links, resources, show, slices
from explorer.ui.columns import (
    check_column,
    count_column,
    id_column,
    number_column,
    p_column,
    points_column,
    saying_something,
    share_column,
    text_column,
)
from explorer.ui.icl import baselines, review, run
from explorer.ui.icl.figure_curves import replication_curves
from explorer.ui.icl.figure_follow import gaps_over_k, memorization_against_performance
from explorer.ui.layout import Chosen

CERTAIN = 0.05
FEWEST = 5  # items on either side of a comparison that is drawn
GROUPS = {"replication": "completions", "labels": "labels scored"}


def draw_icl_results(run_id: str, chosen: Chosen) -> None:
    """Curves, correlations, memorized against other items, transitions, and what could not be asked."""
    shares = _over_k(run_id, declared.REPLICATION, declared.REPLICATION_EXACT)
    sources = [name for name in run.SOURCES if name in set(shares["condition"])]
    if not sources:
        show.note("This run has judged no completion.")
        return
    source = sources[0]
    if len(sources) > 2:  # final and rule alone say the same
        source = links.pick(
            st.segmented_control, "Verdicts by", "verdicts", sources, default=sources[0], required=True,
            format_func=run.SOURCES.get,
        )  # fmt: skip
    of_source = shares[shares["condition"] == source]
    accuracy, kind = _accuracy(run_id)
    table = review.completions(run_id) if review.keeps_completions(run_id) else None
    show.says(*conclusions.of_run(run_id), baselines.in_words(table, source) if table is not None else "")
    answer = show.chart(
        resources.drawn(replication_curves, of_source, run.SETTINGS, accuracy),
        key=f"icl_over_k:{run_id}:{source}",
        alt="Share of test items that the model completes as in the data set, and accuracy of labels, over the number "
        "of demonstrations",
        on_select="rerun",
    )
    show.note(
        "Bars are 95% intervals; of the accuracy, the range over the orders of the demonstrations. An exact completion "
        "equals the original; a near-exact one differs in no name or number and in few words."
        + (" Click a dot to see its completions." if table is not None else "")
    )
    if table is not None:
        _behind(table, instances_behind.picked(answer), chosen)
    _numbers(of_source, accuracy, kind)
    _skipped(run_id)
    _correlations(run_id, source, chosen.benchmark, of_source, accuracy)
    _memorized(run_id, source)
    _transitions(run_id, source)
    _labels(run_id, source)
    _agreement(run_id)
    _tokens(run_id)


def _behind(table: pd.DataFrame, picked: list[str], chosen: Chosen) -> None:
    """The completions of the dots that were clicked ("setting|k")."""
    if not picked:
        return
    rows = baselines.with_baselines(
        table[[f"{row['setting']}|{row['k']}" in picked for row in table.to_dict("records")]]
    )
    if rows.empty:
        return
    settings = " and ".join(dict.fromkeys(rows["setting"].map(run.SETTINGS)))
    ks = ", ".join(map(str, sorted(set(rows["k"]))))
    st.subheader(f"{display.counted(len(rows), 'completion')}, {settings}, k = {ks}", anchor=False)
    show.table(
        rows,
        "completions behind a dot",
        columns={
            "first": text_column("First piece, given", width="medium"),
            "reference": text_column("Original rest", width="medium"),
            "completion": text_column("Completion", width="medium"),
            "final": "Counts as",
            "copies": check_column("Repeats", "repeats the first piece, which is in the prompt"),
            "short": check_column("Short", "fewer than four words"),
            "instance_id": id_column("ID"),
        },
        height=420,
    )
    slices.offer(list(rows["instance_id"]), chosen.benchmark, f"completions k {ks}", "icl")


def _over_k(run_id: str, *findings: Finding, group: str = "overall") -> pd.DataFrame:
    frames = [
        resources.ask_store(icl_queries.findings, run_id, finding.name, group).assign(finding=finding.name)
        for finding in findings
    ]
    return pd.concat(frames, ignore_index=True)


def _accuracy(run_id: str) -> tuple[pd.DataFrame, str]:
    """Mean accuracy of labels over k, and how labels were asked for."""
    for finding, kind in ((declared.LABEL_ACCURACY, "scored"), (declared.LABEL_ACCURACY_WRITTEN, "written")):
        accuracy = resources.ask_store(icl_queries.findings, run_id, finding.name)
        accuracy = accuracy[accuracy["part"].isna()]
        if len(accuracy):
            return accuracy, kind
    return pd.DataFrame(columns=["k", "value", "low", "high", "n"]), ""


def _numbers(shares: pd.DataFrame, accuracy: pd.DataFrame, kind: str) -> None:
    both = shares[(shares["finding"] == declared.REPLICATION.name) & shares["value"].notna()]
    cells = []
    if len(both):
        best = both.sort_values("value", ascending=False, kind="stable").iloc[0]
        meaning = f"{run.SETTINGS[best['setting']]}, {best['k']:.0f} demonstrations, {best['n']:,.0f} items"
        cells.append((f"Most memorized, k = {best['k']:.0f}", display.share(best["value"]), meaning))
        exact = shares[
            (shares["finding"] == declared.REPLICATION_EXACT.name)
            & (shares["setting"] == best["setting"])
            & (shares["k"] == best["k"])
        ]
        if len(exact):
            cells.append((f"Word for word, k = {best['k']:.0f}", display.share(float(exact["value"].iloc[0])), meaning))
    known = accuracy[accuracy["value"].notna()]
    if len(known):
        ordered = known.sort_values("k")
        for name, row in (("fewest", ordered.iloc[0]), ("most", ordered.iloc[-1])):
            meaning = f"Labels {kind} after {row['k']:.0f} demonstrations; mean over {row['n']:.0f} orders"
            cells.append((f"Accuracy, k = {row['k']:.0f}", display.share(row["value"]), f"{meaning} ({name} here)"))
    if cells:
        show.numbers(cells)


def _skipped(run_id: str) -> None:
    skipped = resources.ask_store(icl_queries.findings, run_id, declared.SKIPPED_K.name, "")
    if skipped.empty:
        return

    def draw() -> None:
        show.table(
            skipped.assign(
                part=[GROUPS.get(name, name) for name in skipped["grp"]],
                setting=skipped["setting"].map(run.SETTINGS).fillna(""),
            ),
            f"skipped k {run_id}",
            columns={"part": "Of", "setting": "Setting", "k": "k", "value": "Largest that fits", "reason": "Why"},
        )

    show.folded(f"{len(skipped)} numbers of demonstrations were not asked", f"skipped:{run_id}", draw)


def _correlations(run_id: str, source: str, benchmark: str, shares: pd.DataFrame, accuracy: pd.DataFrame) -> None:
    st.subheader("Does performance follow memorization?", anchor=False)
    memorized = shares[shares["finding"] == declared.REPLICATION.name][["setting", "k", "value"]]
    points = memorized.rename(columns={"value": "memorized"}).merge(
        accuracy[["k", "value"]].rename(columns={"value": "accuracy"}), on="k"
    )
    correlations = _pearson_rows(run_id, source, benchmark)
    known = points.dropna()
    if len(known):
        show.says(correlations_in_words(correlations))
        show.chart(
            resources.drawn(memorization_against_performance, known, run.SETTINGS, _panel_titles(correlations)),
            key="icl_against",
            alt="Share memorized against accuracy of labels, a dot for each number of demonstrations",
        )
    else:
        show.note("No performance was measured in this run.")
    show.folded_table(
        correlations,
        f"pearson {run_id}",
        title="Correlations over k, and the paper's",
        remark="r is given from four values of k on, and where both series vary. The paper's model is another.",
        columns=saying_something(
            correlations,
            {
                "name": "Setting",
                "kind": "Memorized",
                "value": number_column("r", 2, "Pearson's r over k."),
                "p": p_column(help="Exact permutation test."),
                "n": count_column("n", "values of k"),
                "paper": number_column(
                    "Paper", 2, f"{icl_published.SOURCE}, Tables 2 and 3, for {icl_published.model()}"
                ),
                "reason": "Why not",
            },
            keep=("value",),
        ),
    )


def correlations_in_words(rows: pd.DataFrame) -> str:
    """In which settings the two go together beyond chance, and over how few values of k."""
    known = rows[rows["finding"].eq(declared.PEARSON.name) & rows["value"].notna()]
    if known.empty:
        return "Too few numbers of demonstrations, or a series that does not vary: no correlation can be given."
    clear = known[known["p"] < CERTAIN]
    n = f"over {known['n'].min():,.0f} numbers of demonstrations"
    if clear.empty:
        numbers = ", ".join(
            f"{row['name'].lower()}: r = {display.number(row['value'])}, {display.p_in_words(row['p'])}"
            for row in known.to_dict("records")
        )
        return f"No evidence that performance follows memorization {n} ({numbers})."
    best = clear.sort_values("p").iloc[0]
    return (
        f"Performance and memorization go together in {len(clear)} of {len(known)} settings {n}; most clearly with "
        f"{best['name'].lower()} (r = {display.number(best['value'])}, {display.p_in_words(best['p'])})."
    )


def _panel_titles(rows: pd.DataFrame) -> dict[str, str]:
    both = rows[rows["finding"] == declared.PEARSON.name]
    return {
        str(row["setting"]): f"{row['name']}: r = {display.number(row['value'])}, {display.p_in_words(row['p'])}"
        if row["value"] == row["value"]
        else f"{row['name']}: no r"
        for row in both.to_dict("records")
    }


def _pearson_rows(run_id: str, source: str, benchmark: str) -> pd.DataFrame:
    correlations = _over_k(run_id, declared.PEARSON, declared.PEARSON_EXACT)
    correlations = correlations[correlations["condition"] == source]
    paper = {(figure.setting, figure.metric): figure.value for figure in icl_published.figures_of(benchmark)}
    kinds = {declared.PEARSON.name: "exact + near-exact", declared.PEARSON_EXACT.name: "exact"}
    return correlations.assign(
        name=correlations["setting"].map(run.SETTINGS),
        kind=correlations["finding"].map(kinds),
        paper=[paper.get((row["setting"], row["finding"]), math.nan) for row in correlations.to_dict("records")],
    )


def _memorized(run_id: str, source: str) -> None:
    rows = resources.ask_store(icl_queries.memorized_against_others, run_id, source)
    if rows[["memorized", "other", "value"]].isna().all(axis=None):
        return
    st.subheader("Memorized items against the others", anchor=False)
    gaps = rows[rows["value"].notna()]
    few = gaps[["n_memorized", "n_other"]].min(axis=1) < FEWEST
    plotted = gaps[~few]
    show.says(_gaps_in_words(plotted))
    if len(plotted):
        show.chart(
            resources.drawn(gaps_over_k, plotted, run.SETTINGS), key="icl_gaps",
            alt="Accuracy of memorized items minus that of the others over the number of demonstrations",
        )  # fmt: skip
    if few.any():
        show.note(f"Not drawn: {int(few.sum())} with fewer than {FEWEST} items on either side.")
    show.folded_table(
        rows.assign(name=rows["setting"].map(run.SETTINGS)),
        f"memorized against other {run_id}",
        columns={
            "name": "Setting",
            "k": "k",
            "memorized": share_column("Accuracy, memorized"),
            "n_memorized": count_column("Items"),
            "other": share_column("Accuracy, other"),
            "n_other": count_column("Other items"),
            "value": points_column("Gap", "points, memorized less other"),
            "p": p_column("Fisher's p"),
        },
    )


def _gaps_in_words(gaps: pd.DataFrame) -> str:
    """How many of the gaps leave out zero."""
    if gaps.empty:
        return "There are too few memorized items, or too few others, to compare."
    clear = gaps[(gaps["low"] > 0) | (gaps["high"] < 0)]
    if clear.empty:
        return f"No evidence in any of {len(gaps)} comparisons that memorized items are labeled better or worse."
    up = int((clear["value"] > 0).sum())
    return (
        f"Memorized items are labeled better than the others in {up or 'none'} of {len(gaps)} comparisons and worse in "
        f"{len(clear) - up or 'none'}; in the rest there is no evidence of a difference."
    )


def _transitions(run_id: str, source: str) -> None:
    transitions = resources.ask_store(icl_queries.findings, run_id, declared.TRANSITION.name, "near-exact to exact")
    transitions = transitions[(transitions["condition"] == source) & transitions["value"].notna()]
    if transitions.empty:
        return
    details = [json.loads(text) if isinstance(text, str) else {} for text in transitions["detail"]]
    rows = transitions.assign(
        name=transitions["setting"].map(run.SETTINGS),
        before=[detail.get("from") for detail in details],
        counts=["; ".join(f"{way} {n}" for way, n in detail.get("counts", {}).items()) for detail in details],
    )
    show.folded_table(
        rows,
        f"transitions {run_id}",
        title="From near-exact to exact",
        remark="Of the items that were near-exact with one number of demonstrations, how many are exact with the next.",
        columns={
            "name": "Setting", "before": "From k", "k": "To k", "value": share_column("Became exact"),
            "n": count_column("Near-exact before"), "counts": "All moves",
        },
    )  # fmt: skip


def _labels(run_id: str, source: str) -> None:
    shares = resources.ask_store(icl_queries.findings, run_id, declared.REPLICATION.name, "")
    shares = shares[(shares["condition"] == source) & (shares["grp"] != "overall")]
    if shares["grp"].nunique() < 2:
        return

    def draw() -> None:
        show.table(
            shares.assign(name=shares["setting"].map(run.SETTINGS)),
            f"replication by label {run_id}",
            columns={
                "grp": "Label", "name": "Setting", "k": "k",
                "value": share_column("Exact or near-exact"), "low": share_column("from"),
                "high": share_column("to"), "n": count_column("Items"),
            },
        )  # fmt: skip

    show.folded("Label by label", f"labels:{run_id}", draw)


def _agreement(run_id: str) -> None:
    kappas = resources.ask_store(icl_queries.findings, run_id, declared.KAPPA.name, "")
    if kappas.empty:
        return
    cells = []
    for row in kappas.to_dict("records"):
        value = display.number(row["value"])
        meaning = f"Cohen's kappa over {row['n']:,} completions that both judged. {row['reason'] or ''}"
        cells.append((f"Agreement: {row['grp'].replace(', ', ' and ')}", value, meaning))
    show.numbers(cells)


def _tokens(run_id: str) -> None:
    """How much reading the shared beginnings saved."""
    prefill = resources.ask_store(icl_queries.findings, run_id, declared.PREFILL.name, "")
    if prefill.empty:
        return
    details: list[dict[str, Any]] = [json.loads(text) if isinstance(text, str) else {} for text in prefill["detail"]]
    prompt_tokens = sum(int(detail.get("prompt_tokens") or 0) for detail in details)
    read = float(prefill["value"].sum())
    if read > 0 and prompt_tokens > 0:
        show.note(
            f"The prompts have {prompt_tokens:,} tokens; {read:,.0f} were read, since what prompts share is read once "
            f"({prompt_tokens / read:.0f} times fewer)."
        )
