"""Parts under way at once: what is stored, in which order, when a step fails, is told to stop, or never ends."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from explorer import stopping
from explorer.errors import RunError
from explorer.records import Instance, RunSpec
from explorer.resources import Resources
from explorer.rows.builders import measure_row
from explorer.runs import part, pipeline
from explorer.runs.folder import RunFolder
from explorer.runs.state import Cancelled
from explorer.studies.study import Stages, Study

COUNT = 400
INSTANCES = [Instance(f"toy/{n}", "toy", "train", "g", "pair", "sentence", options=("a", "b")) for n in range(COUNT)]
SPEC = RunSpec(study="accuracy", version=2, model="m", benchmark="toy")


class Meter:
    """Counts what it is told."""

    def __init__(self) -> None:
        self.done = 0

    def within(self, size: int) -> Any:
        return lambda done, of: None

    def add(self, size: int) -> None:
        self.done += size


class Steps:
    """Stages that write down what they do; each may be told to fail, or to wait, at a part's number."""

    def __init__(self, **at: Any) -> None:
        self.at = at
        self.seen: list[tuple[str, int, str]] = []
        self.numbers: dict[str, int] = {}

    def stages(self) -> Stages:
        return Stages(
            lambda spec, resources, instances, progress, ahead: self.step("prepare", instances),
            lambda spec, resources, instances, progress: self.step("score", instances),
            lambda spec, resources, instances: {
                "measures": [measure_row(one.id, "correct", 1.0) for one in self.step("store", instances)]
            },
            lambda spec, resources: True,
        )

    def step(self, name: str, instances: Any) -> Any:
        number = self.numbers[name] = self.numbers.get(name, -1) + 1
        self.seen.append((name, number, threading.current_thread().name))
        if (name, number) in self.at.get("fails", ()):
            raise RunError(f"{name} {number} failed")
        if (name, number) in self.at.get("waits", ()):
            self.at["waits"][name, number]()
        return instances


def make(settings, steps: Steps) -> tuple[RunFolder, Meter]:
    folder = RunFolder.create(settings.runs, SPEC)
    stages = steps.stages()
    recipe = Study(
        "accuracy", "", "", 2, {}, ("pair",), run_part=stages.run, stages=stages, summarize=lambda *given: [],
        select=lambda *given: INSTANCES, first_part=2,
    )  # fmt: skip
    work = part.RunWork(SPEC, Resources(settings), recipe, INSTANCES)
    meter = Meter()
    pipeline.make_parts(folder, work, stages, meter, lambda: "stamp")
    return folder, meter


def stored(settings) -> list[int]:
    folder = RunFolder.create(settings.runs, SPEC)
    assert not folder.damaged() and not list(folder.path.rglob(".*.tmp"))
    return [int(name.rpartition("/")[2]) for name in folder.read("measures")["instance_id"]]


def test_every_instance_is_stored_once_in_order_and_only_scoring_is_the_main_threads(settings):
    steps = Steps()
    _, meter = make(settings, steps)
    assert stored(settings) == list(range(COUNT)) and meter.done == COUNT
    threads = {(name, thread) for name, number, thread in steps.seen if number}
    main = threading.current_thread().name
    assert threads == {("prepare", "prepare"), ("score", main), ("store", "store")}


def test_the_next_part_is_prepared_and_the_last_is_stored_while_one_is_scored(settings):
    steps = Steps()

    def wait() -> None:
        end = time.monotonic() + 10
        while ("prepare", 3) not in {one[:2] for one in steps.seen} or ("store", 1) not in {o[:2] for o in steps.seen}:
            assert time.monotonic() < end
            time.sleep(0.01)

    steps.at["waits"] = {("score", 2): wait}
    make(settings, steps)
    assert stored(settings) == list(range(COUNT))


@pytest.mark.parametrize(("name", "number", "kept"), [("prepare", 2, 2), ("score", 2, 2), ("store", 2, 2)])
def test_a_step_that_fails_ends_the_run_with_all_before_it_stored(settings, name, number, kept):
    steps = Steps(fails={(name, number)})
    with pytest.raises(RunError, match=f"{name} {number} failed"):
        make(settings, steps)
    folder = RunFolder.create(settings.runs, SPEC)
    assert len(folder.finished()) == kept
    whole = stored(settings)
    assert whole == list(range(len(whole)))
    make(settings, Steps())  # and it goes on from there
    assert stored(settings) == list(range(COUNT))


def test_a_cancel_is_heard_while_the_next_part_is_prepared_for_long(settings):
    left, waited = threading.Event(), []
    steps = Steps(waits={("prepare", 2): lambda: waited.append(left.wait(60))})
    until = time.monotonic() + 0.5

    def cancelled() -> None:
        if time.monotonic() > until:
            raise Cancelled

    with pytest.raises(Cancelled), stopping.until(cancelled):
        make(settings, steps)
    assert not waited
    left.set()
    whole = stored(settings)
    # Both parts that were scored; the second has as many instances as the first one's time allowed.
    assert whole == list(range(len(whole))) and len(RunFolder.create(settings.runs, SPEC).finished()) == 2


def test_a_part_being_stored_when_the_run_is_cancelled_is_stored_whole(settings):
    steps = Steps()

    def cancel() -> None:
        raise Cancelled

    steps.at["waits"] = {("store", 1): lambda: time.sleep(0.6), ("score", 2): cancel}
    with pytest.raises(Cancelled):
        make(settings, steps)
    assert stored(settings)[:3] == [0, 1, 2] and len(RunFolder.create(settings.runs, SPEC).finished()) == 2
