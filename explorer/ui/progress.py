"""The runs that are being worked on, shown in the sidebar of every page until they are done."""

from __future__ import annotations

import html
import time

import streamlit as st

from explorer.results import queries
from explorer.runs import queue
from explorer.runs.queue import RunInfo
from explorer.ui import resources, show

LIVE = ("queued", "running")
EVERY = 2.0  # seconds between two looks
SHOWN = 4
PATIENCE = 20.0  # seconds for a run that ended to appear in the database


def draw_progress() -> None:
    """The live runs, looked at anew every two seconds for as long as there are any."""
    live = live_runs()
    before = set(st.session_state.get("live", ()))
    st.session_state["live"] = [run.run_id for run in live]
    for run in queue.list_runs(resources.settings()) if before - set(st.session_state["live"]) else ():
        if run.run_id in before and run.status not in LIVE:
            _tell_end(run)
    if live:
        _watch()


def live_runs() -> list[RunInfo]:
    """Runs that are queued or being worked on."""
    return [run for run in queue.list_runs(resources.settings()) if run.status in LIVE]


def models_of_runs() -> list[str]:
    """Every model that has a run on this machine."""
    return list(dict.fromkeys(run.model for run in queue.list_runs(resources.settings()) if run.model != "?"))


@st.fragment(run_every=EVERY)
def _watch() -> None:
    live = live_runs()
    before, now = set(st.session_state.get("live", ())), {run.run_id for run in live}
    if now - before or _are_stored(before - now):
        # One began, or ended and is in the database: the whole page may have something new to show.
        st.rerun()
    show.section("In progress")
    if before - now:
        show.note("Storing what was found")
    for run in live[:SHOWN]:
        bar(run)
    if len(live) > SHOWN:
        show.note(f"and {len(live) - SHOWN} more in the queue")


def _tell_end(run: RunInfo) -> None:
    icon = ":material/check:" if run.status == "complete" else ":material/info:"
    st.toast(show.plain(f"{run.study} on {run.benchmark}: {run.message or run.status}"), icon=icon)


def _are_stored(run_ids: set[str]) -> bool:
    """Whether these runs, which ended, are in the database: they get there a moment later, or not at all."""
    if not run_ids:
        return False
    since = st.session_state.setdefault("live:since", time.monotonic())
    if run_ids <= set(resources.ask(queries.runs)["run_id"]) or time.monotonic() - since > PATIENCE:
        del st.session_state["live:since"]
        return True
    return False


def bar(run: RunInfo) -> None:
    """One run's progress: its name, how far it is, and how long it will take."""
    share = min(1.0, run.done / run.total) if run.total else 0.0
    st.html(
        f'<div class="lx-run"><b>{html.escape(run.study)}</b> {html.escape(run.benchmark)}'
        f'<span class="lx-quiet">{html.escape(describe(run))}</span></div>'
    )
    st.progress(share)


def describe(run: RunInfo) -> str:
    """How far a run is, in words."""
    if run.status == "queued":
        return run.message or "waiting to start"
    if run.status != "running":
        return run.message or f"{run.done:,} of {run.total:,}"
    if not run.done:
        return run.message or "starting"
    left = f", about {show.duration(run.eta)} left" if run.eta == run.eta else ""
    return f"{run.done:,} of {run.total:,}{left}"
