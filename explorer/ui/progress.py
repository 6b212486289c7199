"""The runs that are being worked on, shown in the bar of every page until they are done, and what became of them."""

from __future__ import annotations

import html
import time
from collections.abc import Sequence

import streamlit as st

from explorer import display
from explorer.errors import StoreError
from explorer.figures.model_names import model_title
from explorer.results import queries
from explorer.runs import queue
from explorer.runs.queue import RunInfo
from explorer.ui import links, page_list, resources, run_names, show

LIVE = ("queued", "running")
EVERY = 2.0  # seconds between two looks
SHOWN = 2  # live runs in the bar
WAITS = "waiting for "  # and the id of the run that goes before
PATIENCE = 20.0  # seconds for a run that ended to appear in the database
ENDED = "run:ended"  # the runs that ended while this window was open and whose end was not put away yet


def draw_state() -> None:
    """A few words on the runs, which lead to their page; looked at anew for as long as any goes on."""
    live = [run for run in _runs_of_page() if run.status in LIVE]
    if live:
        _watch_state()
    else:
        _state(live)


@st.fragment(run_every=EVERY)
def _watch_state() -> None:
    _state(live_runs())


def _state(live: Sequence[RunInfo]) -> None:
    page_list.link(page_list.find("Runs"), state_in_words(live, _finished()), {}, icon=":material/stacks:")


def state_in_words(live: Sequence[RunInfo], finished: int) -> str:
    """How many runs are going on and waiting; where none is, how many are done: all three would be cut in the bar."""
    running = sum(run.status == "running" for run in live)
    parts = [f"{running} running"] if running else []
    parts += [f"{len(live) - running} waiting"] if len(live) > running else []
    return " · ".join(parts) or f"{finished:,} {'run' if finished == 1 else 'runs'} done"


def draw_progress() -> None:
    """The live runs, looked at anew every two seconds for as long as there are any; then what became of them."""
    runs = _runs_of_page()
    live = [run.run_id for run in runs if run.status in LIVE]
    before = set(st.session_state.get("live", ()))
    st.session_state["live"] = live
    ended = st.session_state.setdefault(ENDED, [])
    for run in runs:
        if run.run_id in before and run.status not in LIVE and run.run_id not in ended:
            ended.append(run.run_id)
    if live:
        _watch()
    for run in runs:
        if run.run_id in ended:
            _draw_end(run)


def expect(run_id: str) -> None:
    """A run that was just started: its end is told even where it ends before the next look."""
    st.session_state["live"] = [*st.session_state.get("live", ()), run_id]


def live_runs() -> list[RunInfo]:
    """Runs that are queued or being worked on: those that go on first, then by how long they wait."""
    live = [run for run in queue.list_runs(resources.settings()) if run.status in LIVE]
    return sorted(live, key=lambda run: (run.status == "queued", run.created))


def models_of_runs() -> list[str]:
    """Every model that has a run on this machine."""
    return list(dict.fromkeys(run.model for run in _runs_of_page() if run.model != "?"))


def read_runs() -> None:
    """Reads the list of runs once for this run of a page; every page begins so."""
    st.session_state["runs:listed"] = queue.list_runs(resources.settings())


def _runs_of_page() -> list[RunInfo]:
    if "runs:listed" not in st.session_state:
        read_runs()
    listed: list[RunInfo] = st.session_state["runs:listed"]
    return listed


def _finished() -> int:
    """How many stored runs are complete; none where the database cannot be read, which the page itself tells."""
    try:
        return int((resources.ask_store(queries.runs)["status"] == "complete").sum())
    except StoreError:
        return 0


