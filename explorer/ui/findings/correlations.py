"""Which measures go together over the instances of a benchmark, pooled and within groups?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from explorer import display
from explorer.figures.correlation_matrix import correlation_matrix
from explorer.results.measures import MEASURES
from explorer.results.store import Store
from explorer.stats.correlation_table import correlation_table
from explorer.stats.residual_ranks import residual_ranks
from explorer.studies.declared import shared_number
from explorer.ui import corpus_mark, instances_behind, layout, links, resources, show
from explorer.ui.columns import count_column, link_column, name_column, number_column, p_column, text_column
from explorer.ui.findings import measure_table
from explorer.ui.findings.measure_table import Gathered
from explorer.ui.layout import Chosen

WAYS = ["Pooled", "Within groups"]
LENGTH = ["allowed for", "left in"]
CONTROLS = {
    "length": "the length of the text in words",
    "frequency of single words": "the mean frequency of its single tokens",
}
CERTAIN = 0.05
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
    has_lengths = measure_table.lengths(chosen) is not None
    way, size, allow, frequency = _pickers(gathered, has_lengths=has_lengths)
    within = way == WAYS[1]
    index = measure_table.index_of(chosen) if frequency else ""
    with st.spinner("Resampling", show_time=True):
        correlated = resources.ask_shared(
            correlate, chosen.model, chosen.benchmark, tuple(names), SIZES[size], within, allow, index
        )
    pairs, controls = correlated.pairs, correlated.controls
    pairs = pairs.assign(shared=[shared_number(a, b) for a, b in zip(pairs["first"], pairs["second"], strict=True)])
    titled = pairs.assign(first=pairs["first"].map(gathered.name), second=pairs["second"].map(gathered.name))
    show.says(strongest(titled, within=within, allowed=controls))
    answer = show.chart(
        resources.drawn(correlation_matrix, titled, [gathered.name(name) for name in names]),
        key=f"correlations:{chosen.model}:{chosen.benchmark}:{way}:{len(controls)}",
        n=correlated.n,
        alt=f"Spearman correlations of {len(names)} measures, {way.lower()}",
        on_select="rerun",
    )
    _links(instances_behind.picked(answer), names, chosen, gathered)
    frequency_note = (
        " The frequency of single words is not allowed for: no index is built here." if frequency and not index else ""
    )
    show.note(
        _reading(chosen, correlated.groups, controls, within=within)
        + frequency_note
        + (f" A fixed sample of {correlated.n:,} of {len(gathered.table):,} instances." if SIZES[size] else "")
        + _index_mark(gathered)
    )
    _pairs(titled, chosen, names, way, gathered)
    _sources(gathered, chosen)


def _pickers(gathered: Gathered, *, has_lengths: bool) -> tuple[str, str, bool, bool]:
    """Pooled or within groups, of how many instances, and whether length and single words are allowed for."""
    groups = gathered.table["grp"].nunique()
    sizes = [name for name, size in SIZES.items() if not size or size < len(gathered.table)]
    size, allow, frequency = sizes[0], False, False
    with st.container(horizontal=True, vertical_alignment="bottom"):
        # Pooled correlations compare groups with each other: where there are several, the page opens within them.
        way = links.pick(
            st.segmented_control, "Correlated", "way", WAYS, default=WAYS[1] if groups > 1 else WAYS[0], required=True
        )
        with show.options("correlations:options"):
            if len(sizes) > 1:
                size = links.pick(
                    st.segmented_control, "Instances at most", "most", sizes, default=sizes[0], required=True
                )
            if has_lengths:
                choice = links.pick(
                    st.segmented_control, "Length of the text", "length", LENGTH, default=LENGTH[0], required=True
                )
                allow = choice == LENGTH[0]
                choice = links.pick(
                    st.segmented_control, "Frequency of single words", "frequency", LENGTH, default=LENGTH[0],
                    required=True,
                )  # fmt: skip
                frequency = choice == LENGTH[0]
    return way, size, allow, frequency


def _reading(chosen: Chosen, groups: int, controls: Sequence[str], *, within: bool) -> str:
    """How the matrix is read: what a number is, what bold and gray mean, over what an interval is."""
    held = f" Ranks are adjusted for {' and '.join(map(CONTROLS.__getitem__, controls))}." if controls else ""
    return (
        "Spearman's rho over the instances that have both measures; bold where p, adjusted by Benjamini and Hochberg "
        "over all pairs, is below 0.05. Gray: both are computed from the same log-probabilities or answers, so that "
        "they go together by the way they are made. Click a number for its scatter. "
        + (
            "Within groups: the mean of the groups' own correlations, each weighted by its instances, so that "
            "differences between groups play no part; the interval is over groups."
            if within
            else _pooled(chosen, groups)
        )
        + held
    )


@dataclass(frozen=True, slots=True)
class Correlated:
    """The correlations of every pair of measures over `n` instances of `groups` groups, `controls` taken out."""

    pairs: pd.DataFrame
    controls: tuple[str, ...]
    n: int
    groups: int


def correlate(
    _: Store, model: str, benchmark: str, names: Sequence[str], most: int, within: bool, length: bool, index: str
) -> Correlated:
    """The measures of a model on a benchmark against each other; for `resources.ask_shared`, which remembers it.

    At most `most` instances (0 = all), correlated `within` groups or over all; allowed for are the `length` of the text
    and, with an `index` that counts them, the frequency of its single words.
    """
    chosen = Chosen(model, benchmark)
    gathered = measure_table.gather(chosen)
    lengths = measure_table.lengths(chosen) if length else None
    runs = {name: str(source["run_id"]) for name, source in gathered.sources.items()}
    table = gathered.table if lengths is None else gathered.table.assign(_length=lengths)
    table = sample(table, most, runs)
    measured = table[["instance_id", "grp", *names]]
    controls = {"length": table["_length"]} if lengths is not None else {}
    counted = measure_table.unigrams(list(table["instance_id"]), chosen) if index else None
    if counted is not None and counted.nunique() > 1:
        controls["frequency of single words"] = table["instance_id"].map(counted)
    if controls:
        by = table["grp"].to_numpy() if within else None
        controlled = list(controls.values())
        measured = measured.assign(**{name: residual_ranks(table[name], controlled, by) for name in names})
    pairs = correlations(measured, names, within=within)
    return Correlated(pairs, tuple(controls), len(table), table["grp"].nunique())


def strongest(pairs: pd.DataFrame, *, within: bool, allowed: Sequence[str]) -> str:
    """The pair that goes together most among those that share no number, and how many do beyond chance."""
    apart = pairs[(pairs["shared"] == "") & pairs["rho"].notna()]
    if apart.empty:
        return ""
    clear = apart[apart["adjusted_p"] < CERTAIN]
    where = ("within groups" if within else "pooled over groups") + (
        f", {' and '.join(allowed)} allowed for" if allowed else ""
    )
    if clear.empty:
        return f"No evidence that any two measures which share no number go together {where} ({len(apart)} pairs)."
    best = clear.iloc[clear["rho"].abs().argmax()]
    way = "together" if best["rho"] > 0 else "in opposite directions"
    ends = display.interval(best["low"], best["high"])
    numbers = f"Spearman's rho {display.number(best['rho'])}, {ends}, n = {best['n']:,}"
    return (
        f"Of {len(apart)} pairs of measures that share no number, {len(clear)} "
        f"{'goes' if len(clear) == 1 else 'go'} together beyond chance {where}; "
        f"“{best['first']}” and “{best['second']}” most clearly go {way} ({numbers})."
    )


def _links(picked: Sequence[str], names: Sequence[str], chosen: Chosen, gathered: Gathered) -> None:
    keys = {gathered.name(name): name for name in names}
    for row in picked:
        first, _, second = row.partition("|")
        if first in keys and second in keys:
            layout.link_to(
                "Findings", f"The instances behind “{first}” and “{second}”", model=chosen.model,
                benchmark=chosen.benchmark, finding="Two measures", x=keys[first], y=keys[second],
            )  # fmt: skip


def _index_mark(gathered: Gathered) -> str:
    """The mark of counts from an index that is not the model's data, where a measure is of such counts."""
    marked = [name for name in gathered.measures if measure_table.mark_of(gathered, name)]
    return f" {corpus_mark.MEANING}: {', '.join(MEASURES[name].title for name in marked)}." if marked else ""


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
    measures_per_row = sum(
        (table[names].notna().any(axis=1).astype(int) for names in columns.values()), pd.Series(0, table.index)
    )
    order = pd.util.hash_pandas_object(table["instance_id"], index=False)
    return (
        table.assign(_held=-measures_per_row, _order=order).sort_values(["_held", "_order"]).head(most)[table.columns]
    )


