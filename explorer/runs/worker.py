"""The process that does a run: part by part, each stored before the next, stopping at a cancel mark.

On a cluster the parts are made elsewhere, and this process hands them out; all else is the same.
"""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import os
import platform
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from filelock import Timeout

from explorer import admission, stopping
from explorer.errors import ExplorerError, RunError
from explorer.runs import compute_target as places
from explorer.runs import environment, head_start, imported, own_cards, part, part_processes, pipeline
from explorer.runs.bucket import Bucket
from explorer.runs.compute_target import ComputeTarget
from explorer.runs.folder import RunFolder
from explorer.runs.interrupt import interrupted
from explorer.runs.queue import leave_queue, wait_for_turn
from explorer.runs.state import Cancelled
from explorer.scoring import own_process
from explorer.studies import study as find_study

if TYPE_CHECKING:
    from explorer.resources import Resources

Say = Callable[[str], None]
Progress = Callable[[int, int], None]
OnCluster = Callable[[RunFolder, part.RunWork, ComputeTarget, "Meter", Say], None]


INGESTED_AHEAD = 5_000  # instances from which it pays to put parts into the database while the findings are made
NEARLY_DONE = 20.0  # seconds before the end of a run, about, from which parts go into the database as they are made
BROKEN_OFF = "Broken off while its findings were made; resume goes on."  # what the database says until they are there
CANCELLED = "Cancelled; what was finished is kept, resume goes on."


# What resuming rests on. A run's state is its files, and only the holder of its lock makes parts:
#
#     lock taken       another worker of the same run gives up after ten seconds; the system frees the lock of a process
#                      that was killed, so that no stale lock is ever left
#     queued           waits its turn in cache/queue (one run at a time on a machine)
#     running          unfinished parts only: parts 0-15 and 48-111 are there, so 16-47 and 112-... are made
#     concluding       all parts are there; the findings are made from them and written
#     storing          the rows go into the database
#     complete         last of all, so that who reads "complete" finds the rows
#
# Whatever ends it earlier (a cancel mark, a fault, Ctrl+C, a kill, a power cut) leaves whole parts and no others, and
# the next worker begins at "lock taken" with what `unfinished` lists. Nothing is undone, and nothing is remembered
# elsewhere.
def work(
    folder: RunFolder,
    resources: Resources,
    say: Say,
    progress: Progress | None = None,
    *,
    wait: bool = True,
    on_cluster: OnCluster | None = None,
) -> str:
    """Does what is left of a run and returns its status; a second worker on the same run is refused.

    `on_cluster` makes the parts of a run that is to be done on a cluster; without it such a run fails.
    """
    folder.refuse_if_kept()
    try:
        lock = folder.lock().acquire(timeout=10)
    except Timeout as error:
        raise RunError(f"{folder.run_id} is being worked on already; `python -m explorer runs` shows it.") from error
    with lock:
        if not (folder.path / "spec.json").exists():
            raise RunError(f"{folder.run_id} was deleted before its worker came to it.")
        folder.write_progress(status="queued", pid=os.getpid(), host=platform.node(), message="")
        try:
            with interrupted(folder.is_asked_to_cancel), stopping.until(folder.stop_if_cancelled):
                stopping.look()
                where = places.checked_target(places.read_target(folder))
                if folder.is_confined:
                    if where.cluster:
                        raise RunError(
                            "A visitor from elsewhere asked for this run, so it is done on this machine alone."
                        )
                    resources.admit = admission.for_visitors(resources.settings)
                # A cluster with an address shares out its own processors and cards.
                if wait and where.cluster in ("", places.AUTO):
                    wait_for_turn(folder, resources.settings, say)
                _run(folder, resources, where, say, progress or (lambda done, total: None), on_cluster)
            status, message = "complete", ""
        except Cancelled:
            status, message = "cancelled", CANCELLED
        except KeyboardInterrupt:
            folder.write_progress(status="interrupted", message="Interrupted; resume goes on.")
            raise
        except Exception as error:
            # A library that was interrupted may make an error of its own of it.
            if folder.is_asked_to_cancel():
                status, message = "cancelled", CANCELLED
            else:
                status, message = "failed", _describe(error)
        finally:
            if not resources.keeps_process:
                resources.end_process()
            leave_queue()
        if status != "complete":
            resources.end_process()  # rows that nobody waits for may still lie there
        # Into the database first: who reads "complete" finds the rows there. A kill in between leaves a run that is
        # not complete, and resume stores it anew.
        try:
            folder.write_progress(message="storing")
            resources.ingest(folder, status, message)
        except Exception as error:
            message = f"{message} {_describe(error)}".strip()
            status = "failed" if status == "complete" else status
        folder.clear_cancel()
        folder.write_progress(status=status, message=message)
        if status == "complete":
            _close_bucket(folder, say)
        say(f"{folder.run_id}: {status}{'. ' + message if message else ''}")
    return status


