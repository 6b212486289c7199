"""A finding of any study along training tokens, steps, parameters or seeds: the sentence, the figure, its numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from explorer import display
from explorer.figures.models import model_colors
from explorer.glassbox import starters
from explorer.results import queries as stored
from explorer.studies.memorization.rows import ATTACKS
from explorer.studies.trajectories import planted, table, words
from explorer.studies.trajectories.lines import AXES, Along, Line, Stop
from explorer.studies.trajectories.readings import Point, Reading
from explorer.studies.trajectories.table import Traced
from explorer.ui import instance_list, instances_behind, layout, links, page_list, resources, run_names, show
from explorer.ui.columns import count_column, id_column, name_column, size_column, text_column, unit_column
from explorer.ui.layout import Chosen
from explorer.ui.trajectories import naming, no_lines
from explorer.ui.trajectories.figure_lines import Axis, DrawnLine, trajectory

MOST = 8  # lines in a figure
JUDGED = ("accuracy", "popularity")  # studies whose runs judge each instance as it stands
EVERY = "all, as separate lines"


def draw_findings(chosen: Chosen, row: Any) -> None:
    """The pickers (that of the axis in `row`), what the lines say, the figure, and what is behind a dot."""
    with row:
        along = pick_along()
    known = no_lines.lines_now()[along]
    of_study, of_reading, on = st.columns([2, 3, 3])
    study, benchmark = _pick_runs(chosen, [(study, benchmark) for study, benchmark, _ in known], of_study, on)
    lines, left_out = no_lines.lines_of(study, benchmark, along)
    lines = pick_asked(lines, chosen)
    with of_reading:
        reading = _pick_reading(table.readings_of(resources.ask_shared, study, benchmark, lines))
    lines = in_order(_pick_step(lines) if along == "parameters" else lines, chosen)
    traced = table.trace(resources.ask_shared, lines, reading, partial(_planted, benchmark))
    show.about("trajectories", "", benchmark)
    if not traced:
        show.nothing_yet("None of these runs has this number", "Choose another finding.")
        return
    shown = traced[: MOST * len(reading.series)]
    names = naming.names_of(lines)
    show.says(words.in_words(_described_lines(shown, names), reading.noun, reading.unit, along))
    answer = show.chart(
        _figure(shown, names, reading, along),
        key=f"trajectory:{along}:{study}:{benchmark}:{reading.key}",
        alt=f"{reading.title} of {run_names.study_title(study)} on {run_names.benchmark_title(benchmark)} along "
        f"{naming.AXES[along].lower()}",
        on_select="rerun",
    )
    hidden = len(traced) - len(shown)
    show.note(
        " ".join(
            filter(
                None,
                (
                    f"Bands are {_intervals(reading)}; click a dot to see what is behind it.",
                    f"{hidden:,} further lines are in the numbers alone." if hidden else "",
                    naming.ends_apart(lines) if along in ("tokens", "steps") else "",
                    table.in_short(left_out),
                ),
            )
        )
    )
    _draw_runs_behind(lines, instances_behind.picked(answer), study, benchmark, along)
    _numbers(traced, names, reading, along)


@st.cache_data(max_entries=64, show_spinner="Reading texts that were planted")
def _planted(benchmark: str, run_ids: tuple[str, ...], measure: str, dose: int) -> dict[str, Point]:
    """Of each run the number of a measure of texts of a dose, against texts that were never read."""
    dealt = starters.doses(list(instance_list.listing(benchmark).by_id.values()))
    high = ATTACKS[measure].seen == "high"
    return planted.points(resources.ask_store, run_ids, measure, dose, dealt, seen_is_high=high)


def pick_along() -> Along:
    """The axis; only those along which any runs lie."""
    lines = no_lines.lines_now()
    options = [along for along in AXES if lines[along]]
    picked = links.pick(
        st.segmented_control, "Along", "along", options, default=options[0], required=True,
        format_func=lambda along: naming.AXES[along], label_visibility="collapsed",
    )  # fmt: skip
    return next(along for along in AXES if along == picked)


def _pick_runs(chosen: Chosen, known: Sequence[tuple[str, str]], left: Any, right: Any) -> tuple[str, str]:
    """The study and the benchmark, drawn in two places; the bar's benchmark where it has lines."""
    studies = list(dict.fromkeys(study for study, _ in known))
    first = next((study for study, benchmark in known if benchmark == chosen.benchmark), studies[0])
    with left:
        study = links.pick(st.selectbox, "Study", "of_study", studies, default=first, format_func=run_names.study_title)
    benchmarks = [benchmark for name, benchmark in known if name == study]
    default = chosen.benchmark if chosen.benchmark in benchmarks else benchmarks[0]
    with right:
        benchmark = links.pick(
            st.selectbox, "On", "on", benchmarks, default=default, format_func=run_names.benchmark_title
        )
    return study, benchmark


