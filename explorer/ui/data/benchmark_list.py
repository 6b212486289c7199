"""The benchmarks: which are on this machine, what the chosen one holds, and where a missing file belongs."""

from __future__ import annotations

import html

import pandas as pd
import streamlit as st

from explorer import benchmarks as registry
from explorer import languages
from explorer.benchmarks import sources
from explorer.benchmarks.core.benchmark import Benchmark
from explorer.settings import Settings
from explorer.ui import downloads, instance_list, inventory, jobs, resources, show, visitor
from explorer.ui.columns import text_column


def draw_benchmark_list(name: str) -> None:
    """The chosen benchmark in detail, then all of them."""
    jobs.draw_jobs()
    settings = resources.settings()
    benchmark = registry.find(name, settings)
    st.subheader(show.plain(benchmark.title), anchor=False)
    missing = registry.missing_files(benchmark, settings)
    if missing:
        _missing(benchmark, missing, settings)
    else:
        _present(benchmark)
    st.subheader("All benchmarks", anchor=False)
    show.table(
        inventory.benchmark_table(inventory.benchmarks()),
        "benchmarks",
        columns={
            "title": "Benchmark",
            "kind": text_column("Kind", width=140),
            "language": "Language",
            "state": "Files",
            "license": "License",
            "note": text_column("Remark", width=400),
        },
        height=420,
    )
    if visitor.is_trusted():
        folder = f"your folder {settings.data}, then " if settings.data else ""
        show.note(f"Files are looked for in {folder}{settings.datasets}, then at the published address.")


def _present(benchmark: Benchmark) -> None:
    listing = instance_list.listing(benchmark.name)
    loaded = resources.instances(benchmark.name)
    show.numbers(
        [
            ("Instances", f"{len(listing.by_id):,}", f"Splits: {', '.join(benchmark.default_splits)}."),
            ("Groups", f"{len(listing.groups):,}", "Paradigms, suites, bias types or classes."),
            ("Rows left out", f"{len(loaded.left_out):,}", "Rows of the files that became no instance."),
        ]
    )
    facts = [f"Language: {languages.in_words(benchmark.language)}", f"Source: {loaded.source}"]
    facts += [f"License: {benchmark.license}"] if benchmark.license else []
    facts += [f"Published as {benchmark.hub_id}"] if benchmark.hub_id else []
    facts += [benchmark.note] if benchmark.note else []
    show.note(". ".join(fact.rstrip(".") for fact in facts) + ".")
    if loaded.left_out:

        def draw() -> None:
            rows = pd.DataFrame([{"where": row.where, "reason": row.reason} for row in loaded.left_out])
            show.table(rows, f"left out of {benchmark.name}", columns={"where": "Where", "reason": "Why"})

        show.folded("Rows left out", "left-out", draw)
    sample = next(iter(listing.by_id.values()))
    show.section("For example")
    st.html(f'<p class="lx-sentence">{html.escape(instance_list.summary(sample, 240))}</p>')


def _missing(benchmark: Benchmark, missing: list[sources.SourceFile], settings: Settings) -> None:
    size = sum(file.size for file in missing)
    amount = f" ({size / 1e6:.1f} MB)" if size else ""
    show.nothing_yet(
        f"{len(missing)} of its files are not on this machine",
        sources.where_to_put(benchmark.title, missing, settings)
        if visitor.is_trusted()
        else "Whoever runs this app can put them there; docs/DATA.md lists every file.",
    )
    if all(file.urls for file in missing):
        st.button(
            f"Download{amount}",
            key=f"download:{benchmark.name}",
            icon=":material/download:",
            disabled=jobs.is_running(benchmark.title),
            on_click=downloads.start,
            args=(benchmark.name, benchmark.title),
        )
