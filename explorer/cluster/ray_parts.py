"""A run's parts made on a Ray cluster: a worker with a model of its own on every GPU, each with one part in hand.

The nodes write a part's tables, into the run's folder or a bucket; this process, which holds the run's lock, alone
marks parts as done. So what a lost worker left behind, or one that was only thought lost still writes, never counts.
Through Ray go names, numbers and the findings.
"""

from __future__ import annotations

import contextlib
import math
import os
import platform
import socket
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import ray
import ray.exceptions

from explorer import stopping
from explorer.cluster.node import PARTS_AT_ONCE, MadePart, NodeJob, NodeWorker, WorkerFault, WorkerReady
from explorer.errors import RunError
from explorer.rows.builders import Row
from explorer.runs import bucket as buckets
from explorer.runs import part
from explorer.runs import spec as specs
from explorer.runs.bucket import Bucket
from explorer.runs.compute_target import AUTO, ComputeTarget
from explorer.runs.folder import RunFolder
from explorer.runs.parquet import is_whole
from explorer.scoring import hf_source, http
from explorer.settings import ROOT

if TYPE_CHECKING:
    from explorer.runs.worker import Meter

Say = Callable[[str], None]

OBJECT_STORE = 100 << 20  # bytes; only small answers go through it
POLL = 0.4  # seconds between two looks at the cancel mark
MAX_LOST_WORKERS = 3  # workers that a part may end before the run fails
CPUS = 4  # of a worker without a GPU
MOST_CPUS = 8  # of a worker with one
SECONDS_TO_SEE = 60.0  # seconds for a file that a node wrote to be seen here

PREPARE = "prepare"
SUMMARIZE = "summarize"
Task = str | tuple[int, int]  # one of the two words above, or the first and last instance of a part


def make_parts(folder: RunFolder, work: part.RunWork, where: ComputeTarget, meter: Meter, say: Say) -> None:
    """What is left of a run and its findings, done on the cluster."""
    bucket = Bucket(where.to, folder.run_id) if where.to else None
    if bucket is not None:
        bucket.send(folder.path / "spec.json", "spec.json")
        for name, problem in buckets.pull(bucket, folder).items():
            say(f"{problem} It is made again.")
            bucket.unmark(name)
        buckets.push(bucket, folder)
        meter.done = sum(last - first + 1 for first, last in folder.finished())
    with _connected(where):
        shape = _capacity_of(where)
        if shape.gpus and work.recipe.may_be_apart(work.spec.settings) and not http.is_endpoint(work.spec.model):
            shape = replace(shape, in_hand=PARTS_AT_ONCE)
        settings = work.resources.settings
        job = NodeJob(
            spec=specs.to_json(work.spec),
            folder=str(folder.path),
            cache=str(settings.cache),
            data=str(settings.data or ""),
            host=platform.node(),
            bucket=where.to,
            threads=0 if shape.gpus else shape.cpus,
        )
        workers = _Workers(folder, bucket, job, shape, work, meter, say)
        try:
            workers.make_all_parts()
            meter.look("concluding")
            findings = workers.summarize()
        except (ray.exceptions.RayError, ConnectionError) as error:
            raise RunError(
                f"The cluster broke off ({_first_line(error)}). Resume goes on with what is left."
            ) from error
        finally:
            workers.dismiss()
    folder.write_findings(findings)
    if bucket is not None:
        for path in (*sorted((folder.path / "environments").glob("*.json")), folder.path / "environment.json"):
            bucket.send(path, path.relative_to(folder.path).as_posix())
        bucket.send(folder.parts / "findings" / "all.parquet", "parts/findings/all.parquet")


@dataclass(frozen=True, slots=True)
class _Capacity:
    """How many workers there is room for, and what each is given."""

    workers: int
    gpus: int
    cpus: int
    in_hand: int = 1  # parts of a worker at once


@dataclass(slots=True, eq=False)
class _RayWorker:
    """One Ray actor, which holds the model on one GPU or on some processors."""

    number: int
    actor: Any
    size: int  # instances of its next part
    name: str = ""
    stamp: str = ""  # of its environment
    is_lost: bool = False


