"""The texts that stored runs do not keep: taken from a benchmark on this machine, or offered to be fetched."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from explorer import benchmarks
from explorer.ontologies import as_benchmark
from explorer.ontologies import load as ontologies
from explorer.rows.builders import instance_of, payload
from explorer.ui import downloads, instance_list, jobs, resources, run_names, show
from explorer.variants.swapped import swapped_instance


def are_here(benchmark: str) -> bool:
    """Whether a benchmark can be read without fetching anything."""
    settings = resources.settings()
    if as_benchmark.is_ontology(benchmark):  # no name of explorer/benchmarks
        return ontologies.is_here(benchmark, settings)
    if benchmark not in benchmarks.names(settings):  # a file that a run was made of, and that is gone
        return False
    return not benchmarks.missing_files(benchmarks.find(benchmark, settings), settings)


def offer(benchmark: str) -> None:
    """Says that the numbers come without their texts, with a button that fetches those."""
    settings = resources.settings()
    if as_benchmark.is_ontology(benchmark):
        _offer_ontology(benchmark)
        return
    if benchmark not in benchmarks.names(settings):
        show.note(f"The numbers are here; the file {benchmark} that they are about is not on this machine.")
        return
    benchmark_of_texts = benchmarks.find(benchmark, settings)
    missing = benchmarks.missing_files(benchmark_of_texts, settings)
    jobs.draw_jobs(benchmark_of_texts.title)
    with st.container(horizontal=True, vertical_alignment="center"):
        show.note(f"The numbers are here; the texts of {benchmark_of_texts.title} are not on this machine.")
        if all(file.urls for file in missing):
            st.button(
                f"Fetch the texts ({sum(file.size for file in missing) / 1e6:.1f} MB)",
                key=f"fetch:{benchmark}",
                icon=":material/download:",
                disabled=jobs.is_running(benchmark_of_texts.title),
                on_click=downloads.start,
                args=(benchmark, benchmark_of_texts.title),
            )
        else:
            show.note("They are not published in this form: docs/DATA.md says where to put them.")


def filled(frame: pd.DataFrame, benchmark: str) -> pd.DataFrame:
    """The frame with gaps in `payload` and `variant` filled from the benchmark, where that is on this machine.

    A variant is its instance with the swaps of `edit` made again. What cannot be filled stays empty.
    """
    gaps = frame["payload"].isna() | (frame["variant"].isna() & frame["edit"].notna())
    if not gaps.any() or (frame["payload"].isna().any() and not are_here(benchmark)):
        return frame
    known = instance_list.listing(benchmark).by_id if are_here(benchmark) else {}
    rows = []
    for row in frame.to_dict("records"):
        instance = known.get(str(row["instance_id"]))
        if instance is not None and not isinstance(row["payload"], str):
            row["payload"] = payload(instance)
        if isinstance(row["payload"], str) and not isinstance(row["variant"], str) and isinstance(row["edit"], str):
            swaps = json.loads(row["edit"]).get("swaps") or []
            row["variant"] = payload(swapped_instance(instance_of(row["payload"]), swaps))
        rows.append(row)
    return pd.DataFrame(rows, columns=list(frame.columns))


def _offer_ontology(name: str) -> None:
    title = run_names.benchmark_title(name)
    jobs.draw_jobs(title)
    with st.container(horizontal=True, vertical_alignment="center"):
        show.note(f"The numbers are here; the concepts of {title} are not on this machine.")
        st.button(
            "Fetch the ontology", key=f"fetch:{name}", icon=":material/download:",
            disabled=jobs.is_running(title), on_click=downloads.start_ontology, args=(name, title),
        )  # fmt: skip


def sentences(benchmark: str, ids: Sequence[str], most: int = 120) -> dict[str, str]:
    """Instance → its text in one line of at most so many characters; of those whose texts are on this machine."""
    if not ids or not are_here(benchmark):
        return {}
    known = instance_list.listing(benchmark).by_id
    return {name: instance_list.summary(known[name], most) for name in ids if name in known}
