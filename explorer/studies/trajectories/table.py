"""Every line of a reading as rows, for the page, its downloads and the command line: the figures of stored findings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from explorer.errors import RunError
from explorer.results import queries as stored
from explorer.results.store import Store
from explorer.runs import imported
from explorer.runs import spec as specs
from explorer.runs.folder import RunFolder
from explorer.scoring import hf_source
from explorer.settings import Settings
from explorer.studies.sentences import Findings
from explorer.studies.trajectories import queries
from explorer.studies.trajectories.lines import AXES, Along, LeftOut, Line, lines_of
from explorer.studies.trajectories.place import Place, place_here, place_of
from explorer.studies.trajectories.planted import Planted, missing
from explorer.studies.trajectories.planted import readings as against_truth
from explorer.studies.trajectories.readings import PLAIN, Point, Reading, Series, point, stored_readings

Ask = Callable[..., Any]  # a question with its arguments → its answer, perhaps remembered


def of_store(store: Store) -> Ask:
    """Asks a store itself, for who has no cache of answers."""
    return lambda question, *arguments: question(store, *arguments)


def runs_of(runs: pd.DataFrame, study: str, benchmark: str) -> pd.DataFrame:
    """The rows of `queries.runs` of a study on a benchmark."""
    return runs[(runs["study"] == study) & (runs["benchmark"] == benchmark)]


def places_of(runs: pd.DataFrame, settings: Settings) -> dict[str, Place]:
    """Run id → the place of its model; a folder's files are read for runs that were done here alone."""
    place_of_key: dict[tuple[str, str, bool], Place] = {}
    placed = {}
    for row in runs.to_dict("records"):
        run_id, model = str(row["run_id"]), str(row["model"])
        is_own = not hf_source.is_folder(model) or _was_done_here(settings, run_id)
        key = (model, _weights(str(row["spec"])), is_own)
        if key not in place_of_key:
            place_of_key[key] = place_here(model, key[1], settings) if is_own else place_of(model)
        placed[run_id] = place_of_key[key]
    return placed


def _was_done_here(settings: Settings, run_id: str) -> bool:
    try:
        return not imported.source(RunFolder.find(settings.runs, run_id))
    except RunError:
        return False


def _weights(spec: str) -> str:
    """What stands for the weights in a run's spec; "" where it cannot be read."""
    try:
        return specs.from_json(spec).weights
    except RunError:
        return ""


def with_lines(runs: pd.DataFrame, known: Mapping[str, Place], along: Along) -> list[tuple[str, str, list[Line]]]:
    """(study, benchmark, lines) of all that have a line along an axis, the one with the most stops first."""
    lines_found = []
    for (study, benchmark), rows in runs.groupby(["study", "benchmark"], sort=True):
        lines, _ = lines_of(rows, known, along)
        if lines and str(study) in PLAIN:
            lines_found.append((str(study), str(benchmark), lines))
    return sorted(lines_found, key=lambda item: -sum(len(line.stops) for line in item[2]))


def lines_by_axis(store: Store, settings: Settings, minute: int = 0) -> dict[Along, list[tuple[str, str, list[Line]]]]:
    """Axis → what has lines along it; a question, for who remembers answers, and then for this `minute` alone."""
    runs = queries.runs(store)
    known = places_of(runs, settings)
    return {along: with_lines(runs, known, along) for along in AXES}


def lines_along(
    store: Store, settings: Settings, study: str, benchmark: str, along: Along, minute: int = 0
) -> tuple[list[Line], list[LeftOut]]:
    """The lines of a study on a benchmark along an axis, and the runs that are on none; a question, as above."""
    runs = runs_of(queries.runs(store), study, benchmark)
    return lines_of(runs, places_of(runs, settings), along)


def found_by_run(store: Store, run_ids: Sequence[str]) -> dict[str, Findings]:
    """Run id → its findings; a question, for who remembers answers."""
    rows = stored.all_findings(store, run_ids)
    return {str(run_id): Findings(of_run.to_dict("records")) for run_id, of_run in rows.groupby("run_id", sort=False)}


@dataclass(frozen=True, slots=True)
class Traced:
    """A line with what each series of a reading has at each of its stops."""

    line: Line
    series: Series
    points: tuple[Point, ...]


def trace(ask: Ask, lines: Sequence[Line], reading: Reading, planted: Planted | None = None) -> list[Traced]:
    """Every line of a reading, line by line and series by series; a series without any number is left out.

    `planted` gives what is read off against the glass box's truth, where the reading is of that kind.
    """
    run_ids = tuple(stop.run_id for line in lines for stop in line.stops)
    if not run_ids:
        return []
    by_run: Mapping[str, Findings] = ask(found_by_run, run_ids)
    nothing = Findings([])
    of_texts = {
        (series.measure, series.dose): planted(run_ids, series.measure, series.dose) if planted else {}
        for series in reading.series
        if series.measure
    }

    def number(series: Series, run_id: str) -> Point:
        if series.measure:
            return of_texts[series.measure, series.dose].get(run_id, missing())
        return point(series, by_run.get(run_id, nothing))

    traced = [
        Traced(line, series, tuple(number(series, stop.run_id) for stop in line.stops))
        for line in lines
        for series in reading.series
    ]
    return [
        traced_line
        for traced_line in traced
        if any(point.n or point.value == point.value for point in traced_line.points)
    ]


def readings_of(ask: Ask, study: str, benchmark: str, lines: Sequence[Line]) -> list[Reading]:
    """The plain readings of a study, those against planted truth, then every finding that several runs have stored."""
    run_ids = tuple(stop.run_id for line in lines for stop in line.stops)
    listed = ask(readings_stored, study, run_ids) if run_ids else []
    return [*PLAIN.get(study, ()), *against_truth(study, benchmark, lines), *listed]


def readings_stored(store: Store, study: str, run_ids: Sequence[str]) -> list[Reading]:
    """A reading for every finding that several of the runs have stored; a question, for who remembers answers."""
    return stored_readings(study, queries.findings_of_several(store, run_ids).to_dict("records"))


def as_table(traced: Sequence[Traced]) -> pd.DataFrame:
    """A row per line, series and stop: where it stands, its number with interval and n, and the run that it is from."""
    rows = [
        {
            "line": traced_line.line.name,
            "series": traced_line.series.name,
            "model": stop.model,
            "step": stop.place.step,
            "tokens": stop.place.tokens,
            "parameters": stop.place.parameters,
            "seed": stop.seed,
            "value": point.value,
            "low": point.low,
            "high": point.high,
            "n": point.n,
            "reason": point.reason,
            "run_id": stop.run_id,
        }
        for traced_line in traced
        for stop, point in zip(traced_line.line.stops, traced_line.points, strict=True)
    ]
    columns = ["line", "series", "model", "step", "tokens", "parameters", "seed", "value", "low", "high", "n", "reason",
               "run_id"]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


def in_short(left_out: Sequence[LeftOut]) -> str:
    """How many runs are on no line, by reason."""
    counts = pd.Series([run_left_out.reason for run_left_out in left_out], dtype=object).value_counts()
    reasons_told = [f"{many:,} {why}" for why, many in counts.items()]
    runs = "1 run is" if len(left_out) == 1 else f"{len(left_out):,} runs are"
    return f"{runs} on no line: {', '.join(reasons_told)}." if reasons_told else ""
