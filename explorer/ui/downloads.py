"""Files of a benchmark fetched in the background."""

from __future__ import annotations

from explorer import benchmarks
from explorer.ui import jobs, resources


def start(name: str, title: str) -> None:
    """Fetches a benchmark's files in the background."""
    settings = resources.settings()

    def work(report: jobs.Report) -> None:
        def report_bytes(done: int, total: int) -> None:
            report(f"{done / 1e6:.1f} of {total / 1e6:.1f} MB", done / total if total else 0.0)

        benchmarks.load(name, settings, progress=report_bytes)

    jobs.start(title, work)
