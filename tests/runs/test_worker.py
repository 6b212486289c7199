"""Real workers on a real small model: killed, resumed, cancelled, queued, two at once."""

from __future__ import annotations

import dataclasses
import signal
import time

import pandas as pd
import pytest

from explorer.errors import RunError
from explorer.resources import Resources
from explorer.runs import queue, worker
from explorer.runs.folder import RunFolder
from explorer.runs.request import make_spec
from explorer.runs.worker import work
from explorer.studies.accuracy import study as study_module
from explorer.studies.accuracy.study import STUDY
from tests import forked

pytestmark = pytest.mark.slow


def new_run(settings, model, *, limit=60, seed=0, **given) -> RunFolder:
    spec = make_spec(
        Resources(settings),
        study="accuracy", model=str(model), benchmark="starter_pairs", limit=limit, seed=seed, settings=given,
    )  # fmt: skip
    return RunFolder.create(settings.runs, spec)


def silent(message: str) -> None:
    pass


def rows(folder: RunFolder) -> pd.DataFrame:
    scores = folder.read("scores")
    return scores.sort_values(["instance_id", "request"]).reset_index(drop=True)


def test_a_worker_killed_again_and_again_leaves_no_lost_and_no_doubled_row(settings, tiny_gpt2):
    whole = new_run(settings, tiny_gpt2, limit=400)
    assert work(whole, Resources(settings), silent) == "complete"
    expected = rows(whole)
    killed_settings = type(settings)(cache=settings.cache.parent / "second", offline=True)
    folder = new_run(killed_settings, tiny_gpt2, limit=400)
    assert folder.run_id == whole.run_id
    kills = 0
    for patience in (0.0, 0.05, 0.2, 0.5):
        process = forked.explorer("work", folder.run_id, "--cache", str(killed_settings.cache))
        before = len(folder.finished())
        deadline = time.monotonic() + 60
        while process.poll() is None and len(folder.finished()) <= before and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(patience)
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            kills += 1
        process.wait()
    assert kills
    log = killed_settings.cache / "log.txt"
    process = forked.explorer("work", folder.run_id, "--cache", str(killed_settings.cache), log=log)
    assert process.wait(120) == 0, log.read_text("utf-8")
    found = rows(folder)
    assert not found.duplicated(["instance_id", "request"]).any()
    assert found["instance_id"].tolist() == expected["instance_id"].tolist()
    pd.testing.assert_series_equal(found["logprob"], expected["logprob"], rtol=0, atol=1e-3)
    assert folder.progress().status == "complete"


def test_a_cancelled_run_keeps_its_parts_and_goes_on_later(settings, tiny_gpt2):
    folder = new_run(settings, tiny_gpt2, limit=300)
    resources = Resources(settings)

    def cancel_early(done: int, total: int) -> None:
        if folder.finished():
            folder.ask_to_cancel()

    assert work(folder, resources, silent, cancel_early) == "cancelled"
    kept = folder.finished()
    assert kept and kept[-1][1] < 299
    assert folder.progress().status == "cancelled"
    assert resources.store().frame("SELECT status FROM runs")["status"].tolist() == ["cancelled"]
    assert work(folder, resources, silent) == "complete"
    assert folder.finished()[: len(kept)] == kept
    assert resources.store().frame("SELECT count(DISTINCT instance_id) AS n FROM measures")["n"][0] == 300


def test_asking_for_a_complete_run_again_finds_it_and_starts_nothing(settings, tiny_gpt2):
    folder = new_run(settings, tiny_gpt2, limit=20)
    assert work(folder, Resources(settings), silent) == "complete"
    assert queue.submit(settings, folder.spec) == folder.run_id
    assert not folder.is_being_worked()
    with pytest.raises(RunError, match="nothing to cancel"):
        queue.cancel(settings, folder.run_id)


