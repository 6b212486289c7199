"""A run's folder: spec, environment, progress, log, reviews, and parts that are whole or absent.

spec.json  progress.json  log.txt  reviews.jsonl  cancel (a mark)  lock (held by the worker)
where.json                             where the run is made (runs/compute_target.py)
environment.json, environments/<stamp>.json   the last one, and each that some part was made under
parts/<table>/<first>-<last>.parquet   rows of the instances first..last (in run order, both included)
parts/<first>-<last>.done              written last: this part is complete; the SHA-256 of each of its files
parts/findings/all.parquet             what the study concluded
parts/findings.done                    the SHA-256 of that file

What it does stands in four files: parts.py (written and read), damage.py (what is not as it was written), state.py
(progress, lock, cancel mark) and, here, the rest.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from explorer.errors import RunError
from explorer.records import RunSpec
from explorer.runs import environment as environments
from explorer.runs import files, reviews, validation
from explorer.runs import spec as specs
from explorer.runs.damage import CheckedParts
from explorer.runs.parts import part_name
from explorer.runs.state import STARTING, Worked

MOST_SPEC = 4 << 20  # bytes
NAMED = 3  # runs that are named where several have an id that starts as it was typed

_RUN_ID = re.compile(r"[a-z]+-[0-9a-f]{12}")


def no_such_run(typed: str, matches: Sequence[str]) -> RunError:
    """The error where none or several runs have an id that starts as it was typed."""
    if not matches:
        return RunError(
            f"There is no run with an id that starts with {typed!r}; `python -m explorer runs` lists all of them."
        )
    named = ", ".join(matches[:NAMED]) + (", ..." if len(matches) > NAMED else "")
    return RunError(
        f"There are {len(matches)} runs with an id that starts with {typed!r} ({named}). Type more of the id of one; "
        "`python -m explorer runs` lists them."
    )


class RunFolder(CheckedParts, Worked):
    """One run on disk. Reading never needs a lock; writing is the worker's, who holds `lock`."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.reviews = path / "reviews.jsonl"

    @classmethod
    def create(cls, runs: Path, spec: RunSpec) -> RunFolder:
        """The folder of this spec's run, made where it is new."""
        folder = cls(runs / specs.run_id(spec))
        folder.refuse_if_kept()
        files.make_folder(folder.parts)
        new = not (folder.path / "spec.json").exists()
        if new or not folder._is_undamaged(spec):
            files.write_json_text(folder.path / "spec.json", specs.to_json(spec))
        if new:
            folder.write_progress(status="queued", created=time.time())
        return folder

    @classmethod
    def find(cls, runs: Path, run_id: str) -> RunFolder:
        """The run with this id, or with the only id that starts so; RunError where there is none or several."""
        places = [folder.path for folder in all_folders(runs)]
        matches = [path for path in places if path.name == run_id]
        if not matches and run_id:
            matches = [path for path in places if path.name.startswith(run_id)]
        if len(matches) != 1:
            raise no_such_run(run_id, [path.name for path in matches])
        return cls(matches[0])

    def _is_undamaged(self, spec: RunSpec) -> bool:
        """Whether spec.json is undamaged; what it should say is known, since the run's id is its hash."""
        try:
            return specs.run_id(self.spec) == specs.run_id(spec)
        except RunError:
            return False

    @property
    def spec(self) -> RunSpec:
        """What was asked; RunError where spec.json cannot be read, or is that of another run."""
        spec = self.stored_spec()
        if specs.run_id(spec) != self.run_id:
            raise RunError(
                f"{self.path / 'spec.json'} was changed: it is that of {specs.run_id(spec)}. Start the same run "
                "again, which keeps what it finished, or delete this one."
            )
        return spec

    def stored_spec(self) -> RunSpec:
        """What spec.json says, whichever run it is of."""
        try:
            return specs.from_json(files.read_plain(self.path / "spec.json", MOST_SPEC).decode("utf-8"))
        except PermissionError as error:
            raise RunError(self.kept_from_us() or f"{self.path / 'spec.json'} cannot be read ({error}).") from error
        except (OSError, UnicodeDecodeError) as error:
            raise RunError(
                f"{self.path / 'spec.json'} cannot be read ({error}). Start the same run again, which keeps what it "
                "finished, or delete this one."
            ) from error

    @property
    def is_confined(self) -> bool:
        """Whether a visitor from elsewhere asked for the run, who may not use every name (explorer/admission.py)."""
        return (self.path / "confined").exists()

    def confine(self, confined: bool) -> None:
        """Says whose rule the run's workers follow."""
        if confined:
            (self.path / "confined").touch()
        else:
            (self.path / "confined").unlink(missing_ok=True)

    # What its parts were made with

    @property
    def environment(self) -> dict[str, Any]:
        """What the last part was made with; {} where that cannot be read."""
        last = files.read_json(self.path / "environment.json")
        return validation.plain(last or self._kept_environment(max(self.environments(), default="")))

    def _kept_environment(self, stamp: str) -> dict[str, Any]:
        return files.read_json(self.path / "environments" / f"{stamp}.json") if stamp else {}

    def keep_environment(self, environment: Mapping[str, Any]) -> str:
        """Writes down what parts are made with; the stamp under which it stands."""
        stamp = environments.stamp(environment)
        files.make_folder(self.path / "environments")
        files.write_json(self.path / "environments" / f"{stamp}.json", environment)
        files.write_json(self.path / "environment.json", environment)
        return stamp

    def environments(self) -> set[str]:
        """The environment hashes under which the parts were made; more than one is worth a remark."""
        marks = (self.mark(part_name(first, last)) for first, last in self.finished())
        return {mark.environment for mark in marks if mark}

    def differences(self) -> list[str]:
        """What differs between the environments of the parts, a line each."""
        readable = [validation.plain(self._kept_environment(stamp)) for stamp in sorted(self.environments())]
        return environments.differences([environment for environment in readable if environment])

    # Reviews: people's verdicts, vetoes and judge clicks

    def add_review(self, review: Mapping[str, Any]) -> None:
        """Appends a person's verdict, with the time."""
        reviews.add(self.reviews, review)

    def read_reviews(self) -> list[dict[str, Any]]:
        """All verdicts in the order given."""
        return reviews.read(self.reviews)

    def delete(self) -> None:
        """Removes the run from disk once a worker that was cancelled has ended; RunError while one goes on."""
        self.refuse_if_kept()
        self.wait_for_worker()
        try:
            if self.path.is_symlink() or not self.path.is_dir():
                self.path.unlink()
            else:
                shutil.rmtree(self.path)
        except FileNotFoundError:
            return  # somebody else was deleting it, too
        except OSError as error:
            raise RunError(
                f"{self.path} could not be deleted ({error.strerror or error}). Close what uses it and try again."
            ) from error


def all_folders(runs: Path) -> list[RunFolder]:
    """Every run on disk, the newest first; a folder that is called like a run is one, whatever is in it."""
    if not runs.is_dir():
        return []
    aged = []
    for path in runs.iterdir():
        with contextlib.suppress(OSError):  # no run, or one that is being deleted
            aged.append((_age(path), path))
    return [RunFolder(path) for _, path in sorted(aged, reverse=True)]


def _age(path: Path) -> float:
    """When a run was asked for; OSError where the folder is none, or is just being made."""
    if path.name.startswith("."):
        raise FileNotFoundError
    if path.is_dir() and not os.access(path, os.X_OK):
        return path.stat().st_mtime  # another account's, who lets nobody look
    try:
        return (path / "spec.json").stat().st_mtime
    except OSError:
        modified = path.lstat().st_mtime
        is_new = not os.path.lexists(path / "spec.json") and time.time() - modified < STARTING
        if not _RUN_ID.fullmatch(path.name) or is_new:
            raise
        return modified
