"""One popularity run: whether popular instances were answered better, which they are, and which corpus was counted."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from explorer import display, numbers
from explorer.figures.models import model_color
from explorer.popularity.ips import DecileEdges
from explorer.runs.slices import Slice
from explorer.stats.proportion import proportion
from explorer.stats.split import SMALLEST_HALF
from explorer.studies.popularity import queries as popularity_queries
from explorer.studies.popularity.declared import SPLIT
from explorer.studies.popularity.findings import chance_curve
from explorer.studies.popularity.groups import members_of, title_of
from explorer.ui import (
    conclusions,
    corpus_mark,
    instances_behind,
    layout,
    links,
    resources,
    show,
    slices,
    undecided_verdicts,
)
from explorer.ui.columns import number_column, share_column
from explorer.ui.instance.corpus_note import corpus_note
from explorer.ui.layout import Chosen
from explorer.ui.popularity.figure_curve import popularity_curve
from explorer.ui.popularity.figure_deciles import popularity_edges
from explorer.ui.popularity.figure_dumbbells import FEWEST_UNITS
from explorer.ui.scored_options import verdict_of

ENDS = ["Most popular", "Least popular"]
SCORES = {
    "relative_difference": "How much more popular the right option is (relative difference in IPS)",
    "ips": "Popularity score (IPS): 1 rare, 10 frequent n-grams",
}
SLICE_BINS, FEWEST_IN_BIN = 5, 10


def pick(chosen: Chosen) -> str:
    """The id of a finished popularity run of this model on this benchmark; "" where there is none."""
    runs = resources.ask_store(popularity_queries.runs)
    of_model = runs[(runs["study"] == "popularity") & (runs["benchmark"] == chosen.benchmark)]
    return layout.pick_stored(of_model, chosen, _counts_in_words)


def draw_popularity_run(chosen: Chosen) -> bool:
    """Everything about one run of the model on the benchmark; False where there is none."""
    with st.container(horizontal=True, horizontal_alignment="right"), show.options("popularity:options"):
        run_id = pick(chosen)
        group_place = st.container()
        slice_picked = slices.pick(chosen.benchmark)
    if not run_id:
        return False
    runs = resources.ask_store(popularity_queries.runs).set_index("run_id")
    edges = DecileEdges.of_run(str(runs.loc[run_id, "edges"]))
    names = list(resources.ask_store(popularity_queries.groups, run_id)["grp"])[::-1]  # the broadest first
    if edges:
        corpus_mark.draw_corpus_mark(edges.index, chosen.model)
    if names:
        with group_place:
            group = names[0] if len(names) == 1 else links.pick(
                st.selectbox, "Instances", "of", names, format_func=title_of
            )  # fmt: skip
        _group(run_id, group, names[0], chosen, slice_picked)
    else:
        show.note("This run compared no popular with unpopular instances.")
    _ends(run_id, chosen, slice_picked)

    def draw() -> None:
        if edges:
            corpus_note(edges, chosen.model)
            _deciles(edges)
        else:
            show.note("The deciles that this run stored are damaged; its scores were made before.")

    show.folded("Which corpus was counted, and what IPS is", f"deciles:{run_id}", draw)
    return True


def _group(run_id: str, group: str, broadest: str, chosen: Chosen, slice_picked: Slice | None) -> None:
    """What the run found about the group that is looked at, or of the part of it that is in a slice."""
    findings = resources.ask_store(popularity_queries.findings_of_group, run_id, group)
    items = resources.ask_store(popularity_queries.items, run_id)
    items = items[members_of(items, group)]
    column = "relative_difference" if items["relative_difference"].notna().any() else "ips"
    if slice_picked:
        items = slices.rows_of_slice(items, slice_picked)
        bins, chance = bins_of(items, column), None
        show.says(_about_slice(items, slice_picked, column))
    else:
        bins, chance = _bins(findings)
        of_all = group == broadest
        own = sentences(findings, layout.model_title(chosen.model))
        show.says(*(conclusions.of_run(run_id) or own if of_all else [f"{title_of(group)} alone:", *own]))
    if bins.empty:
        show.note("There are too few instances for a curve.")
        return
    overall = float(np.average(bins["value"], weights=bins["n"]))
    answer = show.chart(
        resources.drawn(
            popularity_curve, bins, chance, score=SCORES[column],
            tick=".0%" if column == "relative_difference" else ".1f",
            overall=overall, color=model_color(chosen.model),
            write=display.share if column == "relative_difference" else display.number,
        ),
        key=f"popularity_curve:{run_id}:{group}:{slice_picked.name if slice_picked else ''}",
        alt=f"Accuracy along {SCORES[column]}, in bins and as a fitted curve",
        on_select="rerun",
        n=int(bins["n"].sum()),
    )  # fmt: skip
    show.note("Click a dot to see its instances.")
    _draw_instances_behind(items, column, bins, instances_behind.picked(answer), chosen)
    if not slice_picked:
        _numbers(findings)
        _left_out(run_id, findings)
    undecided_verdicts.draw_undecided_note([run_id])


def _counts_in_words(row: pd.Series) -> str:
    """Which counts the run's deciles are of."""
    edges = DecileEdges.of_run(row["edges"])
    return f"{corpus_mark.title(edges.index)} · {edges.n}-grams" if edges else "damaged deciles"


