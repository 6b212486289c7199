"""Files of a benchmark fetched in the background."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from explorer import benchmarks
from explorer.ontologies import as_benchmark
from explorer.ui import jobs, resources


def start(name: str, title: str) -> None:
    """Fetches a benchmark's files in the background."""
    _start(benchmarks.load, name, title)


def start_ontology(name: str, title: str) -> None:
    """Fetches an ontology's file in the background."""
    _start(as_benchmark.load, name, title)


def _start(load: Callable[..., Any], name: str, title: str) -> None:
    settings = resources.settings()

    def work(report: jobs.Report) -> None:
        def report_bytes(done: int, total: int) -> None:
            report(f"{done / 1e6:.1f} of {total / 1e6:.1f} MB", done / total if total else 0.0)

        load(name, settings, progress=report_bytes)

    jobs.start(title, work)
