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
from explorer.ui import links, resources, show
from explorer.ui.columns import count_column, number_column, p_column, points_column, share_column
from explorer.ui.icl import run
from explorer.ui.icl.figure_curves import memorization_against_performance, replication_curves
from explorer.ui.layout import Chosen

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
    _numbers(of_source, accuracy, kind)
    figure = replication_curves(of_source, run.SETTINGS, accuracy)
    show.chart(
        figure,
        key="icl_over_k",
        alt="Share of test items that the model completes as in the data set, and accuracy of labels, over the number "
        "of demonstrations",
    )
    show.note(
        "Bars are 95% intervals; of the accuracy, the least and the greatest of the orders of the demonstrations. An "
        "exact completion equals the original; a near-exact one differs in no name or number and in few words."
    )
    _skipped(run_id)
    _correlations(run_id, source, chosen.benchmark, of_source, accuracy)
    _memorized(run_id, source)
    _transitions(run_id, source)
    _labels(run_id, source)
    _agreement(run_id)
    _tokens(run_id)


def _over_k(run_id: str, *findings: Finding, group: str = "overall") -> pd.DataFrame:
    frames = [resources.ask(icl_queries.findings, run_id, one.name, group).assign(finding=one.name) for one in findings]
    return pd.concat(frames, ignore_index=True)


def _accuracy(run_id: str) -> tuple[pd.DataFrame, str]:
    """Mean accuracy of labels over k, and how labels were asked for."""
    for finding, kind in ((declared.LABEL_ACCURACY, "scored"), (declared.LABEL_ACCURACY_WRITTEN, "written")):
        accuracy = resources.ask(icl_queries.findings, run_id, finding.name)
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
        cells.append(("Most memorized", display.share(best["value"]), meaning))
        exact = shares[
            (shares["finding"] == declared.REPLICATION_EXACT.name)
            & (shares["setting"] == best["setting"])
            & (shares["k"] == best["k"])
        ]
        if len(exact):
            cells.append(("of it word for word", display.share(float(exact["value"].iloc[0])), meaning))
    known = accuracy[accuracy["value"].notna()]
    if len(known):
        ordered = known.sort_values("k")
        for name, row in (("fewest", ordered.iloc[0]), ("most", ordered.iloc[-1])):
            meaning = f"Labels {kind} after {row['k']:.0f} demonstrations; mean over {row['n']:.0f} orders"
            cells.append((f"Accuracy, k = {row['k']:.0f}", display.share(row["value"]), f"{meaning} ({name} here)"))
    if cells:
        show.numbers(cells)


def _skipped(run_id: str) -> None:
    skipped = resources.ask(icl_queries.findings, run_id, declared.SKIPPED_K.name, "")
    if skipped.empty:
        return
    with st.expander(f"{len(skipped)} numbers of demonstrations were not asked"):
        show.table(
            skipped.assign(
                part=[GROUPS.get(name, name) for name in skipped["grp"]],
                setting=skipped["setting"].map(run.SETTINGS).fillna(""),
            ),
            f"skipped k {run_id}",
            columns={"part": "Of", "setting": "Setting", "k": "k", "value": "Largest that fits", "reason": "Why"},
        )


def _correlations(run_id: str, source: str, benchmark: str, shares: pd.DataFrame, accuracy: pd.DataFrame) -> None:
    st.subheader("Does performance follow memorization?", anchor=False)
    memorized = shares[shares["finding"] == declared.REPLICATION.name][["setting", "k", "value"]]
    points = memorized.rename(columns={"value": "memorized"}).merge(
        accuracy[["k", "value"]].rename(columns={"value": "accuracy"}), on="k"
    )
    left, right = st.columns([3, 2], gap="large")
    with left:
        if len(points.dropna()):
            show.chart(
                memorization_against_performance(points.dropna(), run.SETTINGS),
                key="icl_against",
                alt="Share memorized against accuracy of labels, a dot for each setting and number of demonstrations",
            )
        else:
            show.note("No performance was measured in this run.")
    with right:
        _pearson(run_id, source, benchmark)