def sentences(findings: pd.DataFrame, model: str) -> list[str]:
    """Whether the more popular half is answered better: effect, interval over what was sampled, n."""
    rows = _rows(findings)
    low, high = rows[SPLIT.half.name, "low"], rows[SPLIT.half.name, "high"]
    gap = rows[SPLIT.difference.name, ""]
    over = rows.get((SPLIT.difference_over_paradigms.name, ""))
    interval = gap if over is None else over
    paradigms = _detail(low).get("paradigms")
    if over is not None and paradigms and paradigms < FEWEST_UNITS:
        return [
            f"{display.share(high['value'])} of the more popular half are right, {display.share(low['value'])} of the "
            f"less popular: {display.points(gap['value'])} points. These are {paradigms} paradigms, too few for an "
            "interval."
        ]
    over_what = f"over {paradigms} paradigms" if over is not None and paradigms else f"n = {gap['n']:,}"
    numbers = (
        f"{display.share(high['value'])} of the more popular half, {display.share(low['value'])} of the less popular: "
        f"{display.points(gap['value'])} points ({_range(interval)}, 95% interval {over_what})"
    )
    if not interval["low"] <= 0 <= interval["high"]:
        way = "right more often" if gap["value"] > 0 else "wrong more often"
        return [f"{model} is {way} on popular instances: {numbers}."]
    return [f"No evidence that {model} is right more often on popular instances: {numbers}."]


def _about_slice(items: pd.DataFrame, slice_picked: Slice, column: str) -> str:
    known = items[items["correct"].notna() & items[column].notna()]
    share = proportion(known["correct"].to_numpy(dtype=float))
    return (
        f"Of the slice “{slice_picked.name}”, {share.n:,} instances are rated and judged here; "
        f"{display.share(share.value, share.low, share.high)} of them are right."
    )


def _rows(findings: pd.DataFrame) -> dict[tuple[str, str], Any]:
    return {
        (row["finding"], row["setting"] if isinstance(row["setting"], str) else ""): row
        for _, row in findings.iterrows()
    }


