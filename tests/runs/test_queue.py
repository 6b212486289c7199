"""The line of workers and the cancel mark, looked at without a worker."""

from __future__ import annotations

from explorer.records import RunSpec
from explorer.resources import Resources
from explorer.runs import queue
from explorer.runs.folder import RunFolder
from explorer.runs.worker import work


def silent(message: str) -> None:
    pass


def test_a_run_cancelled_before_its_worker_is_up_stays_cancelled(settings):
    folder = RunFolder.create(settings.runs, RunSpec("accuracy", 1, "toy", "starter_pairs"))
    assert folder.progress().status == "queued"
    queue.cancel(settings, folder.run_id)
    assert folder.progress().status == "cancelled"
    assert work(folder, Resources(settings), silent) == "cancelled"
    assert not (folder.path / "cancel").exists()


def test_files_that_are_no_tickets_do_not_hold_up_the_line(settings):
    folder = RunFolder.create(settings.runs, RunSpec("accuracy", 1, "toy", "starter_pairs"))
    line = settings.cache / "queue"
    line.mkdir(parents=True)
    for name in (".DS_Store", "0 notes", "desktop.ini"):
        (line / name).write_text("")
    queue.wait_for_turn(folder, settings, silent)
    queue.leave_queue()
    assert sorted(path.name for path in line.iterdir()) == [".DS_Store", "0 notes", "desktop.ini"]


def test_a_model_is_not_loaded_ahead_of_a_run_that_is_under_way(settings, monkeypatch):
    from explorer import __main__ as command
    from explorer.resources import Resources

    began = []
    monkeypatch.setattr(Resources, "load_ahead", lambda self, name, dtype: began.append("loaded"))
    monkeypatch.setattr(Resources, "start_process", lambda self: began.append("started"))
    asked = ["run", "accuracy", "--model", "/no/such/model", "--benchmark", "starter_pairs"]
    asked += ["--cache", str(settings.cache)]
    command.main(asked)
    folder = RunFolder.create(settings.runs, RunSpec(study="accuracy", version=2, model="m", benchmark="starter_pairs"))
    queue.wait_for_turn(folder, settings, lambda text: None)
    try:
        command.main(asked)
    finally:
        queue.leave_queue()
    assert began == ["loaded", "started"]
