"""One instance over training: its margin at every checkpoint, and the step from which on it stays right."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from explorer import display
from explorer.figures.models import model_colors
from explorer.studies.trajectories import judged, queries, words
from explorer.studies.trajectories import learned as learning
from explorer.studies.trajectories.learned import Learned
from explorer.studies.trajectories.lines import Line, Stop
from explorer.ui import instance_list, instances_behind, layout, links, resources, show, texts
from explorer.ui.columns import count_column, name_column, nats_column, share_column, size_column, text_column
from explorer.ui.layout import Chosen
from explorer.ui.trajectories import findings, instances, naming
from explorer.ui.trajectories.figure_lines import DrawnLine, trajectory
from explorer.ui.trajectories.judged import doses, known_instances, pick

LISTED = 500  # instances in the picker
MOST = 6  # lines


def draw_one(chosen: Chosen, runs: pd.DataFrame) -> None:
    """The pickers, when it was learned in a sentence, its margins, and the checkpoint behind a dot."""
    known = judged.lines(runs, resources.settings())
    if not known:
        instances.draw_learned(chosen, runs)  # which says what is missing
        return
    benchmark, line, lines_held = pick(chosen, known)
    learned = instances.of_line(line)
    if learned.items.empty:
        show.nothing_yet("No instance is in every run of this line", "Choose another model or benchmark.")
        return
    instance_id = pick_instance(benchmark, learned)
    if not instance_id:
        show.nothing_yet("No instance matches", "Take words out of the search.")
        return
    others = [other for _, other in lines_held if other is not line and other.asked_key == line.asked_key]
    shown = [line, *others][:MOST]
    traces = {judged_line.key: _trace(judged_line, instance_id) for judged_line in shown}
    _describe_instance(line, traces[line.key], benchmark, instance_id, learned)
    answer = show.chart(
        _figure(shown, traces),
        key=f"instance:{benchmark}:{line.key}:{instance_id}",
        alt=f"Margin of {instance_id} over training",
        on_select="rerun",
    )
    show.note(
        "The margin is by how much the right option is likelier than the best of the others, in nats; above 0 it is "
        "right. The dashed vertical line marks where it was learned. Click a dot to see that checkpoint at work. "
        + naming.ends_apart(shown)
    )
    _draw_runs_behind(shown, instances_behind.picked(answer), benchmark, instance_id)
    _numbers(shown, traces)


def pick_instance(benchmark: str, learned: Learned) -> str:
    """The id of the instance: one that a link asks for, one of those whose text or id holds what is typed."""
    ids = [str(name) for name in learned.items["instance_id"]]
    known = known_instances(benchmark)
    search, listed = st.columns([1, 2], vertical_alignment="bottom")
    with search:
        part = links.type_in("Search", "words", placeholder="words of it, or its id", icon=":material/search:")
    if part and known:
        matching = set(instance_list.listing(benchmark).matching("", part))
        ids_shown = [name for name in ids if name in matching]
    else:
        ids_shown = [name for name in ids if part.casefold() in name.casefold()]
    first = telling(learned, ids_shown)
    wish = links.recall("instance")
    options = ids_shown[:LISTED]
    options += [name for name in (first, wish if wish in ids and not part else "") if name and name not in options]
    if not options:
        return ""

    def title(name: str) -> str:
        instance = known.get(name)
        return instance_list.summary(instance, 110) if instance else name

    with listed:
        return links.pick(st.selectbox, "Instance", "instance", options, default=first, format_func=title)


def telling(learned: Learned, ids: Sequence[str]) -> str:
    """An instance that shows how one is learned: of those learned after the first checkpoint the one in the middle."""
    items = learned.items[learned.items["instance_id"].isin(list(ids))]
    late = items[items["place"] > 0].sort_values(["place", "position"], kind="stable")
    if len(late):
        return str(late["instance_id"].iloc[len(late) // 2])
    return str(items["instance_id"].iloc[0]) if len(items) else ""


def _trace(line: Line, instance_id: str) -> pd.DataFrame:
    """A row per stop: outcome and margin, nan where the run does not have the instance."""
    run_ids = tuple(stop.run_id for stop in line.stops)
    rows = resources.ask_store(queries.instance, run_ids, instance_id)
    return rows.drop_duplicates("run_id").set_index("run_id").reindex(list(run_ids)).reset_index()


def _describe_instance(line: Line, trace: pd.DataFrame, benchmark: str, instance_id: str, learned: Learned) -> None:
    outcomes = _outcomes(trace)
    place = learning.learned_at(outcomes)
    sentence = words.learned_in_words(naming.title_of(line), line.stops, place, outcomes)
    known = known_instances(benchmark).get(instance_id)
    dose = doses(benchmark, line, learned.items).get(instance_id, math.nan)
    dose_in_words = "" if math.isnan(dose) else f" The corpus holds what decides it {_times(dose)}."
    show.says(f"{sentence}{dose_in_words}")
    if known is not None and known.kind == "pair":
        right, wrong = (known.options[known.gold or 0], known.options[1 - (known.gold or 0)])
        show.note(f"Right: {right} Wrong: {wrong}")
    elif not texts.are_here(benchmark):
        texts.offer(benchmark)


def _outcomes(trace: pd.DataFrame) -> list[float]:
    """1, 0 or 0.5 at each stop, nan where there is no verdict."""
    return pd.to_numeric(trace["correct"], errors="coerce").astype(float).tolist()


def _times(dose: float) -> str:
    return "never" if dose == 0 else "once" if dose == 1 else f"{display.count(dose)} times"


def _figure(lines: Sequence[Line], traces: Mapping[str, pd.DataFrame]) -> Any:
    names = naming.names_of(lines)
    colors = model_colors([line.name for line in lines])
    along = judged.along_of(lines[0])
    point_traces = []
    for line, color in zip(lines, colors, strict=True):
        trace = traces[line.key]
        pairs = [
            (stop, float(margin), correct)
            for stop, margin, correct in zip(line.stops, trace["margin"], trace["correct"], strict=True)
            if margin is not None and margin == margin
        ]
        gaps = [math.nan] * len(pairs)
        point_traces.append(
            DrawnLine(
                names[line.key], color, [stop.x for stop, _, _ in pairs], [margin for _, margin, _ in pairs],
                gaps, gaps,
                [f"{words.stop_in_words(stop, along)}: margin {display.nats(margin, signed=True)}, {_verdict(correct)}"
                 for stop, margin, correct in pairs],
                [stop.run_id for stop, _, _ in pairs],
            )
        )  # fmt: skip
    place = learning.learned_at(_outcomes(traces[lines[0].key]))
    mark = math.nan if place is None else lines[0].stops[place].x
    return trajectory(
        point_traces,
        findings.axis_of(along, [stop for line in lines for stop in line.stops]),
        response="Margin (nats)",
        unit="nats",
        null=0.0,
        mark=mark,
    )


def _verdict(correct: float | None) -> str:
    if correct is None or correct != correct:
        return "no verdict"
    return "right" if correct == 1 else "wrong" if correct == 0 else "a tie"


def _draw_runs_behind(lines: Sequence[Line], picked: Sequence[str], benchmark: str, instance_id: str) -> None:
    stops: dict[str, Stop] = {stop.run_id: stop for line in lines for stop in line.stops}
    for run_id in picked[:1]:
        if stop := stops.get(run_id):
            with st.container(horizontal=True):
                layout.link_to(
                    "Instance", f"Token by token after {words.stop_in_words(stop, 'tokens')}", model=stop.model,
                    benchmark=benchmark, instance=instance_id,
                )  # fmt: skip
                layout.link_to("Runs", "The run itself", shown=run_id)


def _numbers(lines: Sequence[Line], traces: Mapping[str, pd.DataFrame]) -> None:
    names = naming.names_of(lines)
    rows = pd.DataFrame(
        [
            {
                "line": names[line.key], "step": stop.place.step, "tokens": stop.place.tokens,
                "margin": margin, "correct": correct, "run_id": stop.run_id,
            }
            for line in lines
            for stop, margin, correct in zip(
                line.stops, traces[line.key]["margin"], traces[line.key]["correct"], strict=True
            )
        ]
    )  # fmt: skip
    show.folded_table(
        rows, "margins over training",
        columns={
            "line": name_column("Model"), "step": count_column("Steps"), "tokens": size_column("Tokens"),
            "margin": nats_column("Margin", signed=True), "correct": share_column("Right"),
            "run_id": text_column("Run"),
        },
    )  # fmt: skip
