"""A run whose model is in a process of its own: equal rows, plain errors, and no process left behind."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import queue
import signal
import subprocess
import sys
import time
import weakref

import numpy as np
import pandas as pd
import pytest

from explorer import stopping
from explorer.__main__ import main
from explorer.errors import ModelError, ScoringError
from explorer.records import Instance, PackedRow, Request, RunSpec
from explorer.resources import Resources
from explorer.rows.builders import measure_row
from explorer.runs import part, pipeline, worker
from explorer.runs.folder import RunFolder
from explorer.runs.request import make_spec
from explorer.scoring import child_process, hf, model_process, model_process_child, own_process
from explorer.scoring.engine import tree
from explorer.scoring.engine.contract import RowOptions
from explorer.scoring.score import ModelScorer, score
from explorer.studies.study import Stages, Study
from tests.forked import FORKED

pytestmark = pytest.mark.slow  # each loads a model in another process

SETTINGS = {
    "accuracy": {"per_group": 4},
    "priming": {"per_group": 1, "lengths": (0, 40), "unrelated": "starter"},
}
LIMITS = {"accuracy": None, "priming": 7}  # more than a part
NO_SUCH_WORD = PackedRow((10**6, 5), (-1, 0), (0, 1), (False, True))
TEXTS = [Request(str(n), 0, "", "The cat sat on the mat." * n) for n in range(1, 4)]


@pytest.fixture(autouse=True)
def a_gpu_would_be_here(monkeypatch):
    """Processes are forked where imports are done; one run of test_part_processes.py has them begin from nothing."""
    monkeypatch.setattr(own_process, "is_worthwhile", lambda: True)
    monkeypatch.setattr(child_process, "subprocess", FORKED)


class _Content(list):
    """What can be told to be gone."""


class MadeUpMeter:
    """A meter that counts nothing."""

    def within(self, size):
        return lambda done, of: None

    def add(self, size):
        return None


def made_up_parts(settings):
    """A run of 400 instances, prepared ahead as for a model in a process of its own, and how many parts were held."""
    prepared: list[weakref.ref[_Content]] = []
    alive: list[int] = []

    def prepare(spec, resources, instances, progress, ahead):
        content = _Content(instances)
        prepared.append(weakref.ref(content))
        return content

    def score(spec, resources, content, progress):
        gc.collect()
        alive.append(sum(one() is not None for one in prepared))
        return content

    def tables(spec, resources, content):
        return {"measures": [measure_row(one.id, "correct", 1.0) for one in content]}

    stages = Stages(prepare, score, tables, lambda spec, resources: True)
    instances = [Instance(f"toy/{n}", "toy", "train", "g", "pair", "sentence", options=("a", "b")) for n in range(400)]
    spec = RunSpec(study="accuracy", version=2, model="m", benchmark="toy")
    recipe = Study(
        "accuracy", "", "", 2, {}, ("pair",), run_part=stages.run, stages=stages, summarize=lambda *given: [],
        select=lambda *given: instances, first_part=4,
    )  # fmt: skip
    resources = Resources(settings)
    resources._process = object()
    return part.RunWork(spec, resources, recipe, instances), stages, alive


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def loaded(settings, name: str) -> tuple[Resources, model_process.ModelProcess]:
    resources = Resources(settings)
    resources.begin_process(name, "float32")
    process = resources.reader(name, "float32")
    assert isinstance(process, model_process.ModelProcess)
    return resources, process


def done(settings, study: str, model: str) -> tuple[RunFolder, list[str]]:
    resources, said = Resources(settings), []
    spec = make_spec(
        resources, study=study, model=model, benchmark="starter_pairs", dtype="float32", settings=SETTINGS[study],
        limit=LIMITS[study],
    )  # fmt: skip
    folder = RunFolder.create(settings.runs, spec)
    worker.work(folder, resources, said.append, wait=False)
    return folder, said


@pytest.mark.parametrize("study", SETTINGS)
def test_rows_are_those_of_a_model_in_the_same_process(settings, tiny_gpt2, monkeypatch, tmp_path, study):
    if study != "accuracy":  # findings are made here, of the same rows; one study shows that such a run has them
        monkeypatch.setattr(Study, "summarize_run", lambda *given: [])
    apart, said = done(settings, study, str(tiny_gpt2))
    assert apart.progress().status == "complete", said
    rows = {table: apart.read(table) for table in ("scores", "measures", "instances")}
    monkeypatch.setattr(own_process, "is_worthwhile", lambda: False)
    (settings.runs / apart.run_id).rename(tmp_path / "apart")
    here, _ = done(settings, study, str(tiny_gpt2))
    assert here.run_id == apart.run_id
    for table, frame in rows.items():
        pd.testing.assert_frame_equal(frame, here.read(table), rtol=1e-4, atol=1e-3)


def test_scores_of_a_process_equal_those_here_token_by_token_and_its_record_is_the_models(settings, tiny_gpt2):
    resources, process = loaded(settings, str(tiny_gpt2))
    here = Resources(settings).model(str(tiny_gpt2), "float32")
    told: list[tuple[int, int]] = []
    for one, other in zip(score(process, TEXTS, progress=lambda *at: told.append(at)), score(here, TEXTS), strict=True):
        assert one.token_ids == other.token_ids and one.tokens == other.tokens
        assert one.logprobs == pytest.approx(other.logprobs, abs=1e-5, nan_ok=True)
    assert process.record() == here.record() and process.window == here.window and told[-1] == (3, 3)
    resources.end_process()


def test_its_end_leaves_no_process_and_what_is_asked_then_is_refused_in_one_sentence(settings, tiny_gpt2):
    resources, process = loaded(settings, str(tiny_gpt2))
    process.record()
    pid = process.pid
    resources.end_process()
    assert not is_alive(pid) and not resources.has_process
    with pytest.raises(ModelError, match="no longer there"):
        process.logprobs([])


def test_a_process_that_is_killed_ends_the_run_with_one_sentence_and_resume_makes_it_whole(
    settings, tiny_gpt2, monkeypatch
):
    plain = ModelScorer.begin
    calls = []

    def kill_at_the_third_part(self, rows, **named):
        calls.append(rows)
        if len(calls) == 3:
            os.kill(self.model.pid, signal.SIGKILL)
        return plain(self, rows, **named)

    monkeypatch.setattr(ModelScorer, "begin", kill_at_the_third_part)
    folder, _ = done(settings, "accuracy", str(tiny_gpt2))
    assert folder.progress().status == "failed"
    assert "ended by itself (signal 9)" in folder.progress().message and not folder.damaged()
    monkeypatch.setattr(ModelScorer, "begin", plain)
    folder, _ = done(settings, "accuracy", str(tiny_gpt2))
    assert folder.progress().status == "complete"
    assert folder.read("instances")["instance_id"].is_unique and folder.unfinished(folder.progress().total) == []


def test_a_model_that_cannot_be_loaded_says_what_it_says_here(settings, tiny_gpt2, tmp_path):
    broken = tmp_path / "broken"
    broken.mkdir()
    for path in tiny_gpt2.iterdir():
        (broken / path.name).write_bytes(path.read_bytes())
    weights = broken / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-400])
    with pytest.raises(ModelError) as here:
        Resources(settings).model(str(broken), "float32")
    resources, process = Resources(settings), None
    resources.begin_process(str(broken), "float32")
    assert resources.has_process
    with pytest.raises(ModelError) as apart:
        process = resources.reader(str(broken), "float32")
        process.record()
    assert str(apart.value) == str(here.value)
    resources.end_process()


def test_an_error_in_scoring_is_raised_where_the_scores_are_taken_and_the_process_goes_on(settings, tiny_gpt2):
    resources, process = loaded(settings, str(tiny_gpt2))
    take = process.begin([NO_SUCH_WORD])
    with pytest.raises(RuntimeError, match="IndexError"):
        take(None)
    assert len(score(process, TEXTS)) == 3
    resources.end_process()


def test_rows_that_wait_together_are_scored_together_and_one_that_cannot_be_scored_fails_alone(settings, tiny_gpt2):
    resources, process = loaded(settings, str(tiny_gpt2))
    rows = [tree.pack([[word, 5, 6]], [1], 8).rows for word in range(3, 9)]
    takes = [process.begin(each) for each in [*rows[:3], [NO_SUCH_WORD], *rows[3:]]]
    good = [take(None) for take in (*takes[:3], *takes[4:])]
    with pytest.raises(RuntimeError, match="IndexError"):
        takes[3](None)
    alone = [process.logprobs(each) for each in rows]
    for together, expected in zip(good, alone, strict=True):
        np.testing.assert_allclose(together[0].logprobs, expected[0].logprobs, atol=1e-5)
    resources.end_process()


def test_rows_come_to_another_process_as_they_are():
    rows = [*tree.pack([[3, 4, 5], [3, 4, 6], [7, 8]], [1, 2, 1], 16).rows, PackedRow((), (), (), ())]
    came = model_process.rows_from_bytes(model_process.rows_as_bytes(rows))
    for row, other in zip(rows, came, strict=True):
        for name in model_process.COLUMNS:
            assert list(getattr(row, name)) == list(getattr(other, name))
    assert model_process.rows_from_bytes(model_process.rows_as_bytes([])) == []


def test_what_waits_is_gathered_up_to_a_bound_in_its_order_and_by_its_options():
    messages = queue.SimpleQueue()
    plain, moments = RowOptions(), RowOptions(moments=True)
    for number, (rows, options) in enumerate([(200, plain), (200, plain), (200, plain), (1, moments), (1, plain)]):
        messages.put(("score", number, [None] * rows, options))
    gathered, first = [], None
    while first is not None or not messages.empty():
        wanted, first = model_process_child._next_batches(messages, first, wait=True)
        gathered.append([each.number for each in wanted])
    assert gathered == [[0, 1], [2], [3], [4]]
    assert model_process_child._next_batches(messages, None, wait=False) == ([], None)


def test_a_message_that_cannot_be_read_ends_the_process_and_is_told(settings, tiny_gpt2):
    resources, process = loaded(settings, str(tiny_gpt2))
    process.record()
    asked = process._ask("score", b"no rows", None)
    with pytest.raises(ModelError, match=r"ended by itself \(exit status 1\)\. What was finished is kept"):
        asked.answer.result(60)
    resources.end_process()


def test_an_answer_that_cannot_be_read_is_told_to_all_who_wait(settings, tiny_gpt2, monkeypatch):
    resources, process = loaded(settings, str(tiny_gpt2))
    process.record()
    take = process.begin([])
    monkeypatch.setattr(process, "take", lambda message: 1 / 0)
    second = process.begin([])
    for one in (take, second):
        with contextlib.suppress(IndexError):  # what an empty list of rows may give, if it came before the change
            try:
                one(None)
            except ModelError as error:
                assert "could not be read (ZeroDivisionError" in str(error)
    resources.end_process()


def test_a_sweep_loads_a_model_once_for_all_its_runs(settings, tiny_gpt2, monkeypatch, capsys):
    monkeypatch.setenv("EXPLORER_CACHE", str(settings.cache))
    made = []
    plain = model_process.ModelProcess.load

    def load(self, *given):
        made.append(self.pid)
        return plain(self, *given)

    monkeypatch.setattr(model_process.ModelProcess, "load", load)
    command = ["run", "accuracy", "--model", str(tiny_gpt2), "--benchmark", "starter_physics", "--limit", "4"]
    assert main([*command, "--seeds", "2", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [run["status"] for run in told["runs"]] == ["complete", "complete"]
    assert len(made) == 1 and not is_alive(made[0])


@pytest.mark.parametrize("spelled", ["{}/", "{}/../{name}"])
def test_a_folder_named_otherwise_is_the_same_model_and_loaded_once(settings, tiny_gpt2, monkeypatch, capsys, spelled):
    monkeypatch.setenv("EXPLORER_CACHE", str(settings.cache))
    monkeypatch.setattr(hf, "load", lambda *given, **named: pytest.fail("loaded in this process, too"))
    name = spelled.format(tiny_gpt2, name=tiny_gpt2.name)
    assert main(["run", "accuracy", "--model", name, "--benchmark", "starter_physics", "--limit", "4"]) == 0


def test_parts_prepared_ahead_are_let_go_once_they_are_stored(settings, monkeypatch):
    monkeypatch.setattr(part, "MAX_INSTANCES", 4)
    work, stages, alive = made_up_parts(settings)
    folder = RunFolder.create(settings.runs, work.spec)
    pipeline.make_parts(folder, work, stages, MadeUpMeter(), lambda: "stamp")
    assert len(alive) == 100 and max(alive) <= pipeline.MAX_PARTS_AHEAD + 4
    assert [int(name.rpartition("/")[2]) for name in folder.read("measures")["instance_id"]] == list(range(400))


def test_who_waits_for_a_process_can_be_stopped(settings, tiny_gpt2):
    resources, process = loaded(settings, str(tiny_gpt2))
    os.kill(process.pid, signal.SIGSTOP)
    end = time.monotonic() + 1

    def stop() -> None:
        if time.monotonic() > end:
            raise stopping.Stopped

    with pytest.raises(stopping.Stopped), stopping.until(stop):
        score(process, TEXTS)
    pid = process.pid
    resources.end_process()  # a process that does not answer is killed
    assert not is_alive(pid)


def test_a_preset_for_another_kind_is_refused_as_here(settings, tiny_gpt2):
    from explorer.scoring.policy import PRESETS

    resources, process = loaded(settings, str(tiny_gpt2))
    with pytest.raises(ScoringError, match="no masked language model"):
        score(process, TEXTS, PRESETS["pll"])
    resources.end_process()


def test_the_process_ends_with_the_one_that_asked(settings, tiny_gpt2, tmp_path):
    program = """
import time
from explorer.scoring.model_process import ModelProcess
process = ModelProcess()
print(process.pid, flush=True)
time.sleep(60)
"""
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert parent.stdout
    pid = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    end = time.monotonic() + 20
    while is_alive(pid) and time.monotonic() < end:
        time.sleep(0.1)
    assert not is_alive(pid)
