"""The runs of a sweep taken together: their rows in one table, and their end."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

import pandas as pd

from explorer.errors import RunError
from explorer.results import broken_off
from explorer.results import export as exports
from explorer.runs import sweep as sweep_file
from explorer.runs.folder import RunFolder
from explorer.runs.sweep import Member, Sweep
from explorer.settings import Settings

ABOUT = ("run_id", "model", "benchmark", "seed")


def complete_runs(settings: Settings, sweep: Sweep) -> dict[Member, RunFolder]:
    """The complete runs of a sweep; RunError where there is none yet."""
    done = {
        member: RunFolder.find(settings.runs, member.run_id)
        for member in sweep.members
        if sweep_file.status_of(settings, member) == "complete"
    }
    if not done:
        raise RunError(f"No run of {sweep.name} is complete: python -m explorer resume {sweep.name}")
    return done


def sweep_rows(done: Mapping[Member, RunFolder], table: str | None) -> pd.DataFrame:
    """The rows of a table of these runs (none: a row per instance), each with its run, model, benchmark and seed."""
    frames = []
    for member, folder in done.items():
        frame = exports.by_instance(folder) if table is None else exports.read_table(folder, table)
        frame = frame.drop(columns=[name for name in ABOUT if name in frame])
        about: dict[str, Any] = {name: getattr(member, name) for name in ABOUT}
        for position, (name, value) in enumerate(about.items()):
            frame.insert(position, name, value)
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def delete_sweep(settings: Settings, sweep: Sweep) -> list[str]:
    """Removes the sweep and the runs that it began, but for those that another sweep holds, too; their ids.

    RunError, with nothing removed, while one of them is worked on. The sweep's own file goes last: where that is broken
    off, the sweep is still there with the runs that are left.
    """
    folders = []
    for run_id in sweep_file.runs_of_this_sweep_alone(settings, sweep):
        with contextlib.suppress(RunError):  # deleted by itself
            folders.append(RunFolder.find(settings.runs, run_id))
    for folder in folders:
        if folder.is_being_worked() and not folder.is_asked_to_cancel():
            raise RunError(
                f"{sweep.name} is going on ({folder.run_id} is being worked on), and nothing was deleted. Cancel it "
                f"first: python -m explorer cancel {sweep.name}"
            )
    for folder in folders:
        broken_off.delete_run(settings, folder)
    sweep_file.forget(settings, sweep)
    return [folder.run_id for folder in folders]
