"""What a node of a cluster does for a run: loads the model once, then makes one part after another.

It is plain Python: `ray_parts.py` makes a Ray actor of it. It writes tables and never marks a part as done.
"""

from __future__ import annotations

import dataclasses
import getpass
import os
import platform
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from explorer import settings as settings_module
from explorer.errors import ExplorerError, RunError
from explorer.resources import Resources
from explorer.rows.builders import Row
from explorer.runs import bucket as buckets
from explorer.runs import environment, part
from explorer.runs import spec as specs
from explorer.runs.bucket import Bucket
from explorer.runs.folder import RunFolder
from explorer.runs.parts import part_name
from explorer.runs.pipeline import set_short_turns
from explorer.runs.worker import settle_memory
from explorer.settings import Settings
from explorer.studies import study as find_study

T = TypeVar("T")

SECONDS_TO_SEE = 120.0  # seconds for what another machine wrote to be seen here


@dataclass(frozen=True, slots=True)
class NodeJob:
    """What a node is told; keys are not among it, they come from the node's own environment."""

    spec: str  # as spec.json has it
    folder: str  # the run's folder as the starting machine sees it
    cache: str
    data: str
    host: str  # the starting machine
    bucket: str = ""
    threads: int = 0  # of a model without a GPU


@dataclass(frozen=True, slots=True)
class WorkerReady:
    """A node's worker with its model loaded."""

    host: str
    pid: int
    environment: dict[str, Any]


@dataclass(frozen=True, slots=True)
class MadePart:
    """A part whose tables are written: table → SHA-256 of its file, and how long it took."""

    hashes: dict[str, str]
    seconds: float


@dataclass(frozen=True, slots=True)
class WorkerFault:
    """Why this worker failed in a way in which every other would fail, too: one sentence for the user."""

    message: str


# With a GPU a worker has the model in a process of its own and several parts in hand: one is encoded and packed while
# another is scored and a third is written, as in a run on one machine (runs/pipeline.py).
PARTS_AT_ONCE = 3  # parts


class NodeWorker:
    """One worker: `prepare` once, then any number of parts, at most `PARTS_AT_ONCE` of them at once."""

    def __init__(self, job: NodeJob) -> None:
        self.job = job
        self.work: part.RunWork
        self.folder: RunFolder
        self.bucket: Bucket | None = None

    def prepare(self) -> WorkerReady | WorkerFault:
        """Data and model loaded, and a place to write found."""
        return _fault_of_error(self._prepare)

    def make_part(self, first: int, last: int) -> MadePart | WorkerFault:
        """The part's tables, written to the run's folder or the bucket."""
        return _fault_of_error(lambda: self._make_part(first, last))

    def summarize(self, total: int) -> list[Row] | WorkerFault:
        """The study's findings from the parts of all `total` instances."""
        return _fault_of_error(lambda: self._summarize(total))

    def _prepare(self) -> WorkerReady:
        spec = specs.from_json(self.job.spec)
        self.folder = self._place(specs.run_id(spec))
        resources = Resources(settings_of(self.job))
        if find_study(spec.study).may_be_apart(spec.settings):
            resources.load_ahead(spec.model, spec.dtype)
            resources.begin_process(spec.model, spec.dtype)
        self.work = part.prepare(spec, resources)
        facts = environment.collect(spec, self.work.resources, needs_model=self.work.recipe.needs_model)
        if self.work.resources.has_process:
            set_short_turns()
            settle_memory()
        return WorkerReady(platform.node(), os.getpid(), facts)

    def _place(self, run_id: str) -> RunFolder:
        """The run's folder itself, or one of this worker's own from which files go to the bucket."""
        if self.job.bucket:
            self.bucket = Bucket(self.job.bucket, run_id)
            own_folder = _local_folder() / str(os.getpid()) / run_id
            shutil.rmtree(own_folder, ignore_errors=True)
            own_folder.mkdir(parents=True)
            self.bucket.fetch("spec.json", own_folder / "spec.json")
            return RunFolder(own_folder)
        folder = RunFolder(Path(self.job.folder))
        try:
            seen = (folder.path / "spec.json").read_text(encoding="utf-8") == self.job.spec
        except OSError:
            seen = False
        if not seen:
            raise RunError(
                f"{platform.node()} does not see the run's folder {folder.path}. Keep the cache on a disk that all "
                "nodes share, or send the parts to a bucket with --to s3://bucket/prefix."
            )
        return folder

    def _make_part(self, first: int, last: int) -> MadePart:
        started = time.monotonic()
        tables = part.build_tables(self.work, first, last, lambda done, total: None)
        hashes = self.folder.write_tables(first, last, tables)
        for table in hashes if self.bucket is not None else ():
            path = self.folder.parts / table / f"{part_name(first, last)}.parquet"
            self.bucket.send(path, path.relative_to(self.folder.path).as_posix())  # type: ignore[union-attr]
            path.unlink()
        return MadePart(hashes, time.monotonic() - started)

    def _summarize(self, total: int) -> list[Row]:
        if self.bucket is not None:
            buckets.pull(self.bucket, self.folder)
        # The parts were written by other nodes, and a network disk may show them here some seconds later.
        deadline = time.monotonic() + SECONDS_TO_SEE
        while missing := self.folder.unfinished(total):
            if time.monotonic() > deadline:
                raise RunError(f"{platform.node()} does not see the instances from {missing[0][0]} on. Resume the run.")
            time.sleep(0.5)
        try:
            return self.work.recipe.summarize_run(self.work.spec, self.work.resources, self.folder)
        finally:
            if self.bucket is not None:
                shutil.rmtree(self.folder.path, ignore_errors=True)


def settings_of(job: NodeJob) -> Settings:
    """The settings on this node: the starting machine's cache and data where they are seen, else the node's own."""
    settings = settings_module.read(
        cache=job.cache if Path(job.cache).is_dir() else None,
        data=job.data if job.data and Path(job.data).is_dir() else None,
    )
    if platform.node() != job.host:
        # The store of counts must lie on a local disk.
        settings = dataclasses.replace(settings, own_counts=_local_folder() / "counts")
    return dataclasses.replace(settings, threads=settings.threads or job.threads)


def _fault_of_error(step: Callable[[], T]) -> T | WorkerFault:
    # An exception that crosses Ray loses its kind; a sentence does not.
    try:
        return step()
    except ExplorerError as error:
        return WorkerFault(f"{' '.join(str(error).split())}")


def _local_folder() -> Path:
    """A folder on this node's own disk."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError):
        user = str(os.getpid())
    return Path(tempfile.gettempdir()) / f"lexiscope-{user}"
