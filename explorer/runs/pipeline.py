"""The parts of a run, three under way at once: while the model scores one, the next is prepared and the last is stored.

    prepare   part 3  part 4  part 5        a thread: requests made, encoded, packed
    score             part 3  part 4  ...   the main thread: the model's device is never left waiting for the others
    store                     part 3  ...   a thread: rows made, written, marked as done

Each part is stored as a whole and parts are stored in order, one at a time, so a kill loses what is under way and
nothing that is marked, as without the threads. Three parts are held: a part waits before it is stored until the one
before is. An error in one step ends the run after the parts before it are stored.

Where the model is in a process of its own, parts are prepared further ahead, up to some seconds' worth: while it loads,
and then so that the next rows lie ready there when it is done with the last. Several processes may each do this with
parts of their own (part_processes.py).
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from explorer import stopping
from explorer.runs import part
from explorer.runs.folder import RunFolder
from explorer.stopping import Begun
from explorer.studies.study import Progress, Stages

if TYPE_CHECKING:
    from explorer.runs.part import RunWork

MAX_PARTS_AHEAD = 16  # parts prepared ahead, at most, for a model in a process of its own
MAX_SECONDS_AHEAD = (
    4.0  # seconds of preparing that lie ahead, at most: what a part holds grows with what it took to prepare
)
SWITCH_INTERVAL = 1e-4  # seconds a thread keeps the interpreter while another waits for it
SECONDS_TO_STORE = 30.0  # seconds a part that is being stored has to end when the run is stopped


class Meter(Protocol):
    """Receives how far the run is."""

    def within(self, size: int) -> Progress: ...

    def add(self, size: int) -> None: ...


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A part that can be scored, and how long it took to get there."""

    first: int
    last: int
    content: Any
    seconds: float


class Ranges(Protocol):
    """The parts to make, in turn; `size` is how many instances the next is best made of. One thread asks at a time."""

    size: int

    def __iter__(self) -> Iterator[tuple[int, int]]: ...


class _RangesLeft:
    """The parts to make, each cut when it is asked for, so that its size follows from how long earlier ones took.

    Asked by one thread at a time.
    """

    def __init__(self, unfinished: list[tuple[int, int]], size: int) -> None:
        self.size = size
        self._gaps = unfinished

    def __iter__(self) -> Iterator[tuple[int, int]]:
        for first, last in self._gaps:
            while first <= last:
                end = min(first + self.size - 1, last)
                yield first, end
                first = end + 1


# Storing lags one part behind scoring. Before part n is handed to the storing thread, part n-1 must be stored: its
# error is raised here, before anything is written after it, and at most one scored part waits in memory. The size of
# the next part is set after each score, so that a part takes about as long on a laptop as on a card.
def make_parts(
    folder: RunFolder, work: RunWork, stages: Stages, meter: Meter, stamp: Callable[[], str],
    ranges: Ranges | None = None, ahead: int = MAX_PARTS_AHEAD,
) -> None:  # fmt: skip
    """Makes and stores the parts of `ranges`, or every part that the folder lacks.

    `stamp` gives the hash of the environment, which is known once the model is loaded. At most `ahead` parts are
    prepared ahead for a model in a process of its own.
    """
    ranges = ranges or _RangesLeft(folder.unfinished(len(work.instances)), work.recipe.first_part)
    with short_turns():
        _make_parts(folder, work, stages, meter, stamp, ranges, ahead if work.resources.has_process else 1)


# A forward pass is a thousand calls into PyTorch, each of which lets go of the interpreter and asks for it back. A
# thread that encodes or stores meanwhile keeps it for 5 ms each time, Python's default, and the GPU waits as long for
# its next order: several seconds a batch. Handing over costs some microseconds.
def set_short_turns() -> None:
    """Lets threads hand over the interpreter soon, in this process."""
    sys.setswitchinterval(SWITCH_INTERVAL)


