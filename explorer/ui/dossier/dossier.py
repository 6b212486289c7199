"""Everything stored about one instance: every study, every model, each number with the run that it is from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from explorer.records import Instance
from explorer.results import queries_dossier
from explorer.studies import STUDIES, study
from explorer.ui import resources, show
from explorer.ui.dossier import (
    dossier_memory,
    dossier_ontology,
    dossier_popularity,
    dossier_priming,
    dossier_swaps,
    dossier_verdicts,
    picture,
)
from explorer.ui.dossier.dossier_rows import DossierRows, gather
from explorer.ui.layout import Chosen

NUMBERS = "dossier:numbers"  # whether the tables are open


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the dossier: its heading, and the studies whose runs fill it."""

    title: str
    studies: tuple[str, ...]
    draw: Callable[[DossierRows, Chosen], None]


SECTIONS = (
    Section(
        "Verdicts", ("accuracy", "popularity", "perturbation", "memorization"), dossier_verdicts.draw_dossier_verdicts
    ),
    Section("Popularity", ("popularity", "perturbation"), dossier_popularity.draw_dossier_popularity),
    Section("Swapped words", ("perturbation",), dossier_swaps.draw_dossier_swaps),
    Section("Priming", ("priming",), dossier_priming.draw_dossier_priming),
    Section("Ontology", ("ontology",), dossier_ontology.draw_dossier_ontology),
    Section("Memorization", ("memorization",), dossier_memory.memorization),
    Section("In-context learning", ("icl",), dossier_memory.replication),
)


def draw_dossier(instance_id: str, kind: str, chosen: Chosen, instance: Instance | None = None) -> None:
    """The dossier of an instance; `instance` is none where its text is not on this machine."""
    dossier = resources.ask_shared(gather, instance_id, instance)
    st.header("What the stored runs say about this instance", anchor=False)
    show.about("dossier", benchmark=chosen.benchmark, n=1)
    if dossier.runs.empty:
        show.note("Nothing is stored about this instance yet.")
        _offer(kind, (), chosen)
        return
    warn_of_other_texts(dossier)
    with show.lens("The picture"):
        picture.draw_picture(instance_id, instance, chosen)
    models = dossier.runs["model"].nunique()
    runs = "1 stored run" if len(dossier.runs) == 1 else f"{len(dossier.runs):,} stored runs"
    numbers = st.expander(
        f"The numbers: {runs} of {models} {'model' if models == 1 else 'models'}", key=NUMBERS, on_change="rerun"
    )
    if numbers.open:
        with numbers:
            draw_numbers(dossier, chosen)
    _offer(kind, tuple(set(dossier.runs["study"])), chosen)


def draw_numbers(dossier: DossierRows, chosen: Chosen) -> None:
    """A table per section, every number with the run that it is from."""
    for section in SECTIONS:
        of_section = dossier.of(section.studies)
        if len(of_section.runs):
            st.subheader(section.title, anchor=False)
            with show.lens(f"“{section.title}”"):
                section.draw(of_section, chosen)


def warn_of_other_texts(dossier: DossierRows) -> None:
    """A warning where runs saw another text under this id than the one shown, or than each other."""
    shown = dossier.instance.text_hash if dossier.instance else dossier.runs["text_hash"].iloc[0]
    other = dossier.runs[dossier.runs["text_hash"] != shown]
    if other.empty:
        return
    named = ", ".join(str(run_id) for run_id in other["run_id"][:4]) + (" and others" if len(other) > 4 else "")
    than = "the one shown above" if dossier.instance else "the other runs"
    st.warning(
        show.plain(f"{len(other):,} of these runs saw another text under this id than {than}: {named}."),
        icon=":material/difference:",
    )


def _offer(kind: str, studies: tuple[str, ...], chosen: Chosen) -> None:
    """Names the studies that would add to the dossier, and how to run the first from the command line."""
    missing = [name for name in STUDIES if kind in study(name).kinds and name not in studies]
    if not missing:
        return
    if studies:
        show.note(f"Not stored yet: {', '.join(study(name).title for name in missing)}.")
    show.command_line(f"python -m explorer run {missing[0]} --model {chosen.model} --benchmark {chosen.benchmark}")


def stored_ids(benchmark: str, part: str = "") -> Mapping[str, str]:
    """Ids of a benchmark's instances that runs know and that hold `part`, with what each is called."""
    instances: pd.DataFrame = resources.ask_store(queries_dossier.stored, benchmark, part)
    return {
        str(row["instance_id"]): f"{row['instance_id']} · {row['runs']:,} {'run' if row['runs'] == 1 else 'runs'}"
        for row in instances.to_dict("records")
    }
