"""One popularity run: which corpus was counted, whether popular instances were answered better, and which they are."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from explorer import display
from explorer.popularity import indexes
from explorer.popularity.ips import Edges
from explorer.studies.popularity import queries as popularity_queries
from explorer.studies.popularity.declared import SPLIT
from explorer.studies.popularity.findings import chance_curve
from explorer.studies.popularity.groups import title_of
from explorer.ui import layout, links, resources, show, undecided
from explorer.ui.columns import group_column, id_column, link_column, number_column, share_column
from explorer.ui.instance.corpus_note import corpus_note
from explorer.ui.layout import Chosen
from explorer.ui.popularity.figure_curve import popularity_curve
from explorer.ui.popularity.figure_deciles import popularity_edges
from explorer.ui.scored_options import verdict_of

SHOWN = 100  # instances at each end of the list
ENDS = ["Most popular", "Least popular"]
SCORES = {"relative_difference": ("Relative difference in IPS", ".0%"), "ips": ("IPS", ".1f")}


def pick(chosen: Chosen) -> str:
    """The id of a finished popularity run of this model on this benchmark; "" where there is none."""
    runs = resources.ask(popularity_queries.runs)
    of_model = runs[(runs["study"] == "popularity") & (runs["benchmark"] == chosen.benchmark)]
    return layout.pick_stored(of_model, chosen, _name)


def draw_popularity_run(run_id: str, chosen: Chosen) -> None:
    """Everything about one run."""
    runs = resources.ask(popularity_queries.runs).set_index("run_id")
    edges = Edges.of_run(str(runs.loc[run_id, "edges"]))
    if edges:
        corpus_note(edges, chosen.model)
    else:
        show.note("The deciles that this run stored are damaged; its scores were made before.")
    groups = resources.ask(popularity_queries.groups, run_id)
    names = list(groups["grp"])[::-1]  # the broadest first
    if names:
        _group(run_id, names)
    else:
        show.note("This run compared no popular with unpopular instances.")
    drawer = st.expander("Deciles: from counts to popularity", key=f"deciles:{run_id}", on_change="rerun")
    if drawer.open and edges:
        with drawer:
            _deciles(edges)
    st.subheader("Popular and unpopular instances", anchor=False)
    _ends(run_id, chosen)


def _group(run_id: str, names: list[str]) -> None:
    """What the run found about the group that is looked at."""
    group = names[0]
    if len(names) > 1:
        group = links.pick(st.selectbox, "Instances", "of", names, format_func=title_of)
    findings = resources.ask(popularity_queries.of_group, run_id, group)
    _numbers(findings)
    undecided.tell([run_id])
    _curve(findings, resources.ask(popularity_queries.items, run_id))
    _left_out(run_id, findings)


def _name(row: pd.Series) -> str:
    edges = Edges.of_run(row["edges"])
    state = "" if row["status"] == "complete" else f", {row['status']}"
    about = "damaged deciles"
    if edges:
        index = indexes.DEMO if indexes.corpus_of(edges.index) == indexes.DEMO else edges.index
        about = f"{index} · n = {edges.n}"
    return f"{row['done']:,} instances{state} · {about} · {row['created']:%d %b %Y %H:%M}"


def _numbers(findings: pd.DataFrame) -> None:
    rows: dict[tuple[str, str], Any] = {
        (row["finding"], row["setting"] if isinstance(row["setting"], str) else ""): row
        for _, row in findings.iterrows()
    }
    low, high = rows[SPLIT.half.name, "low"], rows[SPLIT.half.name, "high"]
    gap, area = rows[SPLIT.difference.name, ""], rows[SPLIT.auc.name, ""]
    over = rows.get((SPLIT.difference_over_paradigms.name, ""))
    interval = over if over is not None else gap
    slope = rows[SPLIT.slope.name, ""]
    per_sd = json.loads(slope["detail"])["per_sd"] if isinstance(slope["detail"], str) else math.nan
    show.numbers(
        [
            ("Low half", display.share(low["value"]), _explain(low)),
            ("High half", display.share(high["value"]), _explain(high)),
            (
                "Difference",
                display.points(gap["value"]),
                f"High minus low, in points: {_range(interval)} (95% interval"
                + (" over paradigms" if over is not None else "")
                + f"), Fisher's exact {display.p_in_words(gap['p'])}.",
            ),
            (
                "Slope",
                display.number(per_sd, signed=True),
                "Change in the log odds of being right per standard deviation of the score, logistic regression: "
                f"{display.p_in_words(slope['p'])}. {slope['reason'] or ''}",
            ),
            (
                "AUC",
                display.number(area["value"], 3),
                "The chance that a right answer has the higher score than a wrong one (0.5: popularity says nothing): "
                f"{display.number(area['low'], 3)} to {display.number(area['high'], 3)}. {area['reason'] or ''}",
            ),
        ]
    )
    ranks = rows.get((SPLIT.rank_split.name, ""))
    if ranks is not None:
        detail = json.loads(ranks["detail"])
        show.note(
            f"Scores tie at the median: {gap['reason']}. Split by rank instead, ties broken at random "
            f"{detail['seeds']} times: {display.share(detail['low'])} against {display.share(detail['high'])}, a "
            f"difference of {display.points(ranks['value'])} ({_range(ranks)})."
        )


def _range(row: pd.Series) -> str:
    return f"{display.points(row['low'])} to {display.points(row['high'])}"


def _explain(half: pd.Series) -> str:
    detail = json.loads(half["detail"]) if isinstance(half["detail"], str) else {}
    over = f" over {detail['paradigms']} paradigms" if "paradigms" in detail else ""
    return (
        f"{display.share(half['value'], half['low'], half['high'])}{over}, {half['n']:,} instances at or "
        f"{'below' if half['setting'] == 'low' else 'above'} the median score "
        f"{display.significant(detail.get('median', math.nan), 3)}"
    )


def _curve(findings: pd.DataFrame, items: pd.DataFrame) -> None:
    bins = findings[findings["finding"] == SPLIT.curve.name]
    slope = findings[findings["finding"] == SPLIT.slope.name].iloc[0]
    if bins.empty:
        return
    bins = pd.concat([bins, pd.DataFrame([json.loads(text) for text in bins["detail"]], index=bins.index)], axis=1)
    ends = np.linspace(bins["lowest"].min(), bins["highest"].max(), 200)
    chance = chance_curve(slope.to_dict(), ends)
    name, tick = SCORES["relative_difference" if items["relative_difference"].notna().any() else "ips"]
    overall = float(np.average(bins["value"], weights=bins["n"]))
    show.chart(
        popularity_curve(bins, chance, score=name, tick=tick, overall=overall),
        key="popularity_curve",
        alt=f"Accuracy along {name}, in bins and as a fitted curve",
    )


def _left_out(run_id: str, findings: pd.DataFrame) -> None:
    gap = findings[findings["finding"] == SPLIT.difference.name].iloc[0]
    if not gap["left_out"]:
        return
    why = resources.ask(popularity_queries.undefined, run_id)
    reasons = "; ".join(f"{row['n']:,}: {row['why']}" for _, row in why.head(3).iterrows())
    show.note(
        f"{gap['left_out']:,} instances are left out of halves and curves: one of their texts has no IPS, or they "
        f"have no verdict. {f'In the whole run: {reasons}.' if reasons else ''}"
    )


def _deciles(edges: Edges) -> None:
    show.note(
        "An n-gram's popularity is 1 plus the number of decile edges below its count; an instance's popularity score "
        "(IPS) is the mean over its distinct n-grams."
    )
    show.chart(popularity_edges(edges.values), key="deciles", alt="The popularity of an n-gram by its count")
    if edges.coinciding:
        show.note(f"Of the nine edges, {edges.coinciding}.")
    table = pd.DataFrame({"edge": range(1, 10), "share": [f"{10 * i}%" for i in range(1, 10)], "count": edges.values})
    show.table(table, "decile edges", columns={"edge": "Edge", "share": "Of n-grams at or below", "count": "Count"})


def _ends(run_id: str, chosen: Chosen) -> None:
    items = resources.ask(popularity_queries.items, run_id)
    known = items[items["ips"].notna()]
    which = links.pick(
        st.segmented_control, "Which", "end", ENDS, default=ENDS[0], required=True, label_visibility="collapsed"
    )
    shown = known.head(SHOWN) if which == ENDS[0] else known.tail(SHOWN).iloc[::-1]
    about = {"model": chosen.model, "benchmark": chosen.benchmark}
    shown = shown.assign(
        verdict=[verdict_of(float(value)) for value in shown["correct"]],
        look=[layout.address_of("Instance", **about, instance=name) for name in shown["instance_id"]],
    )
    columns = {
        "ips": number_column("IPS", 2, "of the right option's text"),
        "ips_others": number_column("Others' IPS", 2, "mean over the other options"),
        "relative_difference": share_column("Relative difference"),
        "verdict": "Verdict",
        "grp": group_column("Group"),
        "look": link_column("Tokens"),
        "instance_id": id_column("Instance", width="medium"),
    }
    if shown["ips_others"].isna().all():
        columns = {name: kind for name, kind in columns.items() if name not in ("ips_others", "relative_difference")}
    show.table(shown, f"{which} {run_id}", columns=columns, height=400)
    missing = len(items) - len(known)
    if missing:
        show.note(f"{missing:,} instances whose right option has no IPS are in neither list.")
