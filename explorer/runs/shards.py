"""A run whose parts several processes do between them, on one machine or on many, and what brings it together again.

Each process does its own slice of the instances and needs to know nothing of the others. What a run concludes is left
for when all parts are there: a machine with a GPU need not have the packages of the statistics.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from explorer.errors import RunError
from explorer.runs import environment, files, part, row_checks, validation
from explorer.runs import spec as specs
from explorer.runs.folder import RunFolder
from explorer.runs.parts import part_name

if TYPE_CHECKING:
    from explorer.resources import Resources

Clock = Callable[[], float]

SECONDS_OF_GRACE = 15.0  # seconds that a part which was begun in time may go on


class TimeUp(Exception):
    """The part in hand takes too long; what it has kept itself stays."""


# Slice 1 of 3 of a run with 100 instances is 33..65. Of what the folder lacks a process takes what lies in its slice:
#
#     unfinished     16-47               80-99
#     slice 33-65         33-47                     one gap is left to do; 16-32 is slice 0's, 80-99 is slice 2's
def run_parts(
    folder: RunFolder, resources: Resources, share: int, shares: int, until: float, now: Clock = time.monotonic
) -> bool:
    """Does what is left of slice `share` (from 0) of `shares` and begins no part after `until`; whether all is done."""
    work = part.prepare(folder.spec, resources)
    total = len(work.instances)
    folder.write_progress(total=total)
    # Integer bounds that leave no gap: the end of a slice is the same expression as the start of the next.
    own_range = range(total * share // shares, total * (share + 1) // shares)
    gaps = [
        (max(first, own_range.start), min(last, own_range.stop - 1))
        for first, last in folder.unfinished(total)
        if first < own_range.stop and last >= own_range.start
    ]
    if not gaps:
        return True
    if now() >= until:
        return False
    environment_record = environment.collect(work.spec, resources, needs_model=work.recipe.needs_model)
    stamp = folder.keep_environment(environment_record)
    size = work.recipe.first_part

    def stop_when_late(done: int, of: int) -> None:
        if now() > until + SECONDS_OF_GRACE:
            raise TimeUp

    for first, last in gaps:
        while first <= last:
            if now() >= until:
                return False
            end = min(first + size - 1, last)
            started = now()
            try:
                tables = part.build_tables(work, first, end, stop_when_late)
            except TimeUp:
                return False
            folder.write_part(first, end, tables, stamp)
            size = part.next_size(size, end - first + 1, now() - started)
            first = end + 1
    return True


def summarize(folder: RunFolder, resources: Resources) -> None:
    """Stores what a run concludes whose parts are all there, and marks it complete."""
    work = part.prepare(folder.spec, resources)
    missing = folder.unfinished(len(work.instances))
    if missing:
        raise RunError(f"{folder.run_id} lacks the instances {missing[0][0]} to {missing[0][1]}. Do its parts first.")
    folder.write_findings(work.recipe.summarize_run(work.spec, resources, folder))
    folder.write_progress(status="complete", total=len(work.instances), message="")


def merge(source: Path, runs: Path) -> list[str]:
    """Adds the parts of the run folders in `source` to those in `runs`; the ids of the runs."""
    folders = [RunFolder(path.parent) for path in sorted(source.glob("*/spec.json"))]
    for folder in folders:
        if (run_id := specs.run_id(folder.stored_spec())) != folder.run_id:
            raise RunError(f"{folder.path} holds the spec of {run_id}. Leave it out, or name it so.")
        _add_folder(folder, RunFolder.create(runs, folder.spec))
    return [folder.run_id for folder in folders]


def _add_folder(folder: RunFolder, target: RunFolder) -> None:
    if damaged := folder.damaged():
        raise RunError(
            f"{folder.path}/parts/{damaged[0]} is not as it was written, and {len(damaged) - 1} more. Get it again."
        )
    for path in sorted(folder.path.rglob("*")):
        place = path.relative_to(folder.path)
        # A link leads to a file of this machine, which the other has not seen.
        is_own = path.is_file() and not any((folder.path / up).is_symlink() for up in (place, *place.parents[:-1]))
        if is_own and place.parts[0] not in NOT_COPIED:
            files.make_folder((target.path / place).parent)
            _copy(path, target.path / place)
    # The tables are checked before the mark is copied. Folders come from other machines, and a part counts from its
    # mark on.
    for first, last in folder.finished():
        name = part_name(first, last)
        done = folder.parts / f"{name}.done"
        mark = folder.mark(name)
        if mark:
            row_checks.check_part(folder.parts, name, mark.tables, folder.spec.study)
        for table in mark.tables if mark else ():
            files.make_folder(target.parts / table)
            _copy(folder.parts / table / f"{name}.parquet", target.parts / table / f"{name}.parquet")
        _copy(done, target.parts / done.name)  # last: now the part counts
    if folder.progress().status == "complete":
        files.make_folder(target.parts / "findings")
        for path in folder.part_files("findings"):
            validation.check_table(path, "findings")
            _copy(path, target.parts / "findings" / path.name)
            if (folder.parts / "findings.done").exists():
                _copy(folder.parts / "findings.done", target.parts / "findings.done")
        target.write_progress(status="complete", total=folder.progress().total, message="")


# What a folder has of its own, or what is copied part by part.
NOT_COPIED = ("spec.json", "progress.json", "log.txt", "lock", "cancel", "parts")


def _copy(source: Path, target: Path) -> None:
    if not target.exists():
        files.write_atomically(target, lambda temporary: shutil.copyfile(source, temporary))
