"""Lines along training of runs that judge each instance as it stands, and how popular their instances are."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from explorer.glassbox import starters
from explorer.records import Instance
from explorer.results.measures import MEASURES
from explorer.settings import Settings
from explorer.studies.popularity.groups import SCORE_OF_KIND
from explorer.studies.trajectories import queries, table
from explorer.studies.trajectories.learned import Learned
from explorer.studies.trajectories.lines import Along, Line
from explorer.studies.trajectories.table import Ask

STUDIES = ("accuracy", "popularity")  # in the order in which they are preferred
BINS = 4  # groups of popularity, or of doses above 0
DOSE = "dose"
DOSED = "how often the corpus holds what decides"
MEASURED = ("relative_difference", "ips")
Held = tuple[str, Line]  # a line and the study of its runs


def lines(runs: pd.DataFrame, settings: Settings) -> dict[str, list[Held]]:
    """Benchmark → its lines along training: by tokens, by steps where tokens are not known; the longest first."""
    lines_of_benchmark: dict[str, list[Held]] = {}
    by_tokens: set[tuple[str, str, str]] = set()
    axes: tuple[Along, Along] = ("tokens", "steps")
    known = table.places_of(runs, settings)
    for along in axes:
        for study, benchmark, of_study in table.with_lines(runs, known, along):
            if study not in STUDIES:
                continue
            fresh = [line for line in of_study if (study, benchmark, line.name) not in by_tokens]
            lines_of_benchmark.setdefault(benchmark, []).extend((study, line) for line in fresh)
            if along == "tokens":
                by_tokens |= {(study, benchmark, line.name) for line in fresh}
    return {
        benchmark: sorted(
            benchmark_lines,
            key=lambda held_line: (-len(held_line[1].stops), STUDIES.index(held_line[0]), -size_of(held_line[1])),
        )
        for benchmark, benchmark_lines in lines_of_benchmark.items()
        if benchmark_lines
    }


def size_of(line: Line) -> float:
    """The most parameters of a line's models; 0 where none is known."""
    return max((stop.place.parameters for stop in line.stops if not math.isnan(stop.place.parameters)), default=0.0)


def along_of(line: Line) -> Along:
    """By what a line along training is ordered."""
    return "steps" if any(math.isnan(stop.place.tokens) for stop in line.stops) else "tokens"


@dataclass(frozen=True, slots=True)
class Popularity:
    """How popular each instance is: instance → number, and what that number is called."""

    title: str
    values: Mapping[str, float]


def doses(
    benchmark: str, line: Line, items: pd.DataFrame, instances: Callable[[], Sequence[Instance]]
) -> dict[str, float]:
    """Instance → how often the glass box's corpus holds what decides it; {} of other models and benchmarks.

    `items` has the columns instance_id and phenomenon; `instances` reads the benchmark, where its doses follow from it.
    """
    if not line.name.startswith("glassbox-") or items.empty:
        return {}
    if benchmark.startswith("glassbox_"):
        dose_of_item = items["phenomenon"].astype(str).str.extract(r"^dose (\d+)$")[0].astype(float)
        return {str(name): dose for name, dose in zip(items["instance_id"], dose_of_item, strict=True) if dose == dose}
    if benchmark in starters.SETS:
        return {name: float(dose) for name, dose in starters.doses(instances()).items()}
    return {}


def sources(ask: Ask, benchmark: str, dosed: Mapping[str, float], kind: str) -> list[str]:
    """What tells how popular an instance is: "dose", or "RUN MEASURE" of runs that counted n-grams, the first first."""
    counted = ask(queries.counted_runs, benchmark)
    first = SCORE_OF_KIND.get(kind, MEASURED[0])
    measures = sorted(MEASURED, key=lambda name: name != first)
    options = [f"{run_id} {measure}" for run_id in counted["run_id"] for measure in measures]
    return [DOSE, *options] if dosed else options


def popularity(ask: Ask, source: str, learned: Learned, dosed: Mapping[str, float]) -> Popularity | None:
    """How popular instances are by a source; none where it tells of no instance. Another text is another instance."""
    if source == DOSE:
        return Popularity(DOSED, dosed) if dosed else None
    run_id, _, measure = source.partition(" ")
    rows = ask(queries.popularity, run_id, measure)
    merged = learned.items[["instance_id", "text_hash"]].merge(rows, on=["instance_id", "text_hash"])
    values = dict(zip(merged["instance_id"].astype(str), merged["value"].astype(float), strict=True))
    return Popularity(MEASURES[measure].title, values) if values else None


def groups_of(values: pd.Series, *, dosed: bool) -> tuple[pd.Series, list[str]]:
    """Each instance's group of popularity, and the groups from the least popular to the most."""
    return _by_dose(values) if dosed else _by_quantile(values)


def _by_dose(values: pd.Series) -> tuple[pd.Series, list[str]]:
    above = sorted({int(value) for value in values.dropna() if value > 0})
    size = max(1, -(-len(above) // BINS))
    named = {0: "never in the corpus"}
    for start in range(0, len(above), size):
        rows_held = above[start : start + size]
        span = f"{rows_held[0]:,}" if rows_held[0] == rows_held[-1] else f"{rows_held[0]:,} to {rows_held[-1]:,}"
        named |= {dose: "once" if span == "1" else f"{span} times" for dose in rows_held}
    groups = values.map(lambda value: named[int(value)] if value == value else None)
    return groups, [name for name in dict.fromkeys(named.values()) if (groups == name).any()]


def _by_quantile(values: pd.Series) -> tuple[pd.Series, list[str]]:
    """Groups of about equal size between the quartiles; instances with the same number are of one group."""
    known = values.dropna().to_numpy(dtype=float)
    if not known.size:
        return values.map(lambda _: None), []
    edges = np.unique(np.quantile(known, np.linspace(0, 1, BINS + 1)[1:-1]))
    place = np.searchsorted(edges, values.to_numpy(dtype=float), side="left")
    used = sorted({int(at) for at, value in zip(place, values, strict=True) if value == value})
    many = len(used)
    names = {at: f"part {number + 1} of {many}" for number, at in enumerate(used)}
    if many == 1:
        names = {used[0]: "all"}
    else:
        names |= {used[0]: "least popular", used[-1]: "most popular"}
    groups = [names[int(at)] if value == value else None for at, value in zip(place, values, strict=True)]
    return pd.Series(groups, index=values.index, dtype=object), [names[at] for at in used]
