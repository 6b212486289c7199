"""A process that makes parts of a run for another, which has the model and hands them out (runs/part_processes.py).

    argv: the number of an open socket
    in:   ("read", BenchmarkToRead)    first, where this process was started before there was a run
          ("job", PartJob)    once
          ("tokenizer", TokenizerSetup), ("loaded", LoadedModel), ("stamp", hash, Source)    as soon as each is known
          ("range", (first, last) or None)    answers a ("next", size)
          ("answer", number, pickled, record), ("failed", number, kind, text)    answer one of the last two
    out:  ("next", size)    how many instances it would like
          ("score", number, rows as bytes, options), ("write", number, prompts as bytes, None)
          ("done", instances)    for each part; at last ("end",), or ("failed", kind, text)

It ends when the other end of the socket is closed, however the process there ended.
"""

from __future__ import annotations

import dataclasses
import os
import queue
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from multiprocessing.connection import Connection
from pathlib import Path

from explorer.errors import ExplorerError
from explorer.resources import Resources
from explorer.runs import part, pipeline
from explorer.runs import spec as specs
from explorer.runs.folder import RunFolder
from explorer.runs.head_start import BenchmarkToRead
from explorer.runs.part_processes import PartJob
from explorer.runs.worker import settle_memory
from explorer.scoring.child_process import Message, describe_failure
from explorer.scoring.model_process import ModelProcess
from explorer.studies import study as find_study

PARTS_AHEAD = 2  # parts prepared ahead: more would be kept from a process that has none left to make


class Coordinator:
    """The process that started this one: it assigns ranges and passes rows on to the model, as a `ModelConnection`."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.pid = os.getpid()
        self.model = ModelProcess(self)
        self.stamp: Future[str] = Future()
        self.work: queue.SimpleQueue[BenchmarkToRead | PartJob] = queue.SimpleQueue()
        self._ranges: Future[tuple[int, int] | None] = Future()
        self._sending = threading.Lock()
        threading.Thread(target=self._read, name="read", daemon=True).start()

    def send(self, message: object) -> None:
        """Sends a message."""
        with self._sending:
            self.connection.send(message)

    def next_range(self, size: int) -> tuple[int, int] | None:
        """The next instances to make a part of, about so many; none where there are no more. One thread asks."""
        self._ranges = Future()
        self.send(("next", size))
        return self._ranges.result()

    def how_it_ended(self) -> int | None:
        """Nobody asks: this process ends with the other."""
        return None

    def kill(self) -> None:
        """Nothing to end here."""

    def close(self) -> None:
        """Nothing to end here: the other process keeps the model for others."""

    def _read(self) -> None:
        try:
            while True:
                self._take(self.connection.recv())
        except (EOFError, OSError):
            os._exit(0)  # nobody is left who could want anything
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)

    def _take(self, message: Message) -> None:
        kind, *rest = message
        if kind in ("read", "job"):
            self.work.put(rest[0])
        elif kind == "stamp":
            self.model.identify(rest[1])
            self.stamp.set_result(rest[0])
        elif kind == "range":
            self._ranges.set_result(rest[0])
        else:
            self.model.take(message)


class AssignedRanges:
    """The parts that the coordinator assigns; `size` is how many instances this process asks for."""

    def __init__(self, coordinator: Coordinator, size: int) -> None:
        self.size = size
        self._coordinator = coordinator

    def __iter__(self) -> Iterator[tuple[int, int]]:
        while (instance_range := self._coordinator.next_range(self.size)) is not None:
            yield instance_range


class ProgressSender:
    """Sends the coordinator how many instances are done."""

    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator

    def within(self, size: int) -> Callable[[int, int], None]:
        """Nothing is told of a part before it is done."""
        return lambda done, of: None

    def add(self, size: int) -> None:
        """That many instances more are done."""
        self._coordinator.send(("done", size))


def main(socket: int) -> None:
    """Makes parts until none is left."""
    coordinator = Coordinator(Connection(socket))
    try:
        _make_parts(coordinator)
    except Exception as error:
        coordinator.send(("failed", *describe_failure(error)))
    else:
        coordinator.send(("end",))
    threading.Event().wait()  # until the other process ends this one


def _make_parts(coordinator: Coordinator) -> None:
    resources: Resources | None = None
    while isinstance(job := coordinator.work.get(), BenchmarkToRead):
        resources = resources or _read_ahead(job)
    os.environ.setdefault("OMP_NUM_THREADS", str(job.threads))  # read by torch when a study imports it
    spec, folder = specs.from_json(job.spec), RunFolder(Path(job.folder))
    if resources is None or resources.settings != job.settings:
        resources = Resources(job.settings)
    for key, made in job.kept.items():
        resources.keep(key, made)
    coordinator.model.name, coordinator.model.source = job.source.name, job.source
    resources.use_process(coordinator.model, spec.model, spec.dtype)
    work = part.prepare(spec, resources)
    stages = find_study(spec.study).stages
    assert stages is not None, "only studies whose parts may overlap are made by several processes"
    settle_memory()
    # The numbers of instances are only a wish; the other process cuts the parts, so that no two processes make the same
    # one.
    ranges = AssignedRanges(coordinator, work.recipe.first_part)
    pipeline.make_parts(
        folder, work, stages, ProgressSender(coordinator), coordinator.stamp.result, ranges, PARTS_AHEAD
    )


def _read_ahead(asked: BenchmarkToRead) -> Resources | None:
    """Resources that hold the instances of a run that is not yet known; none where these are not here."""
    resources = Resources(asked.settings if asked.is_fetched else dataclasses.replace(asked.settings, offline=True))
    try:
        resources.instances(asked.benchmark, asked.splits)
    except ExplorerError:  # whoever names the run says what is wrong
        return None
    resources.settings = asked.settings
    return resources


if __name__ == "__main__":
    main(int(sys.argv[1]))
