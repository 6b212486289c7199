"""Stop means stop: a cancel reaches a worker wherever it waits, and every call ends."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from explorer import fetch, sharing, stopping
from explorer import settings as settings_module
from explorer.errors import RunError
from explorer.fetch import Patience, WebError
from explorer.resources import Resources
from explorer.runs import queue
from explorer.runs.folder import RunFolder
from explorer.runs.interrupt import interrupted
from explorer.runs.request import make_spec
from explorer.runs.state import Cancelled
from explorer.settings import Settings
from tests import forked, slow_servers
from tests.forked import Forked
from tests.slow_servers import WAYS, serving


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return settings_module.read(cache=tmp_path / "cache")


def new_run(settings: Settings, model: str, study: str = "accuracy", **given: object) -> RunFolder:
    spec = make_spec(Resources(settings), study=study, model=model, benchmark="starter_pairs", limit=20, settings=given)
    return RunFolder.create(settings.runs, spec)


@contextlib.contextmanager
def worker(settings: Settings, folder: RunFolder, **environment: str) -> Iterator[Forked]:
    own = {**os.environ, **environment}
    own.pop("EXPLORER_OFFLINE", None)
    child = forked.explorer("work", folder.run_id, "--cache", str(settings.cache), env=own)
    try:
        yield child
    finally:
        child.kill()
        child.wait()


def wait_until(true: Callable[[], object], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def cancel_and_wait(settings: Settings, folder: RunFolder, child: Forked) -> None:
    """Cancels a run whose worker waits for what does not come, and waits until nobody works on it any more."""
    assert child.poll() is None and folder.is_being_worked()
    queue.cancel(settings, folder.run_id)
    wait_until(lambda: not folder.is_being_worked(), 50)
    assert folder.progress().status == "cancelled"


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_a_cancel_reaches_a_worker_that_waits_for_an_endpoint(settings, way):
    with serving(WAYS[way]) as server:
        folder = new_run(settings, f"{server.url}#m")
        with worker(settings, folder) as child:
            wait_until(lambda: server.asked)
            time.sleep(0.5)
            cancel_and_wait(settings, folder, child)
            child.wait(20)


@pytest.mark.slow
@pytest.mark.parametrize("way", [slow_servers.drips, slow_servers.asks_to_wait(100)], ids=["drip", "Retry-After"])
def test_a_cancel_reaches_a_worker_that_waits_for_counts(settings, way, tiny_gpt2):
    with serving(way) as server:
        folder = new_run(settings, str(tiny_gpt2), "popularity", index="v4_piletrain_llama")
        with worker(settings, folder, EXPLORER_INFINIGRAM_URL=server.url) as child:
            wait_until(lambda: server.asked)
            time.sleep(0.5)
            cancel_and_wait(settings, folder, child)


@pytest.mark.slow
def test_a_cancel_reaches_a_worker_that_waits_for_a_rate_limit(settings, tiny_gpt2):
    def refuses(caller, asked):
        caller.sendall(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")

    with serving(refuses) as server:
        folder = new_run(settings, str(tiny_gpt2), "popularity", index="v4_piletrain_llama")
        rate = {"EXPLORER_REQUESTS_PER_SECOND": "0.01"}
        with worker(settings, folder, EXPLORER_INFINIGRAM_URL=server.url, **rate) as child:
            wait_until(lambda: server.asked)
            time.sleep(0.5)
            cancel_and_wait(settings, folder, child)


@pytest.mark.slow
def test_a_cancel_reaches_a_worker_that_waits_for_a_lock(settings, tiny_gpt2):
    folder = new_run(settings, str(tiny_gpt2), "perturbation")
    settings.nltk_data.mkdir(parents=True, exist_ok=True)
    with sharing.hold(settings.nltk_data / ".wordnet.lock"), worker(settings, folder) as child:
        wait_until(folder.is_being_worked)
        time.sleep(8)  # until it stands before the lock
        cancel_and_wait(settings, folder, child)


@pytest.mark.slow
def test_delete_waits_for_a_cancelled_worker_and_refuses_one_that_goes_on(settings):
    with serving(slow_servers.drips) as server:
        folder = new_run(settings, f"{server.url}#m")
        with worker(settings, folder) as child:
            wait_until(lambda: server.asked)
            with pytest.raises(RunError, match="Cancel it first"):
                folder.delete()
            queue.cancel(settings, folder.run_id)
            folder.delete()
            assert not folder.path.exists()
            child.wait(20)
            assert not folder.path.exists()


def test_a_main_thread_that_never_looks_is_interrupted():
    asked = threading.Event()
    threading.Timer(0.2, asked.set).start()
    slept = False
    with pytest.raises(Cancelled), interrupted(asked.is_set):
        time.sleep(60)
        slept = True
    assert not slept
    time.sleep(1.2)  # nothing comes after it


def test_an_error_kept_by_a_library_does_not_keep_a_worker():
    asked = threading.Event()
    asked.set()
    kept = 0
    with pytest.raises(Cancelled), interrupted(asked.is_set):
        while True:
            try:
                time.sleep(60)
            except BaseException:
                kept += 1
                if kept == 2:
                    raise
    assert kept == 2


@pytest.mark.parametrize("way", ["a byte a second", "a byte of the head a second"])
def test_a_call_has_a_deadline_for_the_whole_and_hangs_up(way):
    with serving(WAYS[way]) as server:
        with pytest.raises(WebError, match="did not finish its answer") as told:
            fetch.post_json(server.url, {}, patience=Patience(read=30, whole=1.5))
        assert told.value.kind == "slow" and server.asked == 1
        wait_until(lambda: server.hung_up, 10)


def test_a_download_that_drips_ends_and_one_that_is_large_does_not(tmp_path, monkeypatch):
    monkeypatch.setattr(fetch, "SLOWEST", 10_000)

    def flows(caller, asked):
        caller.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 400000\r\n\r\n")
        for _ in range(40):
            caller.sendall(bytes(10_000))
            time.sleep(0.05)

    class Getting(slow_servers.SlowServer):
        def _answer(self, caller):
            with caller, contextlib.suppress(OSError):
                self._request(caller)
                self.asked += 1
                self.way(caller, b"")

    patience = Patience(read=30, whole=1.0)
    with contextlib.closing(Getting(slow_servers.drips)) as server, pytest.raises(WebError, match="did not finish"):
        fetch.download(server.url, tmp_path / "slow", patience=patience)
    with contextlib.closing(Getting(flows)) as server:
        assert fetch.download(server.url, tmp_path / "large", patience=patience).stat().st_size == 400_000


def test_who_waits_for_a_file_another_process_downloads_can_be_stopped(tmp_path):
    ready = "import fcntl,sys,time; f=open(sys.argv[1],'a'); fcntl.flock(f,2); print('held',flush=True); time.sleep(60)"
    holder = subprocess.Popen([sys.executable, "-c", ready, str(tmp_path / ".lock")], stdout=subprocess.PIPE)
    try:
        assert holder.stdout.readline()
        assert_stops(lambda: fetch.download("http://127.0.0.1:9/x", tmp_path / "x"))
    finally:
        holder.kill()
        holder.communicate()


def assert_stops(wait: Callable[[], object]) -> None:
    """That a wait of a minute, told to stop, ends by it."""
    asked = threading.Event()
    threading.Timer(0.5, asked.set).start()

    def stop() -> None:
        if asked.is_set():
            raise Cancelled

    with pytest.raises(Cancelled), stopping.until(stop):
        wait()


def test_every_kind_of_wait_ends_when_it_is_told_to(tmp_path):
    taken = threading.Lock()
    taken.acquire()

    def in_turn() -> None:
        with stopping.turn(taken):
            pass

    waits: dict[str, Callable[[], object]] = {
        "a pause": lambda: stopping.pause(60),
        "a lock": in_turn,
        "a program": lambda: stopping.command([sys.executable, "-c", "import time; time.sleep(60)"], 60),
        "a rate limit": lambda: [limit() for limit in [fetch.RateLimit(0.01)] * 2],
        "a pool": lambda: list(stopping.in_threads(lambda _: stopping.pause(60), range(9), 3)),
        "a call": lambda: stopping.call(lambda: time.sleep(60), lambda: 60.0),
    }
    for wait in waits.values():
        assert_stops(wait)


def test_one_caller_that_stops_does_not_stop_another_at_the_same_endpoint():
    from explorer.records import Request
    from explorer.scoring.http import Endpoint
    from explorer.scoring.http_calls import Limits

    def slowly(caller, asked):
        time.sleep(1.5)
        body = b'{"choices": [{"text": " word", "finish_reason": "stop"}]}'
        caller.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    with serving(slowly) as server:
        endpoint = Endpoint(server.url, "m", Settings(Path("cache")), limits=Limits(concurrency=2))
        asked = [Request(instance_id="a", option=0, context="A", continuation="")] * 3
        answers: list[str] = []

        def other() -> None:
            answers.extend(one.text for one in endpoint.generate(asked, max_new_tokens=3))

        thread = threading.Thread(target=other)
        thread.start()
        assert_stops(lambda: endpoint.generate(asked, max_new_tokens=3))
        thread.join(20)
        assert answers == [" word"] * 3