def _pearson(run_id: str, source: str, benchmark: str) -> None:
    correlations = _over_k(run_id, declared.PEARSON, declared.PEARSON_EXACT)
    correlations = correlations[correlations["condition"] == source]
    paper = {(one.setting, one.metric): one.value for one in icl_published.figures_of(benchmark)}
    kinds = {declared.PEARSON.name: "exact + near-exact", declared.PEARSON_EXACT.name: "exact"}
    rows = correlations.assign(
        name=correlations["setting"].map(run.SETTINGS),
        kind=correlations["finding"].map(kinds),
        paper=[paper.get((row["setting"], row["finding"]), math.nan) for row in correlations.to_dict("records")],
    )
    show.table(
        rows,
        f"pearson {run_id}",
        columns={
            "name": "Setting",
            "kind": "Memorized",
            "value": number_column("r", 2, "Pearson's r over k."),
            "p": p_column(help="Exact permutation test."),
            "paper": number_column("Paper", 2, f"{icl_published.SOURCE}, Tables 2 and 3, for {icl_published.model()}"),
            "reason": "Why not",
        },
    )
    show.note("r is given from four values of k on, and where both series vary. The paper's model is another.")


def _memorized(run_id: str, source: str) -> None:
    memorized, other, gap = declared.ACCURACY_MEMORIZED, declared.ACCURACY_OTHER, declared.ACCURACY_GAP
    names = {memorized.name: "memorized", other.name: "other", gap.name: "gap"}
    accuracies = _over_k(run_id, memorized, other, gap)
    accuracies = accuracies[(accuracies["condition"] == source)]
    if accuracies.empty or accuracies["value"].isna().all():
        return
    st.subheader("Memorized items against the others", anchor=False)
    wide = accuracies.assign(what=accuracies["finding"].map(names)).pivot_table(
        index=["setting", "k"], columns="what", values="value", dropna=False, aggfunc="first"
    )
    counts = accuracies.pivot_table(index=["setting", "k"], columns="finding", values="n", aggfunc="first")
    p = accuracies[accuracies["finding"] == gap.name].set_index(["setting", "k"])["p"]
    rows = wide.assign(n_memorized=counts.get(memorized.name), n_other=counts.get(other.name), p=p).reset_index()
    rows["name"] = rows["setting"].map(run.SETTINGS)
    show.table(
        rows,
        f"memorized against other {run_id}",
        columns={
            "name": "Setting",
            "k": "k",
            "memorized": share_column("Accuracy, memorized"),
            "n_memorized": count_column("Items"),
            "other": share_column("Accuracy, other"),
            "n_other": count_column("Other items"),
            "gap": points_column("Gap", "points, memorized less other"),
            "p": p_column("Fisher's p"),
        },
    )


def _transitions(run_id: str, source: str) -> None:
    transitions = resources.ask(icl_queries.findings, run_id, declared.TRANSITION.name, "near-exact to exact")
    transitions = transitions[(transitions["condition"] == source) & transitions["value"].notna()]
    if transitions.empty:
        return
    st.subheader("From near-exact to exact", anchor=False)
    show.note("Of the items that were near-exact with one number of demonstrations, how many are exact with the next.")
    details = [json.loads(text) if isinstance(text, str) else {} for text in transitions["detail"]]
    rows = transitions.assign(
        name=transitions["setting"].map(run.SETTINGS),
        before=[one.get("from") for one in details],
        counts=["; ".join(f"{way} {n}" for way, n in one.get("counts", {}).items()) for one in details],
    )
    show.table(
        rows,
        f"transitions {run_id}",
        columns={
            "name": "Setting", "before": "From k", "k": "To k", "value": share_column("Became exact"),
            "n": count_column("Near-exact before"), "counts": "All moves",
        },
    )  # fmt: skip


def _labels(run_id: str, source: str) -> None:
    shares = resources.ask(icl_queries.findings, run_id, declared.REPLICATION.name, "")
    shares = shares[(shares["condition"] == source) & (shares["grp"] != "overall")]
    if shares["grp"].nunique() < 2:
        return
    with st.expander("Label by label"):
        show.table(
            shares.assign(name=shares["setting"].map(run.SETTINGS)),
            f"replication by label {run_id}",
            columns={
                "grp": "Label", "name": "Setting", "k": "k",
                "value": share_column("Exact or near-exact"), "low": share_column("from"),
                "high": share_column("to"), "n": count_column("Items"),
            },
        )  # fmt: skip


def _agreement(run_id: str) -> None:
    kappas = resources.ask(icl_queries.findings, run_id, declared.KAPPA.name, "")
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
    prefill = resources.ask(icl_queries.findings, run_id, declared.PREFILL.name, "")
    if prefill.empty:
        return
    details: list[dict[str, Any]] = [json.loads(text) if isinstance(text, str) else {} for text in prefill["detail"]]
    prompt_tokens = sum(int(one.get("prompt_tokens") or 0) for one in details)
    read = float(prefill["value"].sum())
    if read > 0 and prompt_tokens > 0:
        show.note(
            f"The prompts have {prompt_tokens:,} tokens; {read:,.0f} were read, since what prompts share is read once "
            f"({prompt_tokens / read:.0f} times fewer)."
        )
