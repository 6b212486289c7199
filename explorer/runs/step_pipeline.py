"""The steps of a long part, several under way at once: the model does one, others are prepared, the last are finished.

    prepare   step 3  step 4  step 5        threads, one after another: requests made, encoded, packed
    run               step 3  step 4  ...   the main thread: the model's device is never left waiting for the others
    finish                    step 3  ...   threads, one after another: answers judged, rows made, the step kept

As for the parts of other runs (pipeline.py): steps are kept as a whole and in order, so a kill loses what is under way
and no step that is kept; an error ends the run after the steps before it are kept. Steps that were kept are not made
again. A step may be prepared long before its turn, while others that take longer are written, and wait to be finished:
the first of all has the judges loaded, which takes longer than several short steps.

A stage on a GPU may return while the GPU is still at work (`Queued`). The next step is then queued behind it before
anybody waits for the results, so that the GPU goes from one to the other.
"""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from explorer import stopping
from explorer.runs.pipeline import SECONDS_TO_STORE, short_turns
from explorer.runs.step_cache import KeptSteps, Remark, Rows
from explorer.stopping import Begun
from explorer.studies.study import Progress

MAX_UNFINISHED = 8  # steps that the model is done with and whose rows are not kept yet
SECONDS_TO_LEAVE = 1.0  # that what nobody waits for any more has to end
MAX_PREPARED = 4  # steps that are prepared before their turn, ...
REQUESTS_PREPARED = 20_000  # ... as long as they have no more requests than so many, but for one of them


@dataclass(frozen=True, slots=True)
class Queued:
    """A step that the model's device is still at work on; `wait` gives what `run` would have given."""

    wait: Callable[[], Any]


@dataclass(frozen=True, slots=True)
class StagedStep:
    """A step in three stages, each of which is handed what the one before gave.

    prepare   on the processor; may be done in a thread
    run       on the model's device, always in the main thread; is also handed a progress callback; may give a `Queued`
    finish    on the processor again: rows, and a remark about how they were made; may be done in a thread
    """

    name: str
    size: int  # requests
    prepare: Callable[[], Any]
    run: Callable[[Any, Progress], Any]
    finish: Callable[[Any], tuple[Rows, Remark]]


def make_steps(kept: KeptSteps, steps: Sequence[StagedStep], progress: Progress, *, overlap: bool) -> list[Rows]:
    """The rows of each step, in their order: those that are kept, else made now, and kept.

    `overlap` says whether the stages really keep to their places: an endpoint is asked one step after another.
    """
    rows = {step.name: found for step in steps if (found := kept.read(step.name)) is not None}
    left = [step for step in steps if step.name not in rows]
    meter = _Meter(progress, sum(step.size for step in steps))
    meter.add(sum(step.size for step in steps if step.name in rows))
    if overlap:
        with short_turns():
            rows |= _make_overlapping(kept, left, meter)
    else:
        for step in left:
            rows[step.name] = _finish(kept, step, _wait_for(step.run(step.prepare(), meter.within(step.size))))
            meter.add(step.size)
    return [rows[step.name] for step in steps]


def _make_overlapping(kept: KeptSteps, steps: Sequence[StagedStep], meter: _Meter) -> dict[str, Rows]:
    preparing, finishing = _Preparing(steps), _Finishing(kept)
    queued: tuple[StagedStep, Any] | None = None  # what the device may still be at work on

    def finish_queued() -> None:
        nonlocal queued
        if queued:
            (step, ran), queued = queued, None
            finishing.add(step, _wait_for(ran))
            meter.add(step.size)

    try:
        for step in steps:
            try:
                ran = step.run(preparing.next(), meter.within(step.size))
            except BaseException:
                with contextlib.suppress(BaseException):  # what ended this one is told
                    finish_queued()
                raise
            finish_queued()
            queued = step, ran
            if not isinstance(ran, Queued):
                finish_queued()
        finish_queued()
        return finishing.results()
    finally:
        preparing.leave()
        finishing.end()


