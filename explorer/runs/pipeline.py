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
    from explorer.runs.part import Work

AHEAD = 16  # parts prepared ahead, at most, for a model in a process of its own
HELD = 4.0  # seconds of preparing that lie ahead, at most: what a part holds grows with what it took to prepare
QUICK = 1.0  # seconds of preparing below which parts grow while nothing has been scored yet
TURN = 1e-4  # seconds a thread keeps the interpreter while another waits for it
STORING = 30.0  # seconds a part that is being stored has to end when the run is stopped


class Meter(Protocol):
    """What is told how far the run is."""

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
        self._left = unfinished

    def __iter__(self) -> Iterator[tuple[int, int]]:
        for first, last in self._left:
            while first <= last:
                end = min(first + self.size - 1, last)
                yield first, end
                first = end + 1


# Storing lags one part behind scoring. Before part n is handed to the storing thread, part n-1 must be stored: its
# error is raised here, before anything is written after it, and at most one scored part waits in memory. The size of
# the next part is set after each score, so that a part takes about as long on a laptop as on a card.
def make_parts(
    folder: RunFolder, work: Work, stages: Stages, meter: Meter, stamp: Callable[[], str],
    ranges: Ranges | None = None, ahead: int = AHEAD,
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
    sys.setswitchinterval(TURN)


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
    folder: RunFolder, work: Work, stages: Stages, meter: Meter, stamp: Callable[[], str], ranges: Ranges, ahead: int
) -> None:
    coming, storing = _Coming(ranges, work, stages, ahead), None
    try:
        # With nothing to overlap, the first part is prepared here, where its progress can be told.
        current = coming.here(meter)
        coming.begin()
        made_with = stamp()
        while current is not None:
            coming.begin()
            amount = current.last - current.first + 1
            started = time.monotonic()
            scored = stages.score(work.spec, work.resources, current.content, meter.within(amount))
            seconds = max(time.monotonic() - started, current.seconds)
            ranges.size = part.next_size(ranges.size, amount, seconds)
            if storing is not None:
                storing.result()
            storing = _begin_storing(folder, work, stages, current, scored, made_with)
            meter.add(amount)
            current = coming.take()
        if storing is not None:
            storing.result()
    finally:
        coming.leave()
        if storing is not None:
            storing.settle(STORING)  # nothing may be written any more when what is there goes into the database


def _begin_storing(
    folder: RunFolder, work: Work, stages: Stages, made: _Prepared, scored: Any, stamp: str
) -> Begun[None]:
    def store() -> None:
        tables = part.with_instances(work, made.first, made.last, stages.tables(work.spec, work.resources, scored))
        folder.write_part(made.first, made.last, tables, stamp)

    return Begun(store, "store")


class _Coming:
    """The parts after the one in hand, prepared in their order, one at a time, at most `ahead` of them held."""

    def __init__(self, ranges: Ranges, work: Work, stages: Stages, ahead: int) -> None:
        self._ranges = ranges
        self._cut = iter(ranges)
        self._work = work
        self._stages = stages
        self._ahead = ahead
        self._begun: deque[Begun[_Prepared | None]] = deque()
        self._is_scoring = False
        # Seconds of preparing. Each number is written by one thread alone: two that add to one number at once may lose
        # what one of them added, and a number too high would hold up the next part for ever.
        self._made = self._taken = 0.0

    def here(self, meter: Meter) -> _Prepared | None:
        """The next part, prepared now."""
        wanted = next(self._cut, None)
        return None if wanted is None else self._prepare(wanted, meter.within(wanted[1] - wanted[0] + 1))

    def begin(self) -> None:
        """Has as many parts prepared as may be held, in threads."""
        while len(self._begun) < self._ahead:
            before = self._begun[-1] if self._begun else None
            self._begun.append(Begun(partial(self._after, before), "prepare"))

    def take(self) -> _Prepared | None:
        """The next part, once it is prepared; none where there is no further one."""
        self._is_scoring = True
        prepared = self._begun.popleft().result()
        self._taken += prepared.seconds if prepared else 0.0
        return prepared

    def leave(self) -> None:
        """Nobody wants them any more."""
        for begun in self._begun:
            begun.leave()

    def _after(self, before: Begun[_Prepared | None] | None) -> _Prepared | None:
        if before is not None and before.result() is None:
            return None
        while self._made - self._taken > HELD:
            stopping.pause(0.05)
        wanted = next(self._cut, None)
        if wanted is None:
            return None
        prepared = self._prepare(wanted, lambda done, of: None)
        self._made += prepared.seconds
        # While the model loads nothing tells how long a part takes to score, and small ones would waste the time.
        if self._ahead > 1 and not self._is_scoring and prepared.seconds < QUICK:
            self._ranges.size = min(2 * self._ranges.size, part.LARGEST)
        return prepared

    def _prepare(self, wanted: tuple[int, int], progress: Progress) -> _Prepared:
        started = time.monotonic()
        first, last = wanted
        instances = self._work.instances[first : last + 1]
        content = self._stages.prepare(self._work.spec, self._work.resources, instances, progress, True)
        return _Prepared(first, last, content, time.monotonic() - started)
