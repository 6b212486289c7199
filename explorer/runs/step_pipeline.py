"""The steps of a long part, three under way at once: the model does one, the next is prepared, the last is finished.

    prepare   step 3  step 4  step 5        a thread: requests made, encoded, packed
    run               step 3  step 4  ...   the main thread: the model's device is never left waiting for the others
    finish                    step 3  ...   threads, one after another: answers judged, rows made, the step kept

As for the parts of other runs (pipeline.py): steps are kept as a whole and in order, so a kill loses what is under way
and no step that is kept; an error ends the run after the steps before it are kept. Steps that were kept are not made
again. Two steps may wait to be finished: the first of all has the judges loaded, which takes longer than a short step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from explorer import stopping
from explorer.runs.pipeline import SECONDS_TO_STORE, short_turns
from explorer.runs.step_cache import KeptSteps, Remark, Rows
from explorer.stopping import Begun
from explorer.studies.study import Progress

MAX_UNFINISHED = 2  # steps that the model is done with and whose rows are not kept yet


@dataclass(frozen=True, slots=True)
class StagedStep:
    """A step in three stages, each of which is handed what the one before gave.

    prepare   on the processor; may be done in a thread
    run       on the model's device, always in the main thread; is also handed a progress callback
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
            rows[step.name] = _finish(kept, step, step.run(step.prepare(), meter.within(step.size)))
            meter.add(step.size)
    return [rows[step.name] for step in steps]


def _make_overlapping(kept: KeptSteps, steps: Sequence[StagedStep], meter: _Meter) -> dict[str, Rows]:
    finishing: list[Begun[Rows]] = []
    preparing = Begun(steps[0].prepare, "prepare") if steps else None
    try:
        for number, step in enumerate(steps):
            assert preparing is not None
            prepared = preparing.result()
            preparing = Begun(steps[number + 1].prepare, "prepare") if number + 1 < len(steps) else None
            done = step.run(prepared, meter.within(step.size))
            if len(finishing) >= MAX_UNFINISHED:
                finishing[-MAX_UNFINISHED].result()
            before = finishing[-1] if finishing else None
            finishing.append(Begun(partial(_finish_after, before, kept, step, done), "finish"))
            meter.add(step.size)
        return {step.name: each.result() for step, each in zip(steps, finishing, strict=True)}
    finally:
        if preparing is not None:
            preparing.leave()
        _end(finishing[-MAX_UNFINISHED:])


def _finish_after(before: Begun[Rows] | None, kept: KeptSteps, step: StagedStep, done: Any) -> Rows:
    if before is not None:
        before.result()  # its error is this one's, too: nothing is kept behind a step that is not
    return _finish(kept, step, done)


def _finish(kept: KeptSteps, step: StagedStep, done: Any) -> Rows:
    rows, remark = step.finish(done)
    stopping.look()
    kept.keep(step.name, rows, remark)
    return rows


def _end(finishing: Sequence[Begun[Rows]]) -> None:
    """Returns when nothing is written any more: what the model is done with is kept where that takes no longer."""
    for each in finishing:
        each.settle(SECONDS_TO_STORE)
    for each in finishing:
        each.leave()
    for each in finishing:
        each.settle(1.0)


class _Meter:
    """Tells how many requests of all steps are done."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0

    def within(self, size: int) -> Progress:
        """A progress callback for a step of that many requests, told in the step's own units."""
        return lambda part, of: self._progress(self._done + size * part // max(of, 1), self._total)

    def add(self, size: int) -> None:
        """That many requests more are done."""
        if size:
            self._done += size
            self._progress(self._done, self._total)
