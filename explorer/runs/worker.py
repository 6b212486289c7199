"""The process that does a run: part by part, each stored before the next, stopping at a cancel mark."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
import time
import traceback
from collections.abc import Callable
from importlib import metadata
from typing import TYPE_CHECKING, Any

from filelock import Timeout

from explorer import __version__
from explorer.errors import ExplorerError, RunError
from explorer.experiments import study as find_study
from explorer.results.rows import instance_row
from explorer.runs import files
from explorer.runs.folder import Cancelled, RunFolder
from explorer.runs.queue import leave_line, wait_for_turn

if TYPE_CHECKING:
    from explorer.resources import Resources

PART_SECONDS = 10.0  # a part grows until it takes about this long, so that little is lost to a kill
LARGEST_PART = 4096
PACKAGES = (
    "torch",
    "transformers",
    "tokenizers",
    "numpy",
    "duckdb",
    "nltk",
    "spacy",
    "infini-gram",
    "scipy",
    "scikit-learn",
    "statsmodels",
    "glmm",
)

Say = Callable[[str], None]
Progress = Callable[[int, int], None]


def work(
    folder: RunFolder, resources: Resources, say: Say, progress: Progress | None = None, *, wait: bool = True
) -> str:
    """Does what is left of a run and returns its status; a second worker on the same run is refused."""
    try:
        lock = folder.lock().acquire(timeout=10)
    except Timeout as error:
        raise RunError(f"{folder.run_id} is being worked on already; `python -m explorer runs` shows it.") from error
    with lock:
        folder.write_progress(status="queued", pid=os.getpid(), host=platform.node(), message="")
        try:
            folder.stop_if_cancelled()
            if wait:
                wait_for_turn(folder, resources.settings, say)
            status, message = _do(folder, resources, say, progress or (lambda done, total: None)), ""
        except Cancelled:
            status, message = "cancelled", "Cancelled; what was finished is kept, resume goes on."
        except KeyboardInterrupt:
            folder.write_progress(status="interrupted", message="Interrupted; resume goes on.")
            raise
        except ExplorerError as error:
            status, message = "failed", " ".join(str(error).split())
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            status, message = "failed", f"{type(error).__name__}: {' '.join(str(error).split())}"
        finally:
            leave_line()
        folder.clear_cancel()
        folder.write_progress(status=status, message=message)
        say(f"{folder.run_id}: {status}{'. ' + message if message else ''}")
    resources.ingest(folder)
    return status


def _do(folder: RunFolder, resources: Resources, say: Say, progress: Progress) -> str:
    spec = folder.spec
    recipe = find_study(spec.study)
    if recipe.version != spec.version:
        raise RunError(
            f"This run was asked of version {spec.version} of the study {spec.study}, installed is version "
            f"{recipe.version}. Start it again as a new run."
        )
    folder.write_progress(status="running", message="loading")
    instances = list(recipe.select(spec, resources))
    total = len(instances)
    folder.write_progress(total=total)
    environment = _environment(spec.model if recipe.needs_model else "", spec.dtype, resources)
    files.write_json(folder.path / "environment.json", environment)
    stamp = hashlib.sha256(json.dumps(environment, sort_keys=True, default=str).encode()).hexdigest()[:12]

    meter = _Meter(folder, total, progress)
    size = recipe.first_part
    for first, last in folder.unfinished(total):
        while first <= last:
            part = instances[first : min(first + size, last + 1)]
            started = time.monotonic()
            tables: dict[str, Any] = {"instances": [instance_row(item, first + i) for i, item in enumerate(part)]}
            tables.update(recipe.do(spec, resources, part, meter.within(len(part))))
            folder.write_part(first, first + len(part) - 1, tables, stamp)
            meter.add(len(part))
            first += len(part)
            took = max(time.monotonic() - started, 1e-3)
            size = max(1, min(LARGEST_PART, 2 * size, int(len(part) * PART_SECONDS / took)))
    folder.write_progress(message="concluding")
    findings = recipe.conclude(spec, resources, folder)
    if len(folder.environments()) > 1:
        say("Parts of this run were made under different environments; see the .done files.")
    folder.write_findings(findings)
    return "complete"


class _Meter:
    """Writes progress at most once a second and looks for the cancel mark."""

    def __init__(self, folder: RunFolder, total: int, progress: Progress) -> None:
        self.folder = folder
        self.total = total
        self.progress = progress
        self.done = sum(last - first + 1 for first, last in folder.finished())
        self.before = self.done
        self.started = time.monotonic()
        self.written = -1.0

    def within(self, size: int) -> Progress:
        """A progress callback for a part of `size` instances, told in the part's own units."""

        def step(done: int, of: int) -> None:
            self._tell(self.done + size * done / max(of, 1))

        return step

    def add(self, size: int) -> None:
        self.done += size
        self._tell(self.done, now=True)

    def _tell(self, done: float, now: bool = False) -> None:
        self.folder.stop_if_cancelled()
        moment = time.monotonic()
        if not now and moment - self.written < 1.0:
            return
        self.written = moment
        rate = (done - self.before) / max(moment - self.started, 1e-6)
        eta = (self.total - done) / rate if rate > 0 else float("nan")
        self.folder.write_progress(done=int(done), rate=rate, eta=eta, message="")
        self.progress(int(done), self.total)


def _environment(model: str, dtype: str, resources: Resources) -> dict[str, Any]:
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = "absent"
    return {
        "lexiscope": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": versions,
        "model": resources.model_record(model, dtype) if model else {},
    }
