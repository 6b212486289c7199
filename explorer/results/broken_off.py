"""Deletes and imports that end: what a kill or a full disk broke off is ended at the next start.

A run is deleted rows first: while its folder is there nothing is lost, and a run that no longer lists has no rows.
An imported run counts once its rows are in the database.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import Timeout

from explorer import leftovers, sharing
from explorer.errors import ExplorerError, RunError
from explorer.results import archive, store
from explorer.runs.folder import RunFolder
from explorer.settings import Settings

if TYPE_CHECKING:
    from explorer.resources import Resources

GOING = ".deleting-"  # begins the name of a run's folder that is no run any more


def delete_run(settings: Settings, folder: RunFolder) -> None:
    """Removes a run from the database and from disk; what cannot be ended now is ended at the next start.

    RunError while it is worked on, StoreError where the rows cannot be taken out.
    """
    folder.refuse_if_kept()
    folder.wait_for_worker()
    with _explain_failure(folder), leftovers.begun(settings.cache, f"delete-{folder.run_id}") as mark:
        store.remove_runs(settings, [folder.run_id])
        _remove_folder(settings, folder.run_id, mark)


# Removing a folder of thousands of files takes a while and can break off anywhere. It is renamed first, in one step, to
# a name under which no run is looked for; only the sweeping of that name may take several starts.
#
#     runs/a1b2...              a run          killed here: rows are gone, the folder is there; the mark ends it
#     runs/.deleting-a1b2...    no run         killed here: the next start goes on removing
def _remove_folder(settings: Settings, run_id: str, mark: leftovers.Mark) -> None:
    path, going = settings.runs / run_id, settings.runs / f"{GOING}{run_id}"
    if path.is_symlink():
        path.unlink()
    elif path.exists():
        shutil.rmtree(going, ignore_errors=True)
        os.replace(path, going)  # from here on it is no run, whenever the rest goes
    mark.keep()
    if going.exists():
        shutil.rmtree(going)
    mark.kept = False


@contextlib.contextmanager
def _explain_failure(folder: RunFolder):  # type: ignore[no-untyped-def]
    try:
        yield
    except (OSError, Timeout) as error:
        raise RunError(
            f"{folder.path} could not be deleted ({getattr(error, 'strerror', None) or error}). Close what uses it or "
            "allow it, then try again."
        ) from error


def import_archive(path: Path, resources: Resources) -> tuple[RunFolder, bool]:
    """The run in an archive, among the runs here and in the database, and whether it is new.

    Where its rows cannot be stored nothing of it stays.
    """

    return archive.unpack_archive(
        path, resources.settings, lambda work, target: store_finished(resources, work, target)
    )


# Where a run of that id lies already (broken off, or damaged), it is moved aside into the new folder rather than
# deleted: if the rows cannot be stored, it goes back, and an import that fails changes nothing.
def store_finished(resources: Resources, work: Path, target: Path) -> None:
    """Moves a run that was made elsewhere to its place and stores its rows; where they cannot be, it is no run here."""
    settings = resources.settings
    settings.runs.mkdir(parents=True, exist_ok=True)
    with leftovers.begun(settings.cache, f"store-{target.name}"):
        if target.exists():  # an import that was broken off, or was damaged
            RunFolder(target).wait_for_worker()
            os.replace(target, work / leftovers.REPLACED)
        os.replace(work, target)
        try:
            resources.ingest(RunFolder(target))
        except BaseException:
            os.replace(target, work)
            if (work / leftovers.REPLACED).exists():
                os.replace(work / leftovers.REPLACED, target)
            shutil.rmtree(work, ignore_errors=True)
            raise
        shutil.rmtree(target / leftovers.REPLACED, ignore_errors=True)


def finish_deletions(settings: Settings) -> None:
    """Ends what was broken off before; what cannot be ended now is tried at the next start."""
    for mark in leftovers.abandoned(settings.cache):
        kind, _, name = mark.path.name.partition("-")
        try:
            if kind in _ENDINGS:
                _ENDINGS[kind](settings, name, mark)
        except (ExplorerError, OSError):
            mark.keep()
    leftovers.remove_old((settings.cache, "unpacking-*"), (settings.imports, ".*"))
    _remove_building(settings)


def _end_delete(settings: Settings, run_id: str, mark: leftovers.Mark) -> None:
    if RunFolder(settings.runs / run_id).is_being_worked():
        return  # asked for again meanwhile
    store.remove_runs(settings, [run_id])
    _remove_folder(settings, run_id, mark)


def _end_store(settings: Settings, run_id: str, mark: leftovers.Mark) -> None:
    folder = RunFolder(settings.runs / run_id)
    if folder.path.exists():
        store.ingest_runs(settings, [folder])


def _end_scratch(settings: Settings, name: str, mark: leftovers.Mark) -> None:
    leftovers.remove_scratch(settings.cache, name)


_ENDINGS: dict[str, Callable[[Settings, str, leftovers.Mark], None]] = {
    "delete": _end_delete,
    "store": _end_store,
    "scratch": _end_scratch,
}


def _remove_building(settings: Settings) -> None:
    """Takes away a database that was being built by a process that is no more."""
    paths = list(settings.store.glob("*.building*")) if settings.store.is_dir() else []
    if not paths:
        return
    with contextlib.suppress(Timeout, OSError), sharing.lock_at(settings.store / "ingest.lock").acquire(timeout=0):
        for path in paths:
            path.unlink(missing_ok=True)