def test_workers_started_together_take_turns_and_a_second_on_the_same_run_is_refused(settings, tiny_gpt2, tmp_path):
    first, second = (new_run(settings, tiny_gpt2, limit=200, seed=seed, per_group=15) for seed in (1, 2))
    log = tmp_path / "log"
    processes = [
        forked.explorer("work", folder.run_id, "--cache", str(settings.cache), log=log)
        for folder in (first, second, first)
    ]
    codes = [process.wait(180) for process in processes]
    assert codes[1] == 0 and sorted([codes[0], codes[2]]) in ([0, 1], [0, 0])
    assert first.run_id in log.read_text() and "Traceback" not in log.read_text()
    assert first.progress().status == second.progress().status == "complete"
    counted = Resources(settings).store().frame("SELECT run_id, count(*) AS n FROM instances GROUP BY run_id")
    assert sorted(counted["n"]) == [200, 200]


def test_who_reads_complete_finds_the_rows_in_the_database(settings, tiny_gpt2, monkeypatch):
    folder = new_run(settings, tiny_gpt2, limit=20)
    resources = Resources(settings)
    seen = []
    write = RunFolder.write_progress

    def look(self, **changes):
        if changes.get("status") == "complete":
            stored = resources.store()
            seen.append(stored.frame("SELECT status, message FROM runs").iloc[0].tolist())
            seen.append(len(stored.frame("SELECT * FROM findings")))
            stored.close()
        write(self, **changes)

    monkeypatch.setattr(RunFolder, "write_progress", look)
    assert work(folder, resources, silent) == "complete"
    assert seen[0] == ["complete", ""] and seen[1] > 0


@pytest.mark.parametrize("fails", [False, True])
def test_parts_go_into_the_database_while_the_findings_are_made(settings, tiny_gpt2, monkeypatch, fails):
    monkeypatch.setattr(worker, "INGESTED_AHEAD", 1)
    folder, resources, seen = new_run(settings, tiny_gpt2, limit=20), Resources(settings), []
    plain = STUDY.summarize

    def summarize(*given):
        assert resources._ingesting.has_succeeded(60)
        seen.append(resources.store().frame("SELECT status, message FROM runs").iloc[0].tolist())
        if fails:
            raise RuntimeError("nothing can be concluded")
        return plain(*given)

    monkeypatch.setitem(study_module.__dict__, "STUDY", dataclasses.replace(STUDY, summarize=summarize))
    ended = "failed" if fails else "complete"
    assert work(folder, resources, silent) == ended
    assert seen == [["interrupted", worker.BROKEN_OFF]]
    store = resources.store()
    assert store.frame("SELECT status FROM runs")["status"].tolist() == [ended]
    assert store.frame("SELECT count(DISTINCT instance_id) AS n FROM measures")["n"][0] == 20
    assert (store.frame("SELECT count(*) AS n FROM findings")["n"][0] > 0) == (not fails)


def test_a_run_that_cannot_be_stored_is_not_complete_and_resume_stores_it(settings, tiny_gpt2):
    folder = new_run(settings, tiny_gpt2, limit=20)
    settings.store.parent.mkdir(parents=True, exist_ok=True)
    settings.store.write_text("a file where the database should be")
    assert work(folder, Resources(settings), silent) == "failed"
    assert folder.progress().message and folder.unfinished(20) == []
    settings.store.unlink()
    assert work(folder, Resources(settings), silent) == "complete"
    assert Resources(settings).store().frame("SELECT count(*) AS n FROM instances")["n"][0] == 20


def test_a_run_whose_data_or_weights_have_changed_is_not_mixed(settings, tiny_gpt2):
    spec = new_run(settings, tiny_gpt2, limit=20).spec
    for name, told in (("data_hash", "The data of starter_pairs"), ("weights", "The weights of")):
        other = RunFolder.create(settings.runs, type(spec)(**{**_fields(spec), name: "another"}))
        assert work(other, Resources(settings), silent) == "failed"
        assert told in other.progress().message and "was asked of another" in other.progress().message
        assert other.finished() == []


def test_a_study_that_fails_says_why_and_keeps_what_it_had(settings, tiny_gpt2):
    folder = new_run(settings, tiny_gpt2, limit=20)
    broken = settings.models / "nothing"
    spec = folder.spec
    moved = RunFolder.create(settings.runs, type(spec)(**{**_fields(spec), "model": str(broken)}))
    assert work(moved, Resources(settings), silent) == "failed"
    assert str(broken) in moved.progress().message
    assert moved.progress().status == "failed"


def _fields(spec) -> dict:
    import dataclasses

    return {field.name: getattr(spec, field.name) for field in dataclasses.fields(spec)}
