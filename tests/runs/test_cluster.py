"""A real Ray cluster of two workers on this machine, and a real object store: what is lost is done again, once."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections.abc import Iterator

import pandas as pd
import pytest

from explorer import settings as settings_module
from explorer.resources import Resources
from explorer.runs import bucket as buckets
from explorer.runs import compute_target as places
from explorer.runs import part, worker
from explorer.runs.bucket import Bucket
from explorer.runs.compute_target import ComputeTarget
from explorer.runs.folder import RunFolder
from explorer.runs.request import make_spec
from tests.runs.forked_ray_workers import forked_workers
from tests.slow_servers import drips, serving

pytestmark = pytest.mark.slow

CLUSTER = ComputeTarget("auto", cpus=1)
LIMIT = 240
PART = 30  # instances; by time, parts would be of one instance each on a machine with other work


@pytest.fixture(scope="module")
def cluster(way, tmp_path_factory) -> Iterator[None]:
    """A Ray cluster of two processors, which knows the object store's keys from its environment.

    Its workers are as eager as all other processes (Ray's own have the niceness 15, and wait for whatever else there
    is to do), and none is started before there is work for it.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EXPLORER_OFFLINE", "1")
        patch.setenv("OMP_NUM_THREADS", "1")
        import ray  # tests/conftest.py has set what it reads when it is imported
        from ray._private.node import Node

        # What scales a cluster, gathers its logs and answers at its board: a second of processor each, for nothing.
        for name in ("start_monitor", "start_log_monitor", "start_api_server"):
            patch.setattr(Node, name, lambda self, **named: None)
        with forked_workers(tmp_path_factory.mktemp("ray")) as runtime_env:
            ray.init(
                address="local", num_cpus=2, object_store_memory=100 << 20, include_dashboard=False,
                log_to_driver=False, logging_level="error", runtime_env=runtime_env,
                _system_config={"worker_niceness": 0, "enable_worker_prestart": False,
                                "prestart_worker_first_driver": False},
            )  # fmt: skip
            yield
            ray.shutdown()


@pytest.fixture(autouse=True)
def short_parts(monkeypatch) -> None:
    monkeypatch.setattr(part, "next_size", lambda size, done, seconds: PART)


@pytest.fixture(scope="module")
def here(tmp_path_factory, tiny_gpt2) -> RunFolder:
    """The run as one process does it."""
    settings = settings_module.Settings(cache=tmp_path_factory.mktemp("here"), offline=True, precomputed=None)
    folder = new_run(settings, tiny_gpt2)
    assert work(folder, Resources(settings), lambda message: None) == "complete"
    return folder


def work(folder: RunFolder, resources: Resources, say, progress=None) -> str:
    """Does a run as the command line does, which hands the worker its way to a cluster."""
    from explorer.cluster import ray_parts

    return worker.work(folder, resources, say, progress, on_cluster=ray_parts.make_parts)


def new_run(settings, model, where: ComputeTarget | None = None) -> RunFolder:
    spec = make_spec(
        Resources(settings), study="accuracy", model=str(model), benchmark="starter_pairs", limit=LIMIT, seed=3
    )
    folder = RunFolder.create(settings.runs, spec)
    if where is not None:
        places.save_target(folder, where)
    return folder


def assert_same_rows(folder: RunFolder, other: RunFolder) -> None:
    """Row for row: every instance, score and measure once, in run order, with the same numbers."""
    assert folder.run_id == other.run_id
    for table, key in (("instances", []), ("scores", ["request"]), ("measures", ["option", "measure"])):
        left, right = folder.read(table), other.read(table)
        assert not left.duplicated(["instance_id", *key]).any()
        pd.testing.assert_frame_equal(left, right, rtol=0, atol=1e-3)
    pd.testing.assert_frame_equal(folder.read("findings"), other.read("findings"), rtol=0, atol=1e-3)


def test_a_run_on_a_cluster_equals_a_run_here(cluster, settings, tiny_gpt2, here):
    folder = new_run(settings, tiny_gpt2, CLUSTER)
    said, seen = [], []
    assert work(folder, Resources(settings), said.append, lambda done, total: seen.append(done)) == "complete"
    assert_same_rows(folder, here)
    assert re.match(r"worker \d on .* is ready", said[1])
    assert len(folder.finished()) > 4
    assert seen == sorted(seen) and seen[-1] == LIMIT
    assert folder.environment["model"]["device"] == "cpu"
    assert len(folder.environments()) == 1
    stored = Resources(settings).store()
    assert stored.frame("SELECT status, done FROM runs").iloc[0].tolist() == ["complete", LIMIT]
    assert stored.frame("SELECT count(*) AS n FROM instances")["n"][0] == LIMIT


