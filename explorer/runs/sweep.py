"""Sweeps: one study over several models, benchmarks or seeds, as a named set of ordinary runs.

    cache/sweeps/accuracy-1f3a9c.json   {"format": 1, "name": ..., "study": ..., "request": {...}, "members": [...]}

The file says what was asked for; what was done stands in the runs, whose ids are filled in as their turn comes, since a
run's id follows from its model's weights, which may have to be fetched first. The same request gives the same name, so
that asking again goes on where the sweep stood. A file that is not as it was written counts as none.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer import stopping
from explorer.errors import ExplorerError, RunError, UsageError
from explorer.runs import files, queue, validation
from explorer.runs import spec as specs
from explorer.runs.folder import RunFolder
from explorer.scoring import http, hub_cache, weight_files
from explorer.settings import ROOT, Settings

if TYPE_CHECKING:
    from explorer.records import RunSpec
    from explorer.resources import Resources

FORMAT = 1
MOST_MEMBERS = 2_000
NOT_STARTED = "not started"
FINISHED_STATUSES = ("complete", NOT_STARTED, "failed", "cancelled")  # what there is nothing to cancel of
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")
_RUN_ID = re.compile(r"[a-z]+-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Member:
    """One run of a sweep; its id is "" until its turn has come, and `was_here` says that others had made it before."""

    model: str
    benchmark: str
    seed: int
    run_id: str = ""
    was_here: bool = False


@dataclass(frozen=True, slots=True)
class Sweep:
    """A set of runs that differ in model, benchmark or seed alone.

    request   what all runs share, as `runs.request.make_spec` takes it: suites, limit, dtype, settings, only
    keep      "none": weights that the sweep fetched from a hub are removed after their last run
    made      when it was asked for, in seconds since 1970
    had       commits of hub models that were here before a sweep that keeps no weights, so that it never removes them
    """

    name: str
    study: str
    members: tuple[Member, ...]
    request: Mapping[str, Any]
    keep: str = "all"
    made: float = 0.0
    had: tuple[str, ...] = ()


def plan(
    study: str,
    models: Sequence[str],
    benchmarks: Sequence[str],
    seeds: Sequence[int],
    *,
    request: Mapping[str, Any],
    name: str = "",
    keep: str = "all",
) -> Sweep:
    """The sweep of every model on every benchmark with every seed, model by model, so that each is loaded once."""
    members = tuple(Member(model, benchmark, seed) for model in models for benchmark in benchmarks for seed in seeds)
    if len(members) > MOST_MEMBERS:
        raise UsageError(f"The sweep has {len(members):,} runs, expected {MOST_MEMBERS:,} at most. Make several of it.")
    named = [(member.model, member.benchmark, member.seed, "") for member in members]
    # The name follows from the request, so that the same command finds the sweep it began yesterday and goes on with
    # it.
    identity = json.dumps([study, named, request], sort_keys=True)
    sweep_name = name or f"{study}-{hashlib.sha256(identity.encode()).hexdigest()[:6]}"
    if _RUN_ID.fullmatch(sweep_name):
        raise UsageError(
            f"The name {sweep_name!r} is that of a run, expected another one for a sweep. Choose another name."
        )
    if not _NAME.fullmatch(sweep_name):
        raise UsageError(f"The name {sweep_name!r} is no name of a sweep, expected small letters, digits and hyphens.")
    return Sweep(sweep_name, study, members, json.loads(json.dumps(request)), keep, time.time())


def store_sweep(settings: Settings, sweep: Sweep) -> Sweep:
    """Writes a new sweep; one of the same name that asks for the same is found, and goes on where it stood."""
    existing = find(settings, sweep.name)
    if existing is not None:
        if _request_of(existing) != _request_of(sweep):
            raise UsageError(
                f"There is a sweep {sweep.name} already, which asks for something else. Choose another name with "
                f"--sweep, or delete it: python -m explorer delete {sweep.name}"
            )
        return existing
    # Noted before the first run: what an earlier process of the same sweep fetched is still the sweep's to remove.
    if sweep.keep == "none":
        sweep = dataclasses.replace(sweep, had=tuple(sorted(hub_cache.all_commits())))
    _write(settings, sweep)
    return sweep


def find(settings: Settings, name: str) -> Sweep | None:
    """The sweep of this name; none where there is none or its file is damaged."""
    return _read(name, files.read_json(_path(settings, name))) if _NAME.fullmatch(name) else None


def list_all(settings: Settings) -> list[Sweep]:
    """Every sweep, the newest first."""
    names = sorted(path.stem for path in settings.sweeps.glob("*.json"))
    every = (find(settings, name) for name in names)
    return sorted((sweep for sweep in every if sweep is not None), key=lambda sweep: (-sweep.made, sweep.name))


def status_of(settings: Settings, member: Member) -> str:
    """How far a run of a sweep is, as its progress says."""
    if not member.run_id:
        return NOT_STARTED
    try:
        return RunFolder.find(settings.runs, member.run_id).progress().status
    except RunError:
        return NOT_STARTED  # deleted by itself


def forget(settings: Settings, sweep: Sweep) -> None:
    """Removes the sweep's file."""
    _path(settings, sweep.name).unlink(missing_ok=True)
    cancel_mark(settings, sweep.name).unlink(missing_ok=True)