def pick_asked(lines: Sequence[Line], chosen: Chosen) -> list[Line]:
    """The lines of runs that were asked alike, in one of several ways.

    Unless another is chosen, the first way that the chosen model was asked in, else the one with the most runs.
    """
    ways: dict[str, list[Line]] = {}
    for line in lines:
        ways.setdefault(line.asked_key, []).append(line)
    if len(ways) < 2:
        return list(lines)
    titles = {key: naming.asked_in_words(of_way[0], lines) for key, of_way in ways.items()}
    options = [*ways, EVERY]
    family = chosen.model.partition("@")[0]
    first = next((key for key, of_way in ways.items() if any(line.name == family for line in of_way)), options[0])
    with show.options("trajectories:options"):
        way = links.pick(
            st.selectbox, "Runs asked with", "asked", options, default=first,
            format_func=lambda key: titles.get(key, key),
        )  # fmt: skip
    return list(lines) if way == EVERY else ways[way]


def _pick_step(lines: Sequence[Line]) -> list[Line]:
    """The lines of sizes after one number of steps, the last unless another is chosen."""
    steps = sorted({line.step for line in lines if line.step == line.step}, reverse=True)
    if len(steps) < 2:
        return list(lines)
    names = {f"{step:.0f}": f"after {display.count(step)} step{'' if step == 1 else 's'}" for step in steps}
    picked = links.pick(
        st.selectbox, "Sizes compared", "after", list(names), default=next(iter(names)),
        format_func=lambda step: names.get(step, step),
    )  # fmt: skip
    return [line for line in lines if math.isnan(line.step) or f"{line.step:.0f}" == picked]


def _intervals(reading: Reading) -> str:
    if any(series.measure for series in reading.series):
        return "95% intervals over texts"
    return "the 95% intervals that the runs stored"


def in_order(lines: Sequence[Line], chosen: Chosen) -> list[Line]:
    """The chosen model's line first, then the largest models'."""
    family = chosen.model.partition("@")[0]
    return sorted(
        lines,
        key=lambda line: (
            line.name != family,
            -_size(line),
            -(line.step if line.step == line.step else 0.0),
            line.name,
        ),
    )


def _size(line: Line) -> float:
    sizes = [stop.place.parameters for stop in line.stops if not math.isnan(stop.place.parameters)]
    return max(sizes, default=0.0)


def _pick_reading(readings: Sequence[Reading]) -> Reading:
    by_key = {reading.key: reading for reading in readings}
    key = links.pick(
        st.selectbox, "What", "read", list(by_key), default=readings[0].key,
        format_func=lambda key: by_key[key].title if key in by_key else key,
        help="The first ones are in plain words; every other finding that these runs stored follows.",
    )  # fmt: skip
    return by_key[key]


def _described_lines(traced: Sequence[Traced], names: dict[str, str]) -> list[words.DescribedLine]:
    return [
        words.DescribedLine(_name(traced_line, names), traced_line.line.stops, traced_line.points)
        for traced_line in traced
    ]


def _name(traced: Traced, names: dict[str, str]) -> str:
    name = names[traced.line.key]
    return f"{name}, {traced.series.name}" if traced.series.name else name


def _figure(traced: Sequence[Traced], names: dict[str, str], reading: Reading, along: Along) -> Any:
    keys = list(dict.fromkeys(traced_line.line.key for traced_line in traced))
    colors = dict(zip(keys, model_colors([_colored(key) for key in _first_of(traced, keys)]), strict=True))
    series = [line_series.name for line_series in reading.series]
    drawn_lines = [
        _line_to_draw(
            traced_line,
            _name(traced_line, names),
            colors[traced_line.line.key],
            series.index(traced_line.series.name),
            reading,
            along,
        )
        for traced_line in traced
    ]
    return trajectory(
        drawn_lines, axis_of(along, [stop for traced_line in traced for stop in traced_line.line.stops]),
        response="AUC" if reading.unit == "AUC" else reading.title,
        unit=reading.unit, null=reading.null,
    )  # fmt: skip


def _first_of(traced: Sequence[Traced], keys: Sequence[str]) -> list[Line]:
    by_key = {traced_line.line.key: traced_line.line for traced_line in traced}
    return [by_key[key] for key in keys]


def _colored(line: Line) -> str:
    return line.stops[-1].model.partition("@")[0] if line.step == line.step else line.name