def correlations(table: pd.DataFrame, names: Sequence[str], *, within: bool) -> pd.DataFrame:
    """A row per pair of measures: rho, interval, p and adjusted p, instances, groups, and why there is none."""
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


def _pooled(chosen: Chosen, groups: int) -> str:
    if groups < 2:
        return ""
    return (
        f"Pooled over {groups} groups: such correlations mostly compare the groups"
        + (" (BLiMP's paradigms)" if chosen.benchmark == "blimp" else "")
        + " with each other, for whatever sets them apart. Look within groups before you read them as a law of "
        "instances."
    )


def _pairs(titled: pd.DataFrame, chosen: Chosen, names: Sequence[str], way: str, gathered: Gathered) -> None:
    keys = {gathered.name(name): name for name in names}
    about = {"model": chosen.model, "benchmark": chosen.benchmark, "finding": "Two measures"}
    ordered = titled.assign(strength=titled["rho"].abs()).sort_values("strength", ascending=False, na_position="last")
    ordered = ordered.drop(columns="strength").assign(
        look=[
            layout.address_of("Findings", **about, x=keys[a], y=keys[b])
            for a, b in zip(ordered["first"], ordered["second"], strict=True)
        ]
    )
    show.folded_table(
        ordered,
        f"correlations {way}",
        title="Every pair",
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
            **({"shared": text_column("Both from", width="medium")} if ordered["shared"].any() else {}),
            **({"reason": text_column("Remark", width="large")} if ordered["reason"].any() else {}),
        },
        height=min(38 + 35 * len(ordered), 420),
    )


def _sources(gathered: Gathered, chosen: Chosen) -> None:
    drawer = st.expander("Where each measure is from", key="findings:sources", on_change="rerun")
    if drawer.open:
        with drawer:
            show.table(
                measure_table.sources_table(gathered),
                "sources of measures",
                columns={
                    "measure": text_column("Measure", width="medium"),
                    "unit": "Unit",
                    "direction": text_column("More means", width="medium"),
                    "computed_from": text_column("Computed from", "measures of the same are grayed", width="medium"),
                    "bos": text_column("Texts begin with", "the beginning token of the run's policy"),
                    "n": count_column("Instances"),
                    "study": "Study",
                    "model": "Model",
                    "look": link_column("Run"),
                },
            )