def runs_of_this_sweep_alone(settings: Settings, sweep: Sweep) -> list[str]:
    """The ids of a sweep's runs that were not there before it, and that no other sweep holds."""
    others = (other for other in list_all(settings) if other.name != sweep.name)
    elsewhere = {"", *(member.run_id for other in others for member in other.members)}
    return [member.run_id for member in sweep.members if not member.was_here and member.run_id not in elsewhere]


def cancel_mark(settings: Settings, name: str) -> Path:
    """The file whose presence stops a sweep before its next run."""
    return settings.sweeps / f"{name}.cancel"


def start(settings: Settings, sweep: Sweep) -> None:
    """Does the sweep in a process of its own that outlives this one; what it prints lies beside the sweep's file."""
    cancel_mark(settings, sweep.name).unlink(missing_ok=True)
    command = [sys.executable, "-m", "explorer", "work", sweep.name, "--cache", str(settings.cache)]
    if settings.data:
        command += ["--data", str(settings.data)]
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    with (settings.sweeps / f"{sweep.name}.log").open("ab") as log:
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            env={**os.environ, "PYTHONPATH": path},
        )  # fmt: skip


def cancel(settings: Settings, sweep: Sweep) -> list[str]:
    """Stops the run in hand and those to come; the ids of the runs that were stopped."""
    files.write_json_text(cancel_mark(settings, sweep.name), "{}")
    unfinished = [member for member in sweep.members if status_of(settings, member) not in FINISHED_STATUSES]
    return [queue.cancel(settings, member.run_id) for member in unfinished]


def run_members(
    settings: Settings,
    sweep: Sweep,
    resources: Resources,
    make: Callable[[Member], RunSpec],
    work: Callable[[RunFolder], str],
    say: Callable[[str], None],
) -> tuple[Sweep, list[str]]:
    """Does what is left, run after run; a run that cannot be is told and the others go on. The status of each.

    While the card works on one model, the next is fetched.
    """
    cancel_mark(settings, sweep.name).unlink(missing_ok=True)
    statuses = [NOT_STARTED] * len(sweep.members)
    for place, planned in enumerate(sweep.members):
        if not _path(settings, sweep.name).exists():
            say(f"{sweep.name}: deleted; its other runs are not begun")
            break
        if cancel_mark(settings, sweep.name).exists():
            say(f"{sweep.name}: cancelled; what was finished is kept, resume goes on")
            break
        ahead = next((member.model for member in sweep.members[place + 1 :] if member.model != planned.model), "")
        _fetch_ahead(resources, ahead, str(sweep.request.get("dtype", "auto")))
        say(f"{sweep.name}: run {place + 1} of {len(sweep.members)}: {planned.model} on {planned.benchmark}")
        commit = ""
        try:
            spec = make(planned)
            commit = spec.revision
            sweep, folder = _begin_member(settings, sweep, place, spec)
            statuses[place] = _run_member(settings, sweep, folder, work, say)
        except ExplorerError as error:
            say(f"{planned.model} on {planned.benchmark}: {' '.join(str(error).split())}")
            statuses[place] = "failed"
        is_last = all(other.model != planned.model for other in sweep.members[place + 1 :])
        # Only what this run used: the next checkpoint, of the same repository, may be arriving beside it.
        if sweep.keep == "none" and is_last:
            if commit and commit not in sweep.had:
                _remove_weights(settings, planned.model, commit, say)
            else:
                say(f"{planned.model}: its weights stay, since this sweep did not fetch them from a hub")
    return sweep, statuses