def _wait_for(ran: Any) -> Any:
    return ran.wait() if isinstance(ran, Queued) else ran


class _Preparing:
    """Prepares steps in their order, some before their turn."""

    def __init__(self, steps: Sequence[StagedStep]) -> None:
        self._left = deque(steps)
        self._begun: deque[tuple[StagedStep, Begun[Any]]] = deque()
        self._begin()

    def next(self) -> Any:
        """What the next step's preparation gave."""
        prepared = self._begun[0][1].result()
        self._begun.popleft()
        self._begin()
        return prepared

    def leave(self) -> None:
        """Nobody wants the others any more."""
        for _, preparing in self._begun:
            preparing.leave()

    def _begin(self) -> None:
        while self._left and self._has_room(self._left[0].size):
            step = self._left.popleft()
            before = self._begun[-1][1] if self._begun else None
            self._begun.append((step, Begun(partial(_prepare_after, before, step), "prepare")))

    def _has_room(self, size: int) -> bool:
        held = sum(step.size for step, _ in self._begun)
        return not held or (len(self._begun) < MAX_PREPARED and held + size <= REQUESTS_PREPARED)


class _Finishing:
    """Finishes steps in their order, each in a thread that waits for the one before."""

    def __init__(self, kept: KeptSteps) -> None:
        self._kept = kept
        self._begun: dict[str, Begun[Rows]] = {}

    def add(self, step: StagedStep, done: Any) -> None:
        """The next step that the model is done with; waits where too many are not finished."""
        begun = list(self._begun.values())
        if len(begun) >= MAX_UNFINISHED:
            begun[-MAX_UNFINISHED].result()
        before = begun[-1] if begun else None
        self._begun[step.name] = Begun(partial(_finish_after, before, self._kept, step, done), "finish")

    def results(self) -> dict[str, Rows]:
        """The rows of each step, once all are kept."""
        return {name: each.result() for name, each in self._begun.items()}

    def end(self) -> None:
        """Returns when nothing is written any more: what the model is done with is kept where that takes no longer."""
        unfinished = list(self._begun.values())[-MAX_UNFINISHED:]
        _settle(unfinished, SECONDS_TO_STORE)
        for each in unfinished:
            each.leave()
        _settle(unfinished, SECONDS_TO_LEAVE)


def _settle(all_begun: Sequence[Begun[Any]], seconds: float) -> None:
    """Returns when all have ended, or after so many seconds."""
    end = time.monotonic() + seconds
    for each in all_begun:
        each.settle(max(0.0, end - time.monotonic()))


def _prepare_after(before: Begun[Any] | None, step: StagedStep) -> Any:
    if before is not None:
        before.result()  # its error is met first, whoever asks
    return step.prepare()


def _finish_after(before: Begun[Rows] | None, kept: KeptSteps, step: StagedStep, done: Any) -> Rows:
    if before is not None:
        before.result()  # its error is this one's, too: nothing is kept behind a step that is not
    return _finish(kept, step, done)


def _finish(kept: KeptSteps, step: StagedStep, done: Any) -> Rows:
    rows, remark = step.finish(done)
    stopping.look()
    kept.keep(step.name, rows, remark)
    return rows


class _Meter:
    """Tells how many requests of all steps are done; never fewer than before, also while a step is queued."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress, self._total, self._done, self._told = progress, total, 0, 0

    def within(self, size: int) -> Progress:
        """A progress callback for a step of that many requests, told in the step's own units."""
        return lambda part, of: self._tell(self._done + size * part // max(of, 1))

    def add(self, size: int) -> None:
        """That many requests more are done."""
        if size:
            self._done += size
            self._tell(self._done)

    def _tell(self, done: int) -> None:
        self._told = max(self._told, done)
        self._progress(self._told, self._total)
