"""Steps under way at once: their order, what is kept when one fails or the run is cancelled, what is not made again."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from explorer.errors import RunError
from explorer.runs.state import Cancelled
from explorer.runs.step_cache import KeptSteps
from explorer.runs.step_pipeline import Queued, StagedStep, make_steps

PATIENCE = 20.0  # seconds that a test waits for what must come
NAMES = ("a", "b", "c", "d")


class Recipe:
    """Makes a row a step and writes down what was done; a stage may be told to fail, or to wait for an event."""

    def __init__(
        self, folder, fail: str = "", waits: dict[str, threading.Event] | None = None, queued: str = ""
    ) -> None:
        self.kept = KeptSteps(folder, ["i1", "i2"])
        self.done: list[str] = []
        self.begun: dict[str, threading.Event] = {}
        self.fail, self.waits, self.queued = fail, waits or {}, queued  # steps that the device is left to work on
        self.devices: set[threading.Thread] = set()

    def _stage(self, what: str) -> None:
        self.event(what).set()
        if what in self.waits:
            assert self.waits[what].wait(PATIENCE), what
        if what == self.fail:
            raise RunError(f"{what} failed")
        self.done.append(what)

    def event(self, what: str) -> threading.Event:
        return self.begun.setdefault(what, threading.Event())

    def step(self, name: str) -> StagedStep:
        def prepare() -> str:
            self._stage(f"prepare {name}")
            return name

        def run(prepared: str, progress: Any) -> str:
            self.devices.add(threading.current_thread())
            progress(1, 2)
            self._stage(f"run {name}")

            def wait() -> str:
                self._stage(f"wait {name}")
                return prepared * 2

            return Queued(wait) if name in self.queued else prepared * 2

        def finish(ran: str) -> Any:
            self._stage(f"finish {name}")
            return {"measures": [{"instance_id": ran}]}, {"group": ran}

        return StagedStep(name, 10, prepare, run, finish)

    def make(self, *, overlap: bool = True, progress: Any = lambda done, of: None) -> list[Any]:
        return make_steps(self.kept, [self.step(name) for name in NAMES], progress, overlap=overlap)

    @property
    def files(self) -> list[str]:
        return sorted(path.name[0] for path in self.kept.folder.glob("*.json"))


ROWS = [{"measures": [{"instance_id": name * 2}]} for name in NAMES]


@pytest.mark.parametrize("overlap", [True, False])
def test_rows_come_in_the_order_of_the_steps_and_are_kept(tmp_path, overlap):
    recipe = Recipe(tmp_path)
    assert recipe.make(overlap=overlap) == ROWS
    assert [recipe.kept.read(name) for name in NAMES] == ROWS
    assert recipe.devices == {threading.current_thread()}
    for stage in ("prepare", "run", "finish"):
        assert [what for what in recipe.done if what.startswith(stage)] == [f"{stage} {name}" for name in NAMES]


def test_while_a_step_is_on_the_device_the_next_is_prepared_and_the_last_is_finished(tmp_path):
    recipe = Recipe(tmp_path)
    # The device is not done with b before c has been prepared and a's finish has begun, ...
    recipe.waits = {"run b": recipe.event("finish a"), "finish a": recipe.event("run c")}
    recipe.waits["run a"] = recipe.event("prepare b")
    # ... and a is not finished before the device is at c: two steps may wait to be finished.
    assert recipe.make() == ROWS
    assert recipe.done.index("run b") < recipe.done.index("finish a") < recipe.done.index("finish b")


@pytest.mark.parametrize("overlap", [True, False])
@pytest.mark.parametrize("queued", ["abcd", "b", "ac", "d"])
def test_a_step_is_queued_before_anybody_waits_for_the_one_before(tmp_path, queued, overlap):
    recipe, told = Recipe(tmp_path, queued=queued), []
    assert recipe.make(overlap=overlap, progress=lambda done, of: told.append(done)) == ROWS
    of_device = [what for what in recipe.done if what.split()[0] in ("run", "wait")]
    wanted = []
    for name in NAMES:
        wanted.append(f"run {name}")
        if overlap and (before := chr(ord(name) - 1)) in queued:
            wanted.append(f"wait {before}")
        if name in queued and (not overlap or name == NAMES[-1]):
            wanted.append(f"wait {name}")
    assert of_device == wanted
    assert told == sorted(told) and told[-1] == 40


@pytest.mark.parametrize("fail", ["run c", "prepare c", "wait c"])
def test_a_queued_step_is_kept_where_the_one_behind_it_fails(tmp_path, fail):
    recipe = Recipe(tmp_path, fail=fail, queued="abcd")
    with pytest.raises(RunError, match=fail):
        recipe.make()
    assert recipe.files == ["a", "b"]


def test_steps_are_prepared_before_their_turn_as_far_as_memory_allows(tmp_path, monkeypatch):
    from explorer.runs import step_pipeline

    recipe = Recipe(tmp_path)
    recipe.waits = {"run a": recipe.event("prepare d")}
    assert recipe.make() == ROWS
    # Two steps have 20 requests: c is prepared once a has been taken.
    monkeypatch.setattr(step_pipeline, "REQUESTS_PREPARED", 20)
    (again := tmp_path / "again").mkdir()
    recipe = Recipe(again)
    recipe.waits = {"run a": recipe.event("prepare c")}
    assert recipe.make() == ROWS
    assert recipe.done.index("prepare d") > recipe.done.index("run a")


def test_without_overlap_a_step_is_kept_before_the_next_is_prepared(tmp_path):
    recipe = Recipe(tmp_path)
    recipe.make(overlap=False)
    assert recipe.done == [f"{stage} {name}" for name in NAMES for stage in ("prepare", "run", "finish")]


@pytest.mark.parametrize("stage", ["prepare", "run", "finish"])
def test_an_error_ends_the_run_after_the_steps_before_it_and_these_are_not_made_again(tmp_path, stage):
    broken = Recipe(tmp_path, fail=f"{stage} c")
    with pytest.raises(RunError, match=f"{stage} c failed"):
        broken.make()
    assert broken.files == ["a", "b"]
    again = Recipe(tmp_path)
    assert again.make() == ROWS
    assert {what[-1] for what in again.done} == {"c", "d"}


def test_a_cancelled_run_keeps_what_the_device_is_done_with_and_writes_nothing_afterwards(tmp_path):
    recipe = Recipe(tmp_path)
    # At c, b waits to be finished until the run was told to stop.
    recipe.waits = {"finish b": recipe.event("stop")}

    def progress(done: int, of: int) -> None:
        if done > 20:
            recipe.event("stop").set()
            raise Cancelled

    before = set(threading.enumerate())
    with pytest.raises(Cancelled):
        recipe.make(progress=progress)
    assert recipe.files == ["a", "b"]
    for thread in set(threading.enumerate()) - before:
        thread.join(PATIENCE)
        assert not thread.is_alive()
    assert recipe.files == ["a", "b"] and "run c" not in recipe.done


def test_a_step_that_is_finished_after_nobody_waits_any_more_is_not_kept(tmp_path, monkeypatch):
    from explorer.runs import step_pipeline

    monkeypatch.setattr(step_pipeline, "SECONDS_TO_STORE", 0.0)
    recipe = Recipe(tmp_path)
    late = threading.Event()
    recipe.waits = {"finish a": late}

    def progress(done: int, of: int) -> None:
        if done > 10:
            raise Cancelled

    before = set(threading.enumerate())
    with pytest.raises(Cancelled):
        recipe.make(progress=progress)
    late.set()
    for thread in set(threading.enumerate()) - before:
        thread.join(PATIENCE)
        assert not thread.is_alive()
    assert "finish a" in recipe.done and recipe.files == []


def test_a_cancelled_run_waits_once_for_all_that_are_not_finished(tmp_path, monkeypatch):
    from explorer.runs import step_pipeline

    # Patience is counted, not measured: each of the three that wait is given what is left of it.
    given = []
    monkeypatch.setattr(step_pipeline.Begun, "settle", lambda self, seconds: given.append(seconds))
    monkeypatch.setattr(step_pipeline, "time", SimpleNamespace(monotonic=lambda: 100.0 + len(given)))
    recipe = Recipe(tmp_path, fail="run d")
    recipe.waits = {"finish a": threading.Event()}
    with pytest.raises(RunError):
        recipe.make()
    recipe.waits["finish a"].set()
    store, leave = step_pipeline.SECONDS_TO_STORE, step_pipeline.SECONDS_TO_LEAVE
    assert given == [store, store - 1, store - 2, leave, max(0, leave - 1), 0]


def test_progress_counts_the_requests_of_all_steps_those_that_are_kept_included(tmp_path):
    with pytest.raises(RunError):
        Recipe(tmp_path, fail="run b").make()
    told: list[tuple[int, int]] = []
    Recipe(tmp_path).make(progress=lambda done, of: told.append((done, of)))
    assert told == [(10, 40), (15, 40), (20, 40), (25, 40), (30, 40), (35, 40), (40, 40)]


def test_a_damaged_step_is_made_again(tmp_path):
    Recipe(tmp_path).make()
    (path,) = (tmp_path / "steps").glob("b-*.json")
    path.write_text(path.read_text("utf-8").replace("bb", "bc"), "utf-8")
    again = Recipe(tmp_path)
    assert again.make() == ROWS
    assert {what[-1] for what in again.done} == {"b"}
