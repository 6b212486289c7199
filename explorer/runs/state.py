"""How far a run is, who works on it, and the mark by which it is told to stop.

Three files, none of which a reader has to lock:

    progress.json   rewritten as a whole about once a second; what it says is believed only while the lock is held
    lock            held by the worker as long as it lives; the system frees it when the worker dies, however it dies
    cancel          a mark anyone may put; the worker looks for it many times a second and takes it away when it ends
"""

from __future__ import annotations

import contextlib
import math
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock

from explorer import sharing, stopping
from explorer.errors import RunError
from explorer.runs import files, validation
from explorer.runs.bounded_json import LATEST_DATE
from explorer.runs.parts import Parts

STARTING = 30.0  # seconds a new worker may take before it holds its run's lock
ENDING = 60.0  # seconds a cancelled worker may take to store what is finished


class Cancelled(BaseException):
    """Somebody put the cancel mark; no `except Exception` keeps it."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is. `rate` is instances a second, `eta` seconds left (nan where unknown)."""

    status: str  # queued, running, interrupted, complete, failed, cancelled
    done: int = 0
    total: int = 0
    rate: float = float("nan")
    eta: float = float("nan")
    message: str = ""
    created: float = 0.0
    updated: float = 0.0


class Worked(Parts):
    """A run as something that is worked on."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.log = path / "log.txt"

    # Progress

    def write_progress(self, **changes: Any) -> None:
        """Merges the changes into progress.json."""
        now = files.read_json(self.path / "progress.json")
        files.write_json(self.path / "progress.json", {**now, **changes, "updated": time.time()})

    # progress.json says what its worker last wrote, and a killed worker writes no farewell. The lock is what cannot
    # lie, for the system frees it with the process:
    #
    #     written      lock      told as
    #     running      held      running
    #     running      free      interrupted
    #     queued       free      queued in its first 30 seconds (the worker is still importing), interrupted after
    #     complete     free      complete, unless a part has been taken away since
    def progress(self) -> Progress:
        """The run's progress; a worker that died without a word reads "interrupted"."""
        now = validation.progress(files.read_json(self.path / "progress.json"))
        done = sum(last - first + 1 for first, last in self.finished())
        status: str = now.status
        # A worker just started needs a moment before it holds the lock.
        fresh = time.time() - now.updated < STARTING
        if status in ("running", "queued") and not (fresh and status == "queued") and not self.is_being_worked():
            status = "interrupted"
        # Somebody removed a damaged part: what the progress says no longer holds.
        if status == "complete" and self.unfinished(now.total):
            status = "interrupted"
        return Progress(
            status=status,
            done=max(done, now.done) if status == "running" else done,
            total=now.total,
            rate=now.rate,
            eta=now.eta if status == "running" else math.nan,
            message=now.message,
            created=now.created or self._begun(),
            updated=now.updated,
        )

    def _begun(self) -> float:
        """When spec.json was written, for a run whose progress does not say when it began."""
        with contextlib.suppress(OSError):
            return min(max(0.0, (self.path / "spec.json").stat().st_mtime), LATEST_DATE)
        return 0.0

    def log_tail(self, lines: int = 200) -> str:
        """The last lines of the log."""
        try:
            with self.log.open("rb") as file:
                file.seek(max(0, self.log.stat().st_size - 400 * lines))
                return "\n".join(file.read().decode("utf-8", "replace").splitlines()[-lines:])
        except OSError:
            return ""

    # The lock

    def lock(self) -> FileLock:
        """The lock that a worker holds for as long as it works; the system frees it when the worker dies."""
        return sharing.lock_at(self.path / "lock")

    def is_being_worked(self) -> bool:
        """Whether some process holds the lock now."""
        return files.is_locked(self.path / "lock")

    def wait_for_worker(self, seconds: float = ENDING) -> None:
        """Returns when nobody works on the run; RunError where its worker was not told to stop, or does not."""
        # Deleting a folder in which a worker still writes would leave half of a run behind, so its end is waited for.
        end = time.monotonic() + seconds
        # A worker that stops takes the mark away a moment before it frees the lock.
        ends = self.is_asked_to_cancel() or not self._is_going_on()
        while self.is_being_worked():
            if not ends:
                raise RunError(f"{self.run_id} is being worked on. Cancel it first, then delete it.")
            if time.monotonic() > end:
                raise RunError(
                    f"{self.run_id} was cancelled, but its worker has not ended in {seconds:.0f} s; it may be storing "
                    "what is finished. Try again in a moment."
                )
            stopping.pause(stopping.SLICE)

    def _is_going_on(self) -> bool:
        return validation.progress(files.read_json(self.path / "progress.json")).status in ("queued", "running")

    # The cancel mark

    def ask_to_cancel(self) -> None:
        """Puts the cancel mark; RunError where another account does not allow it."""
        try:
            (self.path / "cancel").touch()
        except OSError as error:
            raise RunError(
                sharing.kept_from_us(self.path, writing=True)
                or f"The mark that cancels could not be put into {self.path} ({error.strerror or error})."
            ) from error

    def is_asked_to_cancel(self) -> bool:
        """Whether the cancel mark is there."""
        return os.path.exists(self.path / "cancel")

    def stop_if_cancelled(self) -> None:
        """Raises Cancelled at a cancel mark."""
        if self.is_asked_to_cancel():
            raise Cancelled

    def clear_cancel(self) -> None:
        (self.path / "cancel").unlink(missing_ok=True)