@st.fragment(run_every=EVERY)
def _watch() -> None:
    live = live_runs()
    before, now = set(st.session_state.get("live", ())), {run.run_id for run in live}
    if now - before or _are_stored(before - now):
        # One began, or ended and is in the database: the whole page may have something new to show.
        links.run_page()
    if before - now:
        show.note("Storing what was found")
    for run in live[:SHOWN]:
        with st.container(horizontal=True, vertical_alignment="center", key=f"lx-live-{run.run_id}"):
            st.progress(_share(run), text=show.plain(f"{name_of(run)}: {describe(run)}"))
            st.button(
                "Cancel", key=f"cancel:bar:{run.run_id}", icon=":material/close:", type="tertiary",
                on_click=_cancel, args=(run.run_id,),
            )  # fmt: skip
    if len(live) > SHOWN:
        show.note(f"and {len(live) - SHOWN} more in the queue")


def _cancel(run_id: str) -> None:
    with show.problems():
        queue.cancel(resources.settings(), run_id)


def _draw_end(run: RunInfo) -> None:
    """What became of a run, in a sentence, with a link to what it found."""
    with st.container(horizontal=True, vertical_alignment="center", key=f"lx-ended-{run.run_id}"):
        show.note(end_in_words(run))
        if run.status == "complete":
            page_list.link_to_result(run.study, "See what it found", run.model, run.benchmark, run.run_id)
        else:
            page_list.link_to("Runs", "Look at it", shown=run.run_id)
        st.button(
            "Put away", key=f"seen:{run.run_id}", icon=":material/close:", type="tertiary",
            on_click=put_away, args=(run.run_id,),
        )  # fmt: skip


def put_away(run_id: str) -> None:
    """Tells no more how this run ended; whoever clicks twice says it twice."""
    st.session_state[ENDED] = [other for other in st.session_state.get(ENDED, ()) if other != run_id]


def end_in_words(run: RunInfo) -> str:
    """How a run ended, in one sentence."""
    if run.status == "complete":
        return f"{name_of(run)} is done: {display.counted(run.done, 'instance')}."
    if run.status == "cancelled":
        return f"{name_of(run)} was cancelled after {run.done:,} of {run.total:,} instances, which are kept."
    return f"{name_of(run)} stopped: {run.message or run.status}"


def name_of(run: RunInfo) -> str:
    """A run by its study, model and benchmark, as people call them."""
    return (
        f"{run_names.study_title(run.study)} of {model_title(run.model)} on {run_names.benchmark_title(run.benchmark)}"
    )


def _are_stored(run_ids: set[str]) -> bool:
    """Whether these runs, which ended, are in the database: they get there a moment later, or not at all."""
    if not run_ids:
        return False
    since = st.session_state.setdefault("live:since", time.monotonic())
    if run_ids <= _stored() or time.monotonic() - since > PATIENCE:
        del st.session_state["live:since"]
        return True
    return False


def _stored() -> set[str]:
    try:
        return set(resources.ask_store(queries.runs)["run_id"])
    except StoreError:
        return set()


def bar(run: RunInfo) -> None:
    """One run's progress, under its name: how far it is, and how long it will take."""
    st.html(f'<div class="lx-run"><span class="lx-quiet">{html.escape(describe(run))}</span></div>')
    st.progress(_share(run))


def _share(run: RunInfo) -> float:
    return min(1.0, run.done / run.total) if run.total else 0.0


def remark(run: RunInfo) -> str:
    """What a run that goes on no more left to say; what it waited for, named by an id, is past."""
    return "" if run.status in LIVE or run.message.startswith(WAITS) else run.message


def describe(run: RunInfo) -> str:
    """How far a run is, in words."""
    if run.status == "queued":  # what it waits for, which its message names by an id, stands above it
        return "waiting for its turn" if run.message.startswith(WAITS) else run.message or "waiting to start"
    if run.status != "running":
        return run.message or f"{run.done:,} of {run.total:,}"
    if not run.done:
        return run.message or "starting"
    left = f", about {show.duration(run.eta)} left" if run.eta == run.eta else ""
    return f"{run.done:,} of {run.total:,}{left}"
