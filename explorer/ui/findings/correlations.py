"""Which measures go together over the instances of a benchmark, pooled and within groups?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from explorer import display
from explorer.figures.correlation_matrix import correlation_matrix
from explorer.results.measures import MEASURES
from explorer.stats.correlation_table import correlation_table
from explorer.ui import layout, links, show
from explorer.ui.columns import count_column, link_column, name_column, number_column, p_column, text_column
from explorer.ui.findings import data
from explorer.ui.findings.data import Gathered
from explorer.ui.layout import Chosen

WAYS = ["Pooled", "Within groups"]
SIZES = {"2,000": 2_000, "10,000": 10_000, "all": 0}
PERMUTATIONS = 2_000
RESAMPLES = 500
MANY = 500  # rows from which on the distribution that permutations tend to gives the p


def draw_findings_correlations(chosen: Chosen, gathered: Gathered) -> None:
    """The matrix, its table, and where each measure is from."""
    names = [name for name in gathered.measures if gathered.table[name].nunique() > 1]
    if len(names) < 2:
        nothing_to_compare(chosen, gathered)
        return
    left, right = st.columns([2, 1], vertical_alignment="bottom")
    with left:
        way = links.pick(st.segmented_control, "Correlated", "way", WAYS, default=WAYS[0], required=True)
    sizes = [name for name, size in SIZES.items() if not size or size < len(gathered.table)]
    size = sizes[0]
    if len(sizes) > 1:
        with right:
            size = links.pick(st.segmented_control, "Instances at most", "most", sizes, default=sizes[0], required=True)
    runs = {name: str(source["run_id"]) for name, source in gathered.sources.items()}
    table = sample(gathered.table, SIZES[size], runs)
    within = way == WAYS[1]
    with st.spinner("Resampling", show_time=True):
        pairs = correlations(table[["instance_id", "grp", *names]], tuple(names), within=within)
    titled = pairs.assign(first=pairs["first"].map(_title), second=pairs["second"].map(_title))
    show.chart(
        correlation_matrix(titled, [_title(name) for name in names]),
        key="correlations",
        n=len(table),
        alt=f"Spearman correlations of {len(names)} measures, {way.lower()}",
    )
    show.note(
        "Spearman's rho over the instances that have both measures; bold where p, adjusted by Benjamini and Hochberg "
        "over all pairs, is below 0.05. "
        + (
            "Within groups: the mean of the groups' own correlations, each weighted by its instances, so that "
            "differences between groups play no part; the interval is over groups."
            if within
            else _pooled(chosen, table)
        )
        + (f" A fixed sample of {len(table):,} of {len(gathered.table):,} instances." if SIZES[size] else "")
    )
    _pairs(titled, chosen, names, way)
    _sources(gathered, chosen)


def nothing_to_compare(chosen: Chosen, gathered: Gathered) -> None:
    """What to run so that two measures of the same instances are stored."""
    have = ", ".join(MEASURES[name].title for name in gathered.measures)
    show.nothing_yet(
        "Two measures are needed",
        (f"Stored so far: {have}. " if have else "Nothing is stored about these instances with this model. ")
        + "Each study adds measures of the same instances; popularity already gives four.",
        f"python -m explorer run popularity --model {chosen.model} --benchmark {chosen.benchmark}",
    )


def sample(table: pd.DataFrame, most: int, runs: Mapping[str, str] | None = None) -> pd.DataFrame:
    """At most that many instances (0 = all), in an order by chance that stays.

    With `runs` (measure → run id) those that most runs looked at come first: by what was asked of them, not by what
    came out, since some measures are of wrong answers alone.
    """
    if not most or len(table) <= most:
        return table
    columns: dict[str, list[str]] = {}
    for measure, run_id in (runs or {}).items():
        columns.setdefault(run_id, []).append(measure)
    held = sum((table[names].notna().any(axis=1).astype(int) for names in columns.values()), pd.Series(0, table.index))
    order = pd.util.hash_pandas_object(table["instance_id"], index=False)
    return table.assign(_held=-held, _order=order).sort_values(["_held", "_order"]).head(most)[table.columns]


@st.cache_data(max_entries=16, show_spinner=False)
def correlations(table: pd.DataFrame, names: Sequence[str], *, within: bool) -> pd.DataFrame:
    """A row a pair of measures: rho, interval, p and adjusted p, instances, groups, and why there is none."""
    exact = len(table) <= MANY
    pairs = correlation_table(
        {name: table[name].to_numpy(dtype=float) for name in names},
        table["grp"].to_numpy() if within else None,
        permutations=PERMUTATIONS if exact else 0,
        resamples=RESAMPLES,
    )
    return pd.DataFrame(
        [
            {
                "first": pair.first, "second": pair.second, "rho": pair.correlation.value, "low": pair.correlation.low,
                "high": pair.correlation.high, "p": display.above_zero(pair.correlation.p),
                "adjusted_p": display.above_zero(pair.adjusted_p),
                "n": pair.correlation.n, "groups": pair.correlation.groups, "reason": pair.correlation.reason,
            }
            for pair in pairs
        ]
    )  # fmt: skip


def _pooled(chosen: Chosen, table: pd.DataFrame) -> str:
    groups = table["grp"].nunique()
    if groups < 2:
        return ""
    return (
        f"Pooled over {groups} groups: such correlations mostly compare the groups"
        + (" (BLiMP's paradigms)" if chosen.benchmark == "blimp" else "")
        + " with each other, for whatever sets them apart. Look within groups before you read them as a law of "
        "instances."
    )


def _pairs(titled: pd.DataFrame, chosen: Chosen, names: Sequence[str], way: str) -> None:
    keys = {_title(name): name for name in names}
    about = {"model": chosen.model, "benchmark": chosen.benchmark, "finding": "Two measures"}
    ordered = titled.assign(strength=titled["rho"].abs()).sort_values("strength", ascending=False, na_position="last")
    ordered = ordered.drop(columns="strength").assign(
        look=[
            layout.address_of("Findings", **about, x=keys[a], y=keys[b])
            for a, b in zip(ordered["first"], ordered["second"], strict=True)
        ]
    )
    show.table(
        ordered,
        f"correlations {way}",
        columns={
            "first": name_column("Measure", width=232),
            "second": name_column("and", width=232),
            "rho": number_column("rho", 2, width=55),
            "low": number_column("From", 2, "95% bootstrap interval", width=55),
            "high": number_column("To", 2, width=55),
            "p": p_column(width=66),
            "adjusted_p": p_column("Adjusted", "p adjusted by Benjamini and Hochberg over all pairs", width=72),
            "n": count_column("n", "instances that have both", width=58),
            "look": link_column("Scatter", width=62),
            **({"reason": text_column("Remark", width="large")} if ordered["reason"].any() else {}),
        },
        height=min(38 + 35 * len(ordered), 420),
    )


def _sources(gathered: Gathered, chosen: Chosen) -> None:
    drawer = st.expander("Where each measure is from", key="findings:sources", on_change="rerun")
    if drawer.open:
        with drawer:
            show.table(
                data.sources_table(gathered),
                "sources of measures",
                columns={
                    "measure": text_column("Measure", width="medium"),
                    "unit": "Unit",
                    "direction": text_column("More means", width="medium"),
                    "n": count_column("Instances"),
                    "study": "Study",
                    "model": "Model",
                    "look": link_column("Run"),
                },
            )


def _title(name: str) -> str:
    return MEASURES[name].title