@contextlib.contextmanager
def short_turns() -> Iterator[None]:
    """Within it threads hand over the interpreter soon."""
    before = sys.getswitchinterval()
    set_short_turns()
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def _make_parts(
    folder: RunFolder, work: RunWork, stages: Stages, meter: Meter, stamp: Callable[[], str], ranges: Ranges, ahead: int
) -> None:
    prepared_parts, storing = _PreparedParts(ranges, work, stages, ahead), None
    try:
        # With nothing to overlap, the first part is prepared here, where its progress can be told.
        current = prepared_parts.prepare_now(meter)
        prepared_parts.prepare_ahead()
        environment_stamp = stamp()
        while current is not None:
            prepared_parts.prepare_ahead()
            amount = current.last - current.first + 1
            started = time.monotonic()
            scored = stages.score(work.spec, work.resources, current.content, meter.within(amount))
            seconds = max(time.monotonic() - started, current.seconds)
            ranges.size = part.next_size(ranges.size, amount, seconds)
            if storing is not None:
                storing.result()
            storing = _start_storing(folder, work, stages, current, scored, environment_stamp)
            meter.add(amount)
            current = prepared_parts.next_prepared()
        if storing is not None:
            storing.result()
    finally:
        prepared_parts.stop()
        if storing is not None:
            storing.settle(
                SECONDS_TO_STORE
            )  # nothing may be written any more when what is there goes into the database


def _start_storing(
    folder: RunFolder, work: RunWork, stages: Stages, prepared: _Prepared, scored: Any, stamp: str
) -> Begun[None]:
    def store() -> None:
        tables = part.add_instance_table(
            work, prepared.first, prepared.last, stages.tables(work.spec, work.resources, scored)
        )
        folder.write_part(prepared.first, prepared.last, tables, stamp)

    return Begun(store, "store")


class _PreparedParts:
    """Prepares the next parts in threads, in order and one at a time; holds at most `ahead` prepared parts."""

    def __init__(self, ranges: Ranges, work: RunWork, stages: Stages, ahead: int) -> None:
        self._ranges = ranges
        self._next_ranges = iter(ranges)
        self._work = work
        self._stages = stages
        self._ahead = ahead
        self._preparing: deque[Begun[_Prepared | None]] = deque()
        self._is_scoring = False
        # Seconds of preparing. Each number is written by one thread alone: two that add to one number at once may lose
        # what one of them added, and a number too high would hold up the next part for ever.
        self._seconds_prepared = self._seconds_taken = 0.0

    def prepare_now(self, meter: Meter) -> _Prepared | None:
        """The next part, prepared now."""
        instance_range = next(self._next_ranges, None)
        return (
            None
            if instance_range is None
            else self._prepare(instance_range, meter.within(instance_range[1] - instance_range[0] + 1))
        )

    def prepare_ahead(self) -> None:
        """Starts preparing, until as many parts are prepared or in preparation as may be held."""
        while len(self._preparing) < self._ahead:
            before = self._preparing[-1] if self._preparing else None
            self._preparing.append(Begun(partial(self._prepare_after, before), "prepare"))

    def next_prepared(self) -> _Prepared | None:
        """The next part, once it is prepared; none where there is no further one."""
        self._is_scoring = True
        prepared = self._preparing.popleft().result()
        self._seconds_taken += prepared.seconds if prepared else 0.0
        return prepared

    def stop(self) -> None:
        """Stops the threads; the parts that they prepared are dropped."""
        for preparation in self._preparing:
            preparation.leave()

    def _prepare_after(self, before: Begun[_Prepared | None] | None) -> _Prepared | None:
        if before is not None and before.result() is None:
            return None
        while self._seconds_prepared - self._seconds_taken > MAX_SECONDS_AHEAD:
            stopping.pause(0.05)
        instance_range = next(self._next_ranges, None)
        if instance_range is None:
            return None
        prepared = self._prepare(instance_range, lambda done, of: None)
        self._seconds_prepared += prepared.seconds
        # While the model loads nothing tells how long a part takes to score, and small ones would waste the time.
        if self._ahead > 1 and not self._is_scoring:
            amount = prepared.last - prepared.first + 1
            self._ranges.size = part.next_size(self._ranges.size, amount, prepared.seconds)
        return prepared

    def _prepare(self, instance_range: tuple[int, int], progress: Progress) -> _Prepared:
        started = time.monotonic()
        first, last = instance_range
        instances = self._work.instances[first : last + 1]
        content = self._stages.prepare(self._work.spec, self._work.resources, instances, progress, True)
        return _Prepared(first, last, content, time.monotonic() - started)