def test_a_cancelled_run_goes_on_and_a_killed_worker_loses_and_doubles_no_row(cluster, settings, tiny_gpt2, here):
    folder = new_run(settings, tiny_gpt2, ComputeTarget("auto", workers=1, cpus=1))

    def cancel_early(done: int, total: int) -> None:
        if folder.finished():
            folder.ask_to_cancel()

    assert work(folder, Resources(settings), lambda message: None, cancel_early) == "cancelled"
    kept = folder.finished()
    assert kept and sum(last - first + 1 for first, last in kept) < LIMIT

    said: list[str] = []
    killed: list[int] = []

    def kill_once(done: int, total: int) -> None:
        ready = [match for line in said if (match := re.search(r"worker (\d+) .* is ready \(process (\d+)", line))]
        if not killed and ready and len(folder.finished()) > len(kept):
            killed.extend((int(ready[0][1]), int(ready[0][2])))
            os.kill(killed[1], signal.SIGKILL)

    places.save_target(folder, CLUSTER)
    assert work(folder, Resources(settings), said.append, kill_once) == "complete"
    assert killed
    assert any(f"worker {killed[0]} " in line and "was lost" in line for line in said)
    assert set(kept) <= set(folder.finished())
    assert_same_rows(folder, here)


def test_a_cancel_reaches_a_cluster_whose_workers_wait_for_a_dripping_endpoint(cluster, settings):
    with serving(drips) as server:
        folder = new_run(settings, f"{server.url}#m", ComputeTarget("auto", workers=1, cpus=1))

        def cancel() -> None:
            while not server.asked:
                time.sleep(0.05)
            folder.ask_to_cancel()

        threading.Thread(target=cancel, daemon=True).start()
        # An answer takes eleven days: who waited for it would not come back.
        assert work(folder, Resources(settings), lambda message: None) == "cancelled"


def test_a_run_into_a_bucket_outlives_a_broken_upload_and_an_expired_key(cluster, way, settings, tiny_gpt2, here):
    folder = new_run(settings, tiny_gpt2, ComputeTarget("auto", to="s3://runs/papers", workers=1, cpus=1))
    way.broken = 2

    def expire(done: int, total: int) -> None:
        way.expired = len(folder.finished()) >= 2

    assert work(folder, Resources(settings), lambda message: None, expire) == "failed"
    assert way.seen["broken"] == 2 and way.seen["expired"] >= 1
    message = folder.progress().message
    assert "expired" in message and "Renew the keys" in message
    kept = folder.finished()
    assert kept

    way.expired = False
    # As if this machine's disk had been lost: what is in the bucket comes back, and one file of it is damaged.
    bucket = Bucket("s3://runs/papers", folder.run_id)
    lost = RunFolder.create(
        settings_module.Settings(cache=settings.cache.parent / "new", offline=True).runs, folder.spec
    )
    names = sorted(bucket.marks())
    assert [f"{first:09d}-{last:09d}" for first, last in kept] == names
    bucket.write(f"parts/scores/{names[-1]}.parquet", b"half")
    assert len(buckets.pull(bucket, lost)) == 1
    assert lost.finished() == kept[:-1]
    places.save_target(lost, places.read_target(folder))

    elsewhere = settings_module.Settings(cache=settings.cache.parent / "new", offline=True)
    assert work(lost, Resources(elsewhere), lambda message: None) == "complete"
    assert_same_rows(lost, here)

    copied = RunFolder(settings.cache.parent / "copied" / folder.run_id)
    for name in ("spec.json", "environment.json", "progress.json", "parts/findings/all.parquet"):
        bucket.fetch(name, copied.path / name)
    assert buckets.pull(bucket, copied) == {}
    assert copied.progress().status == "complete"
    assert_same_rows(copied, here)
    for path in settings.cache.parent.rglob("*"):
        assert not path.is_file() or b"planted-secret" not in path.read_bytes()
