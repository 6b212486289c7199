"""Picking a line along training of runs that judge each instance as it stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from explorer.records import Instance
from explorer.studies.trajectories import judged
from explorer.studies.trajectories.judged import Held
from explorer.studies.trajectories.lines import Line
from explorer.ui import instance_list, links, run_names, show, texts
from explorer.ui.layout import Chosen
from explorer.ui.trajectories import naming


def pick(chosen: Chosen, known: Mapping[str, Sequence[Held]]) -> tuple[str, Line, list[Held]]:
    """The benchmark, the line that is looked at, and all lines of the benchmark."""
    left, right = st.columns(2)
    default = chosen.benchmark if chosen.benchmark in known else next(iter(known))
    with left:
        benchmark = links.pick(
            st.selectbox, "On", "on", list(known), default=default, format_func=run_names.benchmark_title
        )
    lines_held = list(known[benchmark])
    titles = line_titles(lines_held)
    family = chosen.model.partition("@")[0]
    first = next((line.key for _, line in lines_held if line.name == family), lines_held[0][1].key)
    with right:
        key = links.pick(
            st.selectbox, "Model", "line", list(titles), default=first, format_func=lambda key: titles.get(key, key)
        )
    show.about("trajectories", "", benchmark)
    return benchmark, next(line for _, line in lines_held if line.key == key), lines_held


def line_titles(lines_held: Sequence[Held]) -> dict[str, str]:
    """Line's key → its title, with the study where the same model has lines of several."""
    names: dict[str, str] = {}
    for study in judged.STUDIES:
        names |= naming.names_of([line for name, line in lines_held if name == study])
    many = list(names.values())
    return {
        line.key: f"{names[line.key]}, {run_names.study_title(study)}" if many.count(names[line.key]) > 1
        else names[line.key]
        for study, line in lines_held
    }  # fmt: skip


def doses(benchmark: str, line: Line, items: pd.DataFrame) -> dict[str, float]:
    """Instance → how often the glass box's corpus holds what decides it, as far as it is known on this machine."""
    return judged.doses(benchmark, line, items, lambda: list(known_instances(benchmark).values()))


def known_instances(benchmark: str) -> Mapping[str, Instance]:
    """The instances of a benchmark whose texts are on this machine; {} where they are not."""
    return instance_list.listing(benchmark).by_id if texts.are_here(benchmark) else {}
