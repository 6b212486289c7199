"""The runs that are being worked on, shown in the sidebar of every page until they are done."""

from __future__ import annotations

import html

import streamlit as st

from explorer.runs import queue
from explorer.runs.queue import RunInfo
from explorer.ui import resources, show

LIVE = ("queued", "running")
EVERY = 2.0  # seconds between two looks
SHOWN = 4


def draw() -> None:
    """The live runs, looked at anew every two seconds for as long as there are any."""
    live = live_runs()
    st.session_state["live"] = [run.run_id for run in live]
    if live:
        _watch()


def live_runs() -> list[RunInfo]:
    """Runs that are queued or being worked on."""
    return [run for run in queue.list_runs(resources.settings()) if run.status in LIVE]


def models_of_runs() -> list[str]:
    """Every model that has a run on this machine."""
    return list(dict.fromkeys(run.model for run in queue.list_runs(resources.settings()) if run.status != "damaged"))


@st.fragment(run_every=EVERY)
def _watch() -> None:
    live = live_runs()
    if {run.run_id for run in live} != set(st.session_state.get("live", ())):
        # One ended or began: the whole page may have something new to show.
        st.rerun()
    show.section("In progress")
    for run in live[:SHOWN]:
        bar(run)
    if len(live) > SHOWN:
        show.note(f"and {len(live) - SHOWN} more in the queue")


def bar(run: RunInfo) -> None:
    """One run's progress: its name, how far it is, and how long it will take."""
    share = min(1.0, run.done / run.total) if run.total else 0.0
    st.html(
        f'<div class="lx-run"><b>{html.escape(run.study)}</b> {html.escape(run.benchmark)}'
        f'<span class="lx-quiet">{html.escape(told(run))}</span></div>'
    )
    st.progress(share)


def told(run: RunInfo) -> str:
    """How far a run is, in words."""
    if run.status == "queued":
        return run.message or "waiting to start"
    if run.status != "running":
        return run.message or f"{run.done:,} of {run.total:,}"
    if not run.total:
        return run.message or "starting"
    left = f", about {show.duration(run.eta)} left" if run.eta == run.eta else ""
    return f"{run.done:,} of {run.total:,}{left}"