def _describe(error: Exception) -> str:
    if isinstance(error, ExplorerError):
        return " ".join(str(error).split())
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror}. Make room or allow it, then resume."
    traceback.print_exception(error, file=sys.stderr)
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def _run(
    folder: RunFolder,
    resources: Resources,
    where: ComputeTarget,
    say: Say,
    progress: Progress,
    on_cluster: OnCluster | None,
) -> None:
    if mark := imported.label(folder.spec):
        raise RunError(f"This run is {mark}: its answers were made elsewhere. Import its file again to mend it.")
    folder.write_progress(status="running", message="loading")
    spec = folder.spec
    if where.shard:
        resources.settings = dataclasses.replace(resources.settings, shard=True)
    may_be_apart = find_study(spec.study).may_be_apart(spec.settings)
    resources.cards = own_cards.cards_of(where, spec.model, may_be_apart=may_be_apart)
    if may_be_apart and (resources.cards or not where.cluster):
        resources.begin_process(spec.model, spec.dtype)  # it loads while the benchmark is read
    else:
        resources.end_process()  # one that an earlier run kept cannot do all that this one asks
        if not where.cluster and find_study(spec.study).needs_model:
            resources.load_here_ahead(spec.model, spec.dtype)
    if dropped := folder.drop_damaged():
        say(f"Damaged, so made again: {', '.join(dropped)}")
    work = part.prepare(folder.spec, resources)
    folder.write_progress(total=len(work.instances))
    meter = Meter(folder, len(work.instances), progress)
    if resources.cards and resources.process_of(spec.model, spec.dtype):
        say(f"on {len(resources.cards)} GPUs of this machine")
        _make_on_this_machine(folder, work, meter)
    elif where.cluster:
        places.require_ray()
        if on_cluster is None:
            raise RunError("This worker has no way to a cluster; start the run with `python -m explorer run`.")
        say(f"on {where.in_words}")
        on_cluster(folder, work, where, meter, say)
    else:
        _make_on_this_machine(folder, work, meter)
    if differences := folder.differences():
        say(f"Parts of this run were made under different environments: {'; '.join(differences)}")


def _make_on_this_machine(folder: RunFolder, work: part.RunWork, meter: Meter) -> None:
    recipe = work.recipe

    def stamp() -> str:
        made_with = environment.collect(work.spec, work.resources, needs_model=recipe.needs_model)
        meter.restart()
        return folder.keep_environment(made_with)

    if not work.resources.has_process:
        stamp = _always(stamp())
    is_large = len(work.instances) >= INGESTED_AHEAD
    if is_large and work.resources.has_process:
        meter.when_nearly_done = lambda: work.resources.ingest_as_made(folder, "interrupted", BROKEN_OFF)
    with _settled_memory():
        _make_parts(folder, work, meter, stamp)
        if not work.resources.keeps_process:
            work.resources.end_process(wait=False)
        folder.write_progress(message="concluding")
        if is_large:
            work.resources.ingest_ahead(folder, "interrupted", BROKEN_OFF)
        folder.write_findings(recipe.summarize_run(work.spec, work.resources, folder))


