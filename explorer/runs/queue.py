"""Starting, queueing, cancelling and listing runs; the state is files, so any process can look.

A worker is its own process. It lines up in `cache/queue/` and waits until the live workers that came earlier are done:
one run at a time on a machine, unless EXPLORER_PARALLEL_RUNS says more.
"""

from __future__ import annotations

import contextlib
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from explorer import sharing, stopping
from explorer.errors import RunError
from explorer.records import RunSpec
from explorer.runs import compute_target as places
from explorer.runs import files, imported
from explorer.runs.compute_target import THIS_MACHINE, ComputeTarget
from explorer.runs.folder import RunFolder, all_folders
from explorer.runs.spec import run_id
from explorer.settings import ROOT, Settings

DAMAGED = "damaged"  # the status of a run whose spec cannot be read: it can be deleted, or asked for again
LONGEST_MESSAGE = 2_000  # characters
POLL = 0.5  # seconds between two looks at the line


@dataclass(frozen=True, slots=True)
class RunInfo:
    """A run as a list shows it. `created` is seconds since 1970, `rate` instances a second, `eta` seconds."""

    run_id: str
    study: str
    model: str
    benchmark: str
    status: str
    created: float
    done: int
    total: int
    rate: float
    eta: float
    message: str
    source: str = "here"  # or imported, or precomputed: in the file that comes with the explorer


def submit(settings: Settings, spec: RunSpec, where: ComputeTarget = THIS_MACHINE, *, confined: bool = False) -> str:
    """The run's id, after a worker process was started for it; asking for a complete or running one again finds it.

    `confined`: a visitor asks, by whose rule the run is done, unless it is there already.
    """
    is_new = not os.path.exists(settings.runs / run_id(spec) / "spec.json")
    folder = RunFolder.create(settings.runs, spec)
    if is_new or not confined:
        folder.confine(confined)
    if folder.progress().status != "complete" and not folder.is_being_worked():
        places.save_target(folder, where)
        start_worker(settings, folder)
    return folder.run_id


def resume(settings: Settings, run_id: str, where: ComputeTarget | None = None) -> str:
    """Starts a worker for what is left of a run, where it was done before unless another place is given."""
    folder = RunFolder.find(settings.runs, run_id)
    folder.refuse_if_kept()
    if folder.is_being_worked():
        raise RunError(f"{folder.run_id} is being worked on already.")
    imported.refuse_to_resume(folder)
    if where is not None:
        places.save_target(folder, where)
    start_worker(settings, folder)
    return folder.run_id


def cancel(settings: Settings, run_id: str) -> str:
    """Asks the run's worker to stop after the batch in hand; a run nobody works on is marked cancelled at once."""
    folder = RunFolder.find(settings.runs, run_id)
    if folder.progress().status == "complete":
        raise RunError(f"{folder.run_id} is complete; there is nothing to cancel.")
    if folder.is_being_worked():
        folder.ask_to_cancel()
    else:
        if folder.progress().status == "queued":
            folder.ask_to_cancel()  # its worker was started a moment ago and will see the mark
        folder.write_progress(status="cancelled", message="Cancelled; what was finished is kept, resume goes on.")
    return folder.run_id


def list_runs(settings: Settings) -> list[RunInfo]:
    """Every run on disk, the newest first; a folder whose spec is damaged is listed as such."""
    return [info(folder) for folder in all_folders(settings.runs)]


def info(folder: RunFolder) -> RunInfo:
    """One run as a list shows it."""
    refusal = folder.kept_from_us()
    now = folder.progress()
    try:
        spec = folder.spec
    except RunError as error:
        status = "unreadable" if refusal else DAMAGED
        message = " ".join(str(error).split())[:LONGEST_MESSAGE]
        return RunInfo(folder.run_id, "?", "?", "?", status, now.created, 0, 0, math.nan, math.nan, message)
    return RunInfo(
        run_id=folder.run_id,
        study=spec.study,
        model=spec.model,
        benchmark=spec.benchmark,
        status="unreadable" if refusal else now.status,
        created=now.created,
        done=now.done,
        total=now.total,
        rate=now.rate,
        eta=now.eta,
        message=refusal or _damaged_marks_message(folder) or now.message[:LONGEST_MESSAGE],
        source="imported" if imported.source(folder) else "here",
    )