def _line_to_draw(traced: Traced, name: str, color: str, dash: int, reading: Reading, along: Along) -> DrawnLine:
    pairs = [
        (stop, point)
        for stop, point in zip(traced.line.stops, traced.points, strict=True)
        if point.value == point.value
    ]
    return DrawnLine(
        name,
        color,
        [stop.x for stop, _ in pairs],
        [point.value for _, point in pairs],
        [point.low for _, point in pairs],
        [point.high for _, point in pairs],
        [_hover_of_stop(stop, point, reading, along) for stop, point in pairs],
        [stop.run_id for stop, _ in pairs],
        dash,
    )


def _hover_of_stop(stop: Stop, point: Point, reading: Reading, along: Along) -> str:
    write = words.writer(reading.unit)
    ends = "" if math.isnan(point.low) else f" ({write(point.low)} to {write(point.high)})"
    return f"{words.stop_in_words(stop, along)}: {write(point.value)}{ends}, n = {point.n:,}"


def axis_of(along: Along, stops: Sequence[Stop]) -> Axis:
    """The axis with its title; sizes and seeds are named one by one."""
    if along == "seed":
        return Axis("Seed", is_log=False, names={stop.x: str(stop.seed) for stop in stops})
    if along == "parameters":
        return Axis("Parameters (logarithmic)", names={stop.x: display.compact(stop.x) for stop in stops})
    # Without breaks, since a long title is broken into two lines.
    zero = "; 0\u00a0=\u00a0without\u00a0training" if any(stop.x == 0 for stop in stops) else ""
    return Axis(f"{naming.AXES[along]} (logarithmic{zero})")


def _draw_runs_behind(lines: Sequence[Line], picked: Sequence[str], study: str, benchmark: str, along: Along) -> None:
    """The run of a dot, and where it judges instances those that changed sides since the stop before."""
    for run_id in picked[:1]:
        for line in lines:
            for place, stop in enumerate(line.stops):
                if stop.run_id == run_id:
                    _of_stop(line, place, study, benchmark, along)
                    return


def _of_stop(line: Line, place: int, study: str, benchmark: str, along: Along) -> None:
    stop = line.stops[place]
    st.subheader(show.plain(f"{naming.title_of(line)}: {words.stop_in_words(stop, along)}"), anchor=False)
    with st.container(horizontal=True):
        page_list.link_to_result(study, "See what this run found", stop.model, benchmark, stop.run_id)
        page_list.link_to("Runs", "The run itself", shown=stop.run_id)
    if place == 0 or study not in JUDGED:
        return
    before = line.stops[place - 1]
    changed = resources.ask_store(stored.two_runs, before.run_id, stop.run_id)
    for outcome, title in (("only the second", "newly right"), ("only the first", "lost")):
        rows = changed[changed["outcome"] == outcome]
        if len(rows):
            instances_behind.draw_instances(
                rows[["instance_id", "grp", "margin_a", "margin_b"]],
                Chosen(stop.model, benchmark),
                f"{title} after {words.stop_in_words(stop, along)}",
                {
                    "margin_a": unit_column("nats", "Margin before"),
                    "margin_b": unit_column("nats", "Margin here"),
                },
                key=f"changed:{outcome}",
                title=f"{len(rows):,} {title} since {words.stop_in_words(before, along)}",
            )


def _numbers(traced: Sequence[Traced], names: dict[str, str], reading: Reading, along: Along) -> None:
    rows = table.as_table(traced)
    called = [_name(traced_line, names) for traced_line in traced for _ in traced_line.points]
    look = [layout.address_of("Runs", shown=run_id) for run_id in rows["run_id"]]
    rows = rows.assign(called=called, look=look)
    columns = {
        "called": name_column("Line"),
        "step": count_column("Steps"),
        "tokens": size_column("Tokens"),
        "parameters": size_column("Parameters"),
        "seed": count_column("Seed"),
        "value": unit_column(reading.unit, "Value"),
        "low": unit_column(reading.unit, "From", "95% interval"),
        "high": unit_column(reading.unit, "To"),
        "n": count_column("n"),
        "reason": text_column("Remark"),
        "run_id": id_column("Run"),
    }
    idle = [name for name in ("step", "tokens", "parameters", "reason") if not _says(rows[name])]
    if along != "seed" and rows["seed"].nunique() == 1:
        idle.append("seed")
    show.folded_table(
        rows.drop(columns=["look"]), f"trajectory {reading.title}",
        columns={name: column for name, column in columns.items() if name not in idle},
    )  # fmt: skip


def _says(column: pd.Series) -> bool:
    return bool((column.notna() & (column.astype(str) != "") & (column.astype(str) != "nan")).any())