def _numbers(findings: pd.DataFrame) -> None:
    rows = _rows(findings)
    low, high = rows[SPLIT.half.name, "low"], rows[SPLIT.half.name, "high"]
    gap, area = rows[SPLIT.difference.name, ""], rows[SPLIT.auc.name, ""]
    over = rows.get((SPLIT.difference_over_paradigms.name, ""))
    interval = over if over is not None else gap
    slope = rows[SPLIT.slope.name, ""]
    per_sd = _detail(slope).get("per_sd", math.nan)
    share_material = over is not None
    is_split = min(low["n"], high["n"]) >= SMALLEST_HALF * (low["n"] + high["n"])
    names = ("Low half", "High half") if is_split else ("Lower scores", "Higher scores")
    show.numbers(
        [
            (names[0], display.share(low["value"]), _explain(low)),
            (names[1], display.share(high["value"]), _explain(high)),
            (
                "Difference",
                f"{display.points(gap['value'])} points",
                f"High minus low, in points: {_range(interval)} (95% interval"
                + (
                    " over paradigms, since items of a paradigm are alike)."
                    if share_material
                    else f"), Fisher's exact {display.p_in_words(gap['p'])}."
                ),
            ),
            (
                "Slope",
                display.number(per_sd, signed=True),
                "Change in the log odds of being right per standard deviation of the score, logistic regression"
                + (
                    ". A p-value over items is not given: items of a paradigm are alike."
                    if share_material
                    else f": {display.p_in_words(slope['p'])}."
                )
                + f" {slope['reason'] or ''}",
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
            f"Scores tie at the median, so that the halves hold {low['n']:,} and {high['n']:,} instances. Split by "
            f"rank instead, ties broken at random {detail['seeds']} times, {display.share(detail['high'])} of the "
            f"more popular half are right and {display.share(detail['low'])} of the other, a difference of "
            f"{display.points(ranks['value'])} points (middle 95% of the ways to break ties {_range(ranks)})."
        )


def _range(row: pd.Series) -> str:
    return f"{display.points(row['low'])} to {display.points(row['high'])}"


def _explain(half: pd.Series) -> str:
    detail = _detail(half)
    over = f" over {detail['paradigms']} paradigms" if "paradigms" in detail else ""
    return (
        f"{display.share(half['value'], half['low'], half['high'])}{over}, {half['n']:,} instances at or "
        f"{'below' if half['setting'] == 'low' else 'above'} the median score "
        f"{display.significant(detail.get('median', math.nan), 3)}"
    )


def _bins(findings: pd.DataFrame) -> tuple[pd.DataFrame, Any]:
    """The bins of the stored curve in order, and the fitted chance over their range."""
    bins = findings[findings["finding"] == SPLIT.curve.name]
    if bins.empty:
        return bins, None
    bins = pd.concat([bins, pd.DataFrame([json.loads(text) for text in bins["detail"]], index=bins.index)], axis=1)
    slope = findings[findings["finding"] == SPLIT.slope.name].iloc[0]
    ends = np.linspace(bins["mean"].min(), bins["mean"].max(), 200)
    return bins.reset_index(drop=True), chance_curve(slope.to_dict(), ends)


def bins_of(items: pd.DataFrame, column: str) -> pd.DataFrame:
    """Bins of about equal size of some instances, as the stored curve has them: value, low, high, n, mean, lowest,
    highest."""
    known = items[items[column].notna() & items["correct"].notna()].sort_values(column, kind="stable")
    many = min(SLICE_BINS, len(known) // FEWEST_IN_BIN)
    rows = []
    for part in np.array_split(np.arange(len(known)), many) if many else ():
        of_bin = known.iloc[part]
        share = proportion((of_bin["correct"] == 1).to_numpy(dtype=float))
        rows.append(
            {
                "value": share.value, "low": share.low, "high": share.high, "n": share.n,
                "mean": of_bin[column].mean(), "lowest": of_bin[column].min(), "highest": of_bin[column].max(),
            }
        )  # fmt: skip
    return pd.DataFrame(rows, columns=["value", "low", "high", "n", "mean", "lowest", "highest"])


def _draw_instances_behind(
    items: pd.DataFrame, column: str, bins: pd.DataFrame, picked: list[str], chosen: Chosen
) -> None:
    """The instances of the bins that were clicked."""
    places = numbers.places(picked, len(bins))
    if not places:
        return
    within = pd.Series(False, index=items.index)
    for place in places:
        within |= items[column].between(bins["lowest"].iloc[place], bins["highest"].iloc[place])
    rows = items[within].sort_values(column, ascending=False)
    lowest, highest = bins["lowest"].iloc[places].min(), bins["highest"].iloc[places].max()
    write = display.share if column == "relative_difference" else display.number
    title = f"{display.counted(len(rows), 'instance')} with {SCORES[column]} from {write(lowest)} to {write(highest)}"
    _list(rows, chosen, "instances of the bin", "bin", title)


def _left_out(run_id: str, findings: pd.DataFrame) -> None:
    gap = findings[findings["finding"] == SPLIT.difference.name].iloc[0]
    if not gap["left_out"]:
        return
    why = resources.ask_store(popularity_queries.undefined, run_id)
    reasons = "; ".join(f"{row['n']:,} ({row['why']})" for _, row in why.head(3).iterrows())
    show.note(
        f"Left out of halves and curves: {display.counted(int(gap['left_out']), 'instance')} with a text that has no "
        f"IPS, or without a verdict. {f'In the whole run {reasons}.' if reasons else ''}"
    )


def _deciles(edges: DecileEdges) -> None:
    show.note(
        "An n-gram's popularity is 1 plus the number of decile edges below its count; an instance's popularity score "
        "(IPS) is the mean over its distinct n-grams: 1 where all are rare, 10 where all are frequent."
    )
    show.chart(
        resources.drawn(popularity_edges, edges.values), key="deciles", alt="The popularity of an n-gram by its count"
    )
    if edges.coinciding:
        show.note(f"Of the nine edges, {edges.coinciding}.")
    table = pd.DataFrame({"edge": range(1, 10), "share": [f"{10 * i}%" for i in range(1, 10)], "count": edges.values})
    show.table(table, "decile edges", columns={"edge": "Edge", "share": "Of n-grams at or below", "count": "Count"})


def _ends(run_id: str, chosen: Chosen, slice_picked: Slice | None) -> None:
    """The most and the least popular instances, behind a line that opens."""
    drawer = st.expander("The most and the least popular instances", key=f"ends:{run_id}", on_change="rerun")
    if not drawer.open:
        return
    with drawer:
        items = slices.rows_of_slice(resources.ask_store(popularity_queries.items, run_id), slice_picked)
        known = items[items["ips"].notna()]
        which = links.pick(
            st.segmented_control, "Which", "end", ENDS, default=ENDS[0], required=True, label_visibility="collapsed"
        )
        _list(known if which == ENDS[0] else known.iloc[::-1], chosen, f"{which} {run_id}", "ends")
        missing = len(items) - len(known)
        if missing:
            show.note(f"In neither list: {display.counted(missing, 'instance')} whose right option has no IPS.")


def _list(rows: pd.DataFrame, chosen: Chosen, name: str, key: str, title: str = "") -> None:
    columns: dict[str, Any] = {
        "verdict": "Verdict",
        "ips": number_column("IPS", 2, "of the right option's text"),
        "ips_others": number_column("Others' IPS", 2, "mean over the other options"),
        "relative_difference": share_column("Difference", "of the right option's IPS and the others', relative"),
    }
    if rows["ips_others"].isna().all():
        columns = {name: kind for name, kind in columns.items() if name not in ("ips_others", "relative_difference")}
    rows = rows.assign(verdict=[verdict_of(float(value)) for value in rows["correct"]])
    instances_behind.draw_instances(rows, chosen, name, columns, key=key, title=title, suggestion=f"popularity {key}")


def _detail(row: pd.Series) -> dict[str, Any]:
    return json.loads(row["detail"]) if isinstance(row["detail"], str) else {}