def _damaged_marks_message(folder: RunFolder) -> str:
    """Which finished parts do not count since their marks are damaged, and what to do; "" where none."""
    marks = [] if folder.is_being_worked() else folder.damaged_marks()
    if not marks:
        return ""
    more = f" and {len(marks) - 1} more marks are" if len(marks) > 1 else " is"
    return (
        f"parts/{marks[0]}{more} damaged, so that these rows do not count. `python -m explorer resume "
        f"{folder.run_id}` makes them again and keeps the others."
    )


def start_worker(settings: Settings, folder: RunFolder) -> None:
    """Starts `python -m explorer work RUN` in a process of its own that outlives this one."""
    folder.refuse_if_kept()
    folder.clear_cancel()
    folder.write_progress(status="queued", message="")
    command = [sys.executable, "-m", "explorer", "work", folder.run_id, "--cache", str(settings.cache)]
    if settings.data:
        command += ["--data", str(settings.data)]
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    with folder.log.open("ab") as log:
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": path},
        )


# A line without anybody who keeps it: each worker puts a file with its time of arrival and holds a lock on it. Who is
# ahead is read off the names, who is alive off the locks.
#
#     queue/01764362000000000000-a1b2...   locked    works
#     queue/01764362007000000000-c3d4...   locked    waits: one is ahead of it
#     queue/01764362003000000000-e5f6...   free      its worker died: the file is removed by whoever looks
def wait_for_turn(folder: RunFolder, settings: Settings, say: Callable[[str], None]) -> None:
    """Returns when no earlier live worker is in line; raises Cancelled at a cancel mark."""
    line = settings.cache / "queue"
    line.mkdir(parents=True, exist_ok=True)
    ticket = line / f"{time.time_ns():020d}-{folder.run_id}"
    lock = sharing.lock_at(ticket)
    lock.acquire()  # held until this process ends: a dead worker leaves the line by itself
    _TICKETS.append(lock)
    announced = False
    while True:
        ahead = _live_tickets(settings, before=ticket.name)
        if len(ahead) < settings.parallel_runs:
            return
        folder.stop_if_cancelled()
        if not announced:
            say(f"Waiting for {ahead[0].name.split('-', 1)[1]}.")
            announced = True
        folder.write_progress(message=f"waiting for {ahead[0].name.split('-', 1)[1]}")
        stopping.pause(POLL)


def is_free(settings: Settings) -> bool:
    """Whether a run that began now would not wait, so that it may take the machine's memory."""
    return len(_live_tickets(settings)) < settings.parallel_runs


def _live_tickets(settings: Settings, before: str = "~") -> list[Path]:
    """The tickets of live workers, the earliest first; `before` a ticket only those that came earlier."""
    tickets = sorted((settings.cache / "queue").glob(_TICKET))
    return [ticket for ticket in tickets if ticket.name < before and _is_alive(ticket)]


def leave_queue() -> None:
    """Gives up this process's place in line."""
    while _TICKETS:
        lock = _TICKETS.pop()
        Path(lock.lock_file).unlink(missing_ok=True)
        lock.release()


_TICKET = "[0-9]" * 20 + "-*"  # an operating system may leave files of its own in a folder
_TICKETS: list[FileLock] = []


def _is_alive(ticket: Path) -> bool:
    if time.time_ns() - int(ticket.name.split("-", 1)[0]) < 2_000_000_000:
        return True  # made a moment ago: its worker may be about to lock it
    if files.is_locked(ticket):
        return True
    with contextlib.suppress(OSError):
        ticket.unlink(missing_ok=True)
    return False
