"""The parts of a run made by several processes, while one process has the model that scores for all of them.

    this process     hands out instances, passes rows and scores on, counts what is done, concludes
    part process 1   prepare | wait for scores | make rows, write      part after part, by runs/pipeline.py
    part process 2   ...
    model's process  forward passes, in the order in which rows come

Where contexts are drawn or many short texts are encoded, one interpreter makes rows more slowly than a GPU scores
them: it waited for half of a priming run (bench/RESULTS.md). A part process writes and marks its parts itself, as a
node of a cluster does, so that what is there after a kill is whole parts and no others.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from explorer import stopping
from explorer.errors import ExplorerError, RunError
from explorer.processors import usable_processors
from explorer.runs import spec as specs
from explorer.runs.folder import RunFolder
from explorer.runs.head_start import PART_MODULE
from explorer.runs.pipeline import Meter, short_turns
from explorer.scoring.child_process import Child, Message
from explorer.scoring.model_process import ModelProcess, rebuild_error

if TYPE_CHECKING:
    from explorer.runs.part import RunWork
    from explorer.scoring.hf_source import Source
    from explorer.settings import Settings

PARTS_PER_PROCESS = (
    3  # a part holds at most the nth of what is left for each process, so that all of them end at about one time
)


@dataclass(frozen=True, slots=True)
class PartJob:
    """What a part process is told first."""

    spec: str  # as JSON
    folder: str
    settings: Settings
    source: Source  # of the model
    threads: int  # of each library that has its own, so that all processes together use all processors once
    kept: Mapping[tuple[Any, ...], Any]  # what all parts need, as the resources keep it


def make_parts(
    folder: RunFolder, work: RunWork, model: ModelProcess, meter: Meter, stamp: Callable[[], str], count: int
) -> None:
    """Makes and stores every part that the folder lacks, by so many processes.

    `stamp` gives the hash of the environment, which is known once the model is loaded. A process that fails ends the
    run; what others have finished is kept.
    """
    ranges = RangesToShare(folder.unfinished(len(work.instances)), count, work.recipe.first_part)
    messages: queue.SimpleQueue[Message] = queue.SimpleQueue()
    assert model.source is not None, "the model is known before its parts are made"
    job = PartJob(
        specs.to_json(work.spec),
        str(folder.path),
        work.resources.settings,
        model.source,
        threads=max(1, usable_processors() // count),
        kept=_kept(work, meter),
    )
    with contextlib.ExitStack() as running:
        running.enter_context(short_turns())  # rows and scores do not wait for what is made ahead
        processes = [running.enter_context(_running_process(job, model, ranges, messages)) for _ in range(count)]
        environment_stamp = stamp()
        running.callback(_start_making_ahead(work).leave)
        for process in processes:
            with contextlib.suppress(OSError):  # its end is told below
                process.send(("stamp", environment_stamp, model.source))
        processes_left = count
        while processes_left:
            kind, *rest = _next_message(messages)
            if kind == "done":
                meter.add(rest[0])
            elif kind == "end":
                processes_left -= 1
            elif kind == "failed":
                raise rebuild_error(*rest)
            else:
                raise RunError(
                    "A process that made parts of the run ended by itself. What was finished is kept: what it said "
                    "last stands in the run's log; resume goes on."
                )


class RangesToShare:
    """The instances that no part covers, handed out to who asks next; safe to call from several threads."""

    def __init__(self, unfinished: list[tuple[int, int]], processes: int, least: int) -> None:
        self._open_ranges = list(unfinished)
        self._processes = processes
        self._least = least
        self._lock = threading.Lock()

    def take_range(self, size: int) -> tuple[int, int] | None:
        """The next part, of at most `size` instances; none where nothing is left."""
        with self._lock:
            if not self._open_ranges:
                return None
            remaining = sum(last - first + 1 for first, last in self._open_ranges)
            # Large parts at first, which cost less to prepare, and smaller ones towards the end, so that no process is
            # left alone with a long part while the others wait. With 3 processes and PARTS_PER_PROCESS = 3 a part is a
            # ninth of what remains:
            #
            #     remaining   900   800   ...   90
            #     a part      100    88          10
            fair = max(self._least, remaining // (PARTS_PER_PROCESS * self._processes))
            first, last = self._open_ranges.pop(0)
            end = min(last, first + max(1, min(size, fair)) - 1)
            if end < last:
                self._open_ranges.insert(0, (end + 1, last))
            return first, end


@contextlib.contextmanager
def _running_process(
    job: PartJob, model: ModelProcess, ranges: RangesToShare, messages: queue.SimpleQueue[Message]
) -> Iterator[Child]:
    """A running part process, which is killed on leaving the block, whatever it does."""
    ready = threading.Event()

    def on_message(message: Message) -> None:
        ready.wait()
        # This runs in the thread that reads from the process. Scores and ranges are answered at once, since the process
        # waits for them; what concerns the whole run goes to the main thread, which alone may end it.
        kind, *rest = message
        if kind in ("score", "write"):
            model.serve(message, process.send)
        elif kind == "next":
            process.send(("range", ranges.take_range(rest[0])))
        else:
            messages.put(message)

    process = Child(PART_MODULE, on_message, lambda unforeseen: messages.put(("gone", unforeseen)))
    ready.set()
    try:
        process.send(("job", job))
        model.introduce(process.send)
        yield process
    finally:
        process.kill()


def _kept(work: RunWork, meter: Meter) -> Mapping[tuple[Any, ...], Any]:
    """What all parts need, made here, while the model loads, and not by each process."""
    if not work.recipe.for_parts:
        return {}
    return work.recipe.for_parts(work.spec, work.resources, meter.within(work.recipe.first_part))


def _start_making_ahead(work: RunWork) -> stopping.Begun[None]:
    """Starts making what the findings need and no score changes, since this process has little else to do."""

    def make() -> None:
        if work.recipe.ahead:
            # What is wrong is said when it is needed.
            with contextlib.suppress(ExplorerError, OSError, ImportError):
                work.recipe.ahead(work.spec, work.resources)

    return stopping.Begun(make, "ahead")


def _next_message(messages: queue.SimpleQueue[Message]) -> Message:
    while True:
        stopping.look()
        with contextlib.suppress(queue.Empty):
            return messages.get(timeout=stopping.SLICE)
