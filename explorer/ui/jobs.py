"""Long preparations (a model, a download) done in a thread beside the pages: leaving the page does not stop them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from explorer.errors import ExplorerError
from explorer.ui import links, show, visitor

Report = Callable[[str, float], None]  # what is being done, and the share of all that is done, 0 to 1
EVERY = 1.0  # seconds between two looks


@dataclass(slots=True)
class Job:
    """A preparation: what it makes, how far it is, and how it ended."""

    name: str
    text: str = "Starting"
    share: float = 0.0
    fault: str = ""
    done: bool = False


def start(name: str, work: Callable[[Report], object]) -> None:
    """Begins the work, unless it is being done already."""
    jobs = _jobs()
    if name in jobs and not jobs[name].done:
        return
    job = jobs[name] = Job(name)

    def report(text: str, share: float) -> None:
        job.text, job.share = text, min(1.0, max(0.0, share))

    def run() -> None:
        try:
            work(report)
            job.text, job.share = "Ready", 1.0
        except ExplorerError as error:
            job.fault = str(error)
        except Exception as error:
            job.fault = f"{type(error).__name__}: {error}"
        finally:
            job.done = True

    threading.Thread(target=run, name=f"prepare {name}", daemon=True).start()


def is_running(name: str) -> bool:
    """Whether this preparation is going on now."""
    job = _jobs().get(name)
    return job is not None and not job.done


def draw_jobs(name: str = "") -> None:
    """How the preparations are going, or that of this name alone; the page is drawn anew when one ends."""
    _forget_seen(name)
    if any(not job.done for job in _jobs_named(name)):
        _watch(name)
    else:
        _show(name)


@st.fragment(run_every=EVERY)
def _watch(name: str) -> None:
    running = {job.name for job in _jobs().values() if not job.done}
    if running != st.session_state.setdefault("jobs:running", running):
        st.session_state["jobs:running"] = running
        links.run_page()
    _show(name)


def _jobs_named(name: str) -> list[Job]:
    return [job for job in list(_jobs().values()) if name in ("", job.name)]


def _show(name: str) -> None:
    for job in _jobs_named(name):
        if job.fault:
            st.error(show.plain(f"{job.name}: {visitor.for_visitor(job.fault)}"))
        elif job.done:
            st.success(show.plain(f"{job.name} is ready."))
        else:
            st.progress(job.share, text=show.plain(f"{job.name}: {job.text}"))


def _forget_seen(name: str) -> None:
    """A job that ended is told once in each window."""
    seen = st.session_state.setdefault("jobs:seen", set())
    for job in _jobs_named(name):
        if job.done and id(job) in seen:
            _jobs().pop(job.name, None)
        elif job.done:
            seen.add(id(job))


@st.cache_resource(show_spinner=False)
def _jobs() -> dict[str, Job]:
    return {}