class _Workers:
    """The workers of one run. A worker gets its next part when one of its parts is stored: nothing piles up."""

    def __init__(
        self,
        folder: RunFolder,
        bucket: Bucket | None,
        job: NodeJob,
        shape: _Capacity,
        work: part.RunWork,
        meter: Meter,
        say: Say,
    ) -> None:
        self.folder, self.bucket, self.job, self.shape, self.meter, self.say = folder, bucket, job, shape, meter, say
        self.ranges_left = deque(folder.unfinished(len(work.instances)))
        self.size = work.recipe.first_part
        worker = ray.remote(num_cpus=shape.cpus, num_gpus=shape.gpus, max_restarts=0)(NodeWorker)
        self.make: Any = worker.options(max_concurrency=shape.in_hand)  # type: ignore[attr-defined]
        self.idle: list[_RayWorker] = []  # once for each part that a worker could take in hand
        self.busy: dict[Any, tuple[_RayWorker, Task]] = {}  # by the answer that is awaited
        self.started = 0
        # One worker goes ahead, so that the others find what it downloads and counts, where there may be such.
        self.is_first_alone = not (
            work.recipe.may_be_apart(work.spec.settings)
            and not work.recipe.for_parts
            and hf_source.find_unhashed_folder(work.spec.model)
        )
        self.failures: Counter[str | int] = Counter()

    def make_all_parts(self) -> None:
        """Every part that is left, made and stored."""
        while self.ranges_left or any(isinstance(task, tuple) for _, task in self.busy.values()):
            self._start_workers()
            while self.ranges_left and self.idle:
                member = self.idle.pop(0)
                self._assign(member, self._next_part(member))
            self._await_answers()

    def summarize(self) -> list[Row]:
        """The findings, from one worker."""
        while True:
            if not self.idle:
                self._start_workers()
            elif not any(task == SUMMARIZE for _, task in self.busy.values()):
                self._assign(self.idle.pop(0), SUMMARIZE)
            findings = self._await_answers("concluding")
            if findings is not None:
                return findings

    def dismiss(self) -> None:
        """Ends all workers."""
        for member in (*self.idle, *(member for member, _ in self.busy.values())):
            _kill_worker(member)
        self.idle.clear()
        self.busy.clear()

    def _start_workers(self) -> None:
        # No more workers than there are parts left: each loads the model, which takes longer than a small part.
        instances_left = sum(last - first + 1 for first, last in self.ranges_left)
        at_work = sum(isinstance(task, tuple) for _, task in self.busy.values())
        workers_wanted = (
            1 if self.is_first_alone else min(self.shape.workers, at_work + math.ceil(instances_left / self.size))
        )
        present = {member.number for member in (*self.idle, *(member for member, _ in self.busy.values()))}
        for _ in range(max(1, workers_wanted) - len(present)):
            self.started += 1
            member = _RayWorker(self.started, self.make.remote(self.job), self.size)
            self._assign(member, PREPARE)

    def _next_part(self, member: _RayWorker) -> tuple[int, int]:
        first, last = self.ranges_left.popleft()
        instances_left = last - first + 1 + sum(end - start + 1 for start, end in self.ranges_left)
        # Towards the end the parts get smaller, so that no worker is left alone with a long one.
        share = max(math.ceil(instances_left / (2 * self.shape.workers * self.shape.in_hand)), member.size // 8)
        size = member.size if self.is_first_alone else min(member.size, share)
        end = min(last, first + size - 1)
        if end < last:
            self.ranges_left.appendleft((end + 1, last))
        return first, end

    def _assign(self, member: _RayWorker, task: Task) -> None:
        if isinstance(task, tuple):
            answer = member.actor.make_part.remote(*task)
        else:
            answer = (
                member.actor.prepare.remote() if task == PREPARE else member.actor.summarize.remote(self.meter.total)
            )
        self.busy[answer] = (member, task)

    def _await_answers(self, message: str = "") -> list[Row] | None:
        """Handles the answers that have arrived; the findings, if they are among them. Cancelled at a cancel mark."""
        ready, _ = ray.wait(list(self.busy), num_returns=1, timeout=POLL)
        if ready:
            ready, _ = ray.wait(list(self.busy), num_returns=len(self.busy), timeout=0)
        findings = None
        for answer in ready:
            member, task = self.busy.pop(answer)
            try:
                result = ray.get(answer)
            except ray.exceptions.RayError as error:
                self._on_lost(member, task, error)
                continue
            self.idle.append(member)
            if isinstance(result, WorkerFault):
                raise RunError(result.message)
            if isinstance(result, WorkerReady):
                self.idle.extend([member] * (self.shape.in_hand - 1))
                self._on_ready(member, result)
            elif isinstance(result, MadePart) and isinstance(task, tuple):
                self._store(member, task, result)
            else:
                findings = result
            self.failures.pop(task[0] if isinstance(task, tuple) else task, None)
        self.meter.look(message or self._doing())
        return findings

    def _doing(self) -> str:
        if self.idle or any(isinstance(task, tuple) for _, task in self.busy.values()):
            return ""
        return "preparing the workers"

    def _on_ready(self, member: _RayWorker, ready: WorkerReady) -> None:
        member.name = f"worker {member.number} on {ready.host}"
        member.stamp = self.folder.keep_environment(ready.environment)
        device = ready.environment["model"].get("device", "")
        self.say(f"{member.name} is ready (process {ready.pid}{f', {device}' if device else ''})")
        self.meter.restart()

    def _store(self, member: _RayWorker, task: tuple[int, int], made: MadePart) -> None:
        first, last = task
        if self.bucket is None:
            self._wait_for_files(task, made)
            self.folder.mark_done(first, last, made.hashes, member.stamp)
        else:
            buckets.download_part(self.bucket, self.folder, first, last, made.hashes, member.stamp)
            self.bucket.mark(first, last, made.hashes, member.stamp)
        amount = last - first + 1
        self.size = member.size = part.next_size(max(member.size, amount), amount, made.seconds)
        self.meter.add(amount)
        if self.is_first_alone:
            self.is_first_alone = False
            self.meter.restart()

    def _wait_for_files(self, task: tuple[int, int], made: MadePart) -> None:
        """Waits until the files of a part are seen here as the node wrote them; a network disk may take a while."""
        name = f"{task[0]:09d}-{task[1]:09d}.parquet"
        deadline = time.monotonic() + SECONDS_TO_SEE
        for table, sha256 in made.hashes.items():
            while not is_whole(self.folder.parts / table / name, sha256):
                if time.monotonic() > deadline:
                    raise RunError(
                        f"A node wrote {self.folder.parts / table / name}, which is not seen here after "
                        f"{SECONDS_TO_SEE:.0f} seconds. Check the shared disk, or use --to s3://bucket/prefix."
                    )
                stopping.pause(0.2)

    def _on_lost(self, member: _RayWorker, task: Task, error: Exception) -> None:
        """Puts a lost worker's part back into the queue; RunError once the same part has ended several workers."""
        _kill_worker(member)
        self.idle = [each for each in self.idle if each is not member]
        why = _first_line(error)
        if "No module named 'explorer'" in str(error):
            raise RunError(
                "The nodes of the cluster cannot import Lexiscope. Install it there, or start Ray with its folder in "
                "PYTHONPATH; docs/SCALING.md says how."
            ) from error
        name = member.name or f"worker {member.number}"
        what = f"the instances {task[0]} to {task[1]} are" if isinstance(task, tuple) else f"its work ({task}) is"
        key = task[0] if isinstance(task, tuple) else task
        # Counted by work, not by worker: if a part ends one worker after another, the part is the cause (often its
        # memory).
        self.failures[key] += 1
        if self.failures[key] >= MAX_LOST_WORKERS:
            raise RunError(
                f"{MAX_LOST_WORKERS} workers ended one after another at the same work ({name}: {why}). The log says "
                "more; where memory ran out, take a smaller dtype or fewer workers a node, then resume the run."
            )
        if not member.is_lost:  # of further parts that it had in hand nothing is said
            self.say(f"{name} was lost ({why}); {what} done again")
        member.is_lost = True
        if isinstance(task, tuple):
            first, last = task
            half = (first + last) // 2
            # In halves: should the part itself have been too much for its worker, they are less so.
            self.ranges_left.extendleft([(half + 1, last), (first, half)] if half < last else [(first, last)])


def _kill_worker(member: _RayWorker) -> None:
    with contextlib.suppress(ray.exceptions.RayError, ValueError, ConnectionError):
        ray.kill(member.actor)


@contextlib.contextmanager
def _connected(where: ComputeTarget) -> Iterator[None]:
    """This process as a driver of the cluster; a cluster that was started for it ends with it."""
    if ray.is_initialized():
        yield
        return
    try:
        try:
            _connect(where.cluster)
        except Exception as error:
            raise RunError(
                f"The Ray cluster {where.cluster} cannot be reached ({_first_line(error)}). Start one with `ray start "
                "--head`, or check its address and token; --cluster auto without one starts it on this machine."
            ) from error
        yield
    finally:
        ray.shutdown()


def _connect(address: str) -> None:
    quiet: dict[str, Any] = {"logging_level": "error", "log_to_driver": False}
    if address != AUTO:
        host, _, port = address.removeprefix("ray://").rpartition(":")
        # Ray itself would try for minutes, and end the process.
        with socket.create_connection((host.strip("[]"), int(port)), timeout=10):
            pass
        ray.init(address=address, **quiet)
        return
    try:
        ray.init(address=AUTO, **quiet)
    except ConnectionError:
        if os.environ.get("RAY_ADDRESS"):
            raise
        path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        os.environ["PYTHONPATH"] = path
        ray.init(address="local", object_store_memory=OBJECT_STORE, include_dashboard=False, **quiet)


def _capacity_of(where: ComputeTarget) -> _Capacity:
    """A worker a GPU; where there is none, a worker for every few processors of a node."""
    alive = [each["Resources"] for each in ray.nodes() if each["Alive"]]
    with_gpu = [each for each in alive if each.get("GPU", 0) >= 1]
    if with_gpu:
        room = sum(int(each["GPU"]) for each in with_gpu)
        cpus = min(int(each.get("CPU", 1) // each["GPU"]) for each in with_gpu)
        return _Capacity(where.workers or room, 1, max(1, min(MOST_CPUS, cpus)))
    largest = max((int(each.get("CPU", 0)) for each in alive), default=0)
    cpus = where.cpus or max(1, min(CPUS, largest))
    room = sum(int(each.get("CPU", 0)) // cpus for each in alive)
    if not room:
        raise RunError(f"No node of the cluster has {cpus} processors; the largest has {largest}. Give --cpus less.")
    return _Capacity(where.workers or room, 0, cpus)


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:200] if lines else type(error).__name__