def settle_memory() -> None:
    """Has the garbage collector leave alone what is there now, and come less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(200_000, *gc.get_threshold()[1:])


@contextlib.contextmanager
def _settled_memory() -> Iterator[None]:
    """Within it the garbage collector leaves alone what is there now: a benchmark's instances, the model, modules.

    Every part makes a hundred thousand records, after which the collector goes through all objects there are, again and
    again. Without this it takes a fifth of the time around the engine. It also comes less often: records hold no
    circles, so they go without it.
    """
    usual = gc.get_threshold()
    settle_memory()
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.unfreeze()


def _always(text: str) -> Callable[[], str]:
    return lambda: text


def _make_parts(folder: RunFolder, work: part.RunWork, meter: Meter, stamp: Callable[[], str]) -> None:
    recipe = work.recipe
    if recipe.stages is None or not recipe.stages.may_overlap(work.spec, work.resources):
        head_start.end(own_process.JUDGING_MODULE)
        _one_by_one(folder, work, meter, stamp())
        return
    model = None if folder.is_confined else work.resources.process_of(work.spec.model, work.spec.dtype)
    count = head_start.count_for(meter.total - meter.done, len(work.resources.cards)) if model else 0
    if model and count:
        part_processes.make_parts(folder, work, model, meter, stamp, count)
    else:
        head_start.end()  # processes that were begun for parts would lie in memory until the run ends
        pipeline.make_parts(folder, work, recipe.stages, meter, stamp)


# Parts grow until one takes some ten seconds: the first is small, so that a fault shows at once; later ones are large
# enough that writing them costs nothing beside making them.
def _one_by_one(folder: RunFolder, work: part.RunWork, meter: Meter, stamp: str) -> None:
    size = work.recipe.first_part
    for first, last in folder.unfinished(len(work.instances)):
        while first <= last:
            end = min(first + size - 1, last)
            amount = end - first + 1
            started = time.monotonic()
            folder.write_part(first, end, part.build_tables(work, first, end, meter.within(amount)), stamp)
            meter.add(amount)
            size = part.next_size(size, amount, time.monotonic() - started)
            first = end + 1


def _close_bucket(folder: RunFolder, say: Say) -> None:
    """The run's last word, so that its folder in the bucket is a whole run folder."""
    with contextlib.suppress(ExplorerError):
        if url := places.read_target(folder).to:
            try:
                Bucket(url, folder.run_id).send(folder.path / "progress.json", "progress.json")
            except RunError as error:
                say(str(error))


class Meter:
    """Writes progress at most once a second and looks for the cancel mark."""

    def __init__(self, folder: RunFolder, total: int, progress: Progress) -> None:
        self.folder = folder
        self.total = total
        self.progress = progress
        self.done = sum(last - first + 1 for first, last in folder.finished())
        self.written = -1.0
        self.when_nearly_done: Callable[[], None] | None = None  # called once, NEARLY_DONE seconds before the end
        self.restart()

    def restart(self) -> None:
        """Measures the rate from now on."""
        self.before = self.done
        self.started = time.monotonic()

    def within(self, size: int) -> Progress:
        """A progress callback for a part of `size` instances, told in the part's own units."""

        def step(done: int, of: int) -> None:
            self._report(self.done + size * done / max(of, 1))

        return step

    def add(self, size: int) -> None:
        """That many instances more are done."""
        self.done += size
        self._report(self.done, now=True)

    def look(self, message: str = "") -> None:
        """Nothing new, except that somebody may have put the cancel mark."""
        self._report(self.done, message=message)

    def _report(self, done: float, now: bool = False, message: str = "") -> None:
        self.folder.stop_if_cancelled()
        moment = time.monotonic()
        if not now and moment - self.written < 1.0:
            return
        self.written = moment
        rate = (done - self.before) / max(moment - self.started, 1e-6)
        eta = (self.total - done) / rate if rate > 0 else float("nan")
        self.folder.write_progress(done=int(done), rate=rate, eta=eta, message=message)
        if eta <= NEARLY_DONE and self.when_nearly_done:
            call, self.when_nearly_done = self.when_nearly_done, None
            call()
        self.progress(int(done), self.total)