def _begin_member(settings: Settings, sweep: Sweep, place: int, spec: RunSpec) -> tuple[Sweep, RunFolder]:
    """The folder of a member's run, and the sweep with its id."""
    planned, run_id = sweep.members[place], specs.run_id(spec)
    # Of a run that this sweep began itself, earlier, the sweep's file has the id already.
    # A sweep that is deleted takes only the runs that it made itself. A run that was here before may be cited
    # elsewhere.
    was_here = planned.was_here if planned.run_id == run_id else (settings.runs / run_id / "spec.json").exists()
    sweep = _with_run_of_member(settings, sweep, place, dataclasses.replace(planned, run_id=run_id, was_here=was_here))
    return sweep, RunFolder.create(settings.runs, spec)


def _run_member(
    settings: Settings, sweep: Sweep, folder: RunFolder, work: Callable[[RunFolder], str], say: Callable[[str], None]
) -> str:
    """The status of a run after it was done, here or by another process that has it in hand."""
    was_reported = False
    while folder.progress().status != "complete":
        if not folder.is_being_worked():
            return work(folder)
        if cancel_mark(settings, sweep.name).exists():
            return str(folder.progress().status)
        if not was_reported:
            say(f"{sweep.name}: waiting for {folder.run_id}, which another process is doing")
            was_reported = True
        stopping.pause(1.0)
    return "complete"


def _fetch_ahead(resources: Resources, model: str, dtype: str) -> None:
    """Begins to bring the next model onto this machine; what goes wrong is told when its turn comes."""
    if not model or http.is_endpoint(model):
        return

    def fetch() -> None:
        try:
            resources.fetch(model, dtype)
        except Exception:  # told by the run that needs it
            return

    threading.Thread(target=fetch, name="fetch ahead", daemon=True).start()


def _remove_weights(settings: Settings, model: str, commit: str, say: Callable[[str], None]) -> None:
    """Removes the weights of a hub model at this commit, and what was made of them."""
    freed = hub_cache.remove(model, [commit]) + weight_files.remove_converted(settings, commit)
    if freed:
        say(f"{model}: its weights were removed, {freed / 1e9:.2f} GB")


def _with_run_of_member(settings: Settings, sweep: Sweep, place: int, member: Member) -> Sweep:
    """The sweep with this run's id, written if it is new."""
    if sweep.members[place] == member or not _path(settings, sweep.name).exists():
        return sweep
    members = (*sweep.members[:place], member, *sweep.members[place + 1 :])
    sweep = dataclasses.replace(sweep, members=members)
    _write(settings, sweep)
    return sweep


def _request_of(sweep: Sweep) -> tuple[Any, ...]:
    """What a sweep asks for, without what was found since."""
    return sweep.study, dict(sweep.request), [_planned(member) for member in sweep.members]


def _planned(member: Member) -> tuple[str, str, int]:
    return member.model, member.benchmark, member.seed


def _path(settings: Settings, name: str) -> Path:
    return settings.sweeps / f"{name}.json"


def _write(settings: Settings, sweep: Sweep) -> None:
    files.make_folder(settings.sweeps)
    files.write_json(_path(settings, sweep.name), {"format": FORMAT, **dataclasses.asdict(sweep)})


def _read(name: str, value: Mapping[str, Any]) -> Sweep | None:
    """The sweep that a file holds; none unless every field is as `_write` writes it."""
    fields = {key: item for key, item in value.items() if key != "format"}
    if value.get("format") != FORMAT or not validation.is_sweep(fields) or fields["name"] != name:
        return None
    members = tuple(Member(**member) for member in fields["members"])
    return Sweep(**{**fields, "members": members, "had": tuple(fields.get("had", ()))})
