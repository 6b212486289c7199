"""`precompute`: do the planned runs, on whatever machine, and pack them into the file that comes with the explorer."""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.commands import common
from explorer.errors import ExplorerError, UsageError
from explorer.results.precomputed_plan import Planned, planned_runs
from explorer.runs.part import MAX_INSTANCES
from explorer.settings import PRECOMPUTED, ROOT, Settings
from explorer.studies import STUDIES
from explorer.studies import study as find_study

if TYPE_CHECKING:
    from explorer.resources import Resources
    from explorer.runs.folder import RunFolder

EPILOG = """plan    which runs are planned, and how far each is
run     do them in the plan's order, from where they stand, for some minutes; call it again until all is done
merge   add run folders that were made elsewhere
pack    put the finished ones into one file; with --add, beside those in it
released  add the figures of predictions that the ontology paper's authors released"""


def add(subparsers: Any) -> None:
    """`precompute plan`, `run`, `merge`, `pack`, `released`."""
    parser = common.command_parser(subparsers, "precompute", epilog=EPILOG)
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)

    listed = common.make_parser(actions, "plan", "list the planned runs and how far each is")
    _add_filters(listed)
    listed.set_defaults(run=show_plan)

    run = common.make_parser(actions, "run", "do planned runs, resumed where they stand")
    _add_filters(run)
    run.add_argument("--minutes", type=float, default=8.0, help="begin no new part after so long (8)")
    run.add_argument("--processes", type=int, default=1, help="share out every run among so many, GPU by GPU (1)")
    run.add_argument("--parts-only", action="store_true", help="leave the conclusions to another machine")
    run.add_argument("--share", default="1/1", metavar="I/N", help="do only slice I of N of every run")
    run.set_defaults(run=compute_runs)

    merge = common.make_parser(actions, "merge", "add the run folders in other folders to the cache")
    merge.add_argument("folders", nargs="+", metavar="FOLDER", help="a folder of run folders")
    merge.set_defaults(run=merge_runs)

    pack = common.make_parser(actions, "pack", "put finished runs into one file")
    pack.add_argument("runs", nargs="*", metavar="RUN", help="ids of runs; none = the finished ones of the plan")
    pack.add_argument("--out", type=Path, default=PRECOMPUTED, help="the file (cache/precomputed.duckdb)")
    pack.add_argument("--add", action="store_true", help="keep the runs that the file holds, and add these to them")
    pack.set_defaults(run=pack_runs)

    released = common.make_parser(
        actions, "released", "add figures of the predictions that the ontology paper released"
    )
    released.add_argument("--out", type=Path, default=PRECOMPUTED, help="the file (cache/precomputed.duckdb)")
    released.set_defaults(run=add_released)


def _add_filters(parser: argparse.ArgumentParser) -> None:
    for name in ("study", "model", "benchmark"):
        parser.add_argument(f"--{name}", action="append", default=[], help=f"only runs of this {name}; repeatable")
    parser.add_argument("--new", action="store_true", help="only runs that the file which comes along lacks")


def _chosen_runs(args: argparse.Namespace, resources: Resources) -> list[Planned]:
    chosen = [
        run
        for run in planned_runs()
        if (not args.study or run.study in args.study)
        and (not args.model or run.model in args.model)
        and (not args.benchmark or run.benchmark in args.benchmark)
    ]
    return _lacking_runs(chosen, resources) if args.new else chosen


def _lacking_runs(chosen: list[Planned], resources: Resources) -> list[Planned]:
    """Those that the file which comes along does not hold; without its model or benchmark a run is passed over."""
    from explorer.results import precomputed_add

    stored_ids = precomputed_add.stored_run_ids(PRECOMPUTED) if PRECOMPUTED.is_file() else set()
    lacking = []
    for planned in chosen:
        with contextlib.suppress(ExplorerError):
            if _folder_of(planned, resources).run_id not in stored_ids:
                lacking.append(planned)
    return lacking


def show_plan(args: argparse.Namespace, settings: Settings) -> int:
    """A line per planned run: its id, how many instances are done, and whether it has concluded."""
    from explorer.resources import Resources

    resources = Resources(settings)
    rows = []
    for planned in _chosen_runs(args, resources):
        row: dict[str, Any] = {"run": planned.name, "run_id": "", "done": 0, "total": None, "status": "not started"}
        rows.append(row)
        try:
            folder = _folder_of(planned, resources)
        except ExplorerError as error:
            row["status"] = f"cannot be done here: {error}"
            continue
        row["run_id"] = folder.run_id
        if (folder.path / "spec.json").exists():
            progress = folder.progress()
            row.update(
                done=progress.done,
                total=progress.total or None,
                status=progress.status if progress.done else "not started",
            )
    if args.json:
        common.print_json(rows)
    else:
        common.print_rows(rows, ("run", "run_id", "done", "total", "status"))
    return 0


def compute_runs(args: argparse.Namespace, settings: Settings) -> int:
    """Does the chosen runs for some minutes; 0 when all of them are done."""
    until = time.monotonic() + 60 * args.minutes
    if args.processes > 1:
        return _run_processes(args, settings, until)
    from explorer.resources import Resources
    from explorer.runs import shards as shares
    from explorer.runs.folder import RunFolder

    own_slice, slices = _parse_share(args.share)
    resources = Resources(settings)
    unfinished = uncut = 0
    for planned in _chosen_runs(args, resources):
        if planned.study not in STUDIES:
            continue
        started = time.monotonic()
        part, parts = own_slice, slices
        if find_study(planned.study).first_part >= MAX_INSTANCES:
            # A run in one part cannot be sliced: the processes take such runs in turn.
            part, parts = 0, 1
            uncut += 1
            if (uncut - 1) % slices != own_slice:
                continue
        try:
            folder = RunFolder.create(settings.runs, planned.spec(resources))
            if folder.progress().status == "complete":
                continue
            done = shares.run_parts(folder, resources, part, parts, until)
            if done and not args.parts_only and not folder.unfinished(folder.progress().total):
                shares.summarize(folder, resources)
            unfinished += not done
            common.report(f"{planned.name}: {_describe_progress(folder)} ({time.monotonic() - started:.0f} s)")
        except ExplorerError as error:
            unfinished += 1
            common.report(f"{planned.name}: {common.one_line(error)}")
        if time.monotonic() >= until:
            common.report("The time is up; call this again to go on.")
            return 1
    return 1 if unfinished else 0


def _parse_share(text: str) -> tuple[int, int]:
    number, _, total = text.partition("/")
    if not (number.isdecimal() and total.isdecimal() and 1 <= int(number) <= int(total)):
        raise UsageError(f"--share got {text!r}, expected I/N like 2/4.")
    return int(number) - 1, int(total)


def _describe_progress(folder: RunFolder) -> str:
    progress = folder.progress()
    return f"{progress.done:,} of {progress.total:,} instances{', concluded' if progress.status == 'complete' else ''}"


def _run_processes(args: argparse.Namespace, settings: Settings, until: float) -> int:
    """Starts one process per share, each with one of the GPUs that can be seen, and waits for all."""
    gpus = _visible_gpus()
    command = [sys.executable, "-m", "explorer", "precompute", "run", "--parts-only"]
    for name in ("study", "model", "benchmark"):
        for value in getattr(args, name):
            command += [f"--{name}", value]
    command += ["--new"] if args.new else []
    for name in ("cache", "data"):
        if getattr(args, name):
            command += [f"--{name}", getattr(args, name)]
    children = []
    for number in range(args.processes):
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
        }
        if gpus:
            environment["CUDA_VISIBLE_DEVICES"] = gpus[number % len(gpus)]
        share = ["--minutes", str((until - time.monotonic()) / 60), "--share", f"{number + 1}/{args.processes}"]
        children.append(subprocess.Popen([*command, *share], env=environment))
    codes = [child.wait() for child in children]
    if any(codes) or args.parts_only:
        return max(codes)
    args.processes = 1
    return compute_runs(args, settings)


def _visible_gpus() -> list[str]:
    devices = os.environ.get("CUDA_VISIBLE_DEVICES")
    if devices is not None:
        return [name for name in devices.split(",") if name.strip()]
    try:
        nvidia_smi = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return []
    return [str(number) for number, _ in enumerate(nvidia_smi.splitlines())]


def merge_runs(args: argparse.Namespace, settings: Settings) -> int:
    """Adds the parts that were made elsewhere."""
    from explorer.runs import shards as shares

    merged = [run_id for folder in args.folders for run_id in shares.merge(Path(folder), settings.runs)]
    if args.json:
        common.print_json(merged)
    else:
        for run_id in merged:
            print(run_id)
    return 0


def pack_runs(args: argparse.Namespace, settings: Settings) -> int:
    """Packs the named runs, or the finished ones of the plan, and says how large the file is."""
    from explorer.results import precomputed, precomputed_add
    from explorer.runs.folder import RunFolder

    folders = [RunFolder.find(settings.runs, run_id) for run_id in args.runs]
    if not args.runs:
        stored_ids = precomputed_add.stored_run_ids(args.out) if args.add and args.out.is_file() else set()
        folders = [folder for folder in _finished_folders(settings, args.add) if folder.run_id not in stored_ids]
    size = (precomputed_add.add_runs if args.add else precomputed.pack_runs)(folders, args.out)
    if size > precomputed.LARGEST:
        common.report(
            f"{args.out} has {size / 2**20:.1f} MiB, more than the {precomputed.LARGEST / 2**20:.0f} git keeps."
        )
    if args.json:
        common.print_json({"file": str(args.out), "bytes": size, "runs": [folder.run_id for folder in folders]})
    else:
        added_or_in = "runs added to" if args.add else "runs in"
        print(f"{len(folders)} {added_or_in} {args.out}, {size / 2**20:.2f} MiB")
    return 0 if size <= precomputed.LARGEST else 1


def add_released(args: argparse.Namespace, settings: Settings) -> int:
    """Adds runs of the released predictions, findings alone, to the file beside those in it."""
    from explorer.results import precomputed_add
    from explorer.studies.imported.released import aggregates

    with tempfile.TemporaryDirectory() as scratch:
        folders = aggregates(settings, Path(scratch))
        size = precomputed_add.add_runs(folders, args.out)
    if args.json:
        common.print_json({"file": str(args.out), "bytes": size, "runs": [folder.run_id for folder in folders]})
    else:
        print(f"{len(folders)} runs added to {args.out}, {size / 2**20:.2f} MiB")
    return 0


def _finished_folders(settings: Settings, adding: bool) -> Iterator[RunFolder]:
    """The plan's finished runs that have folders here; the others are named, but where runs are only added."""
    from explorer.resources import Resources

    resources = Resources(settings)
    for planned in planned_runs():
        try:
            folder = _folder_of(planned, resources)
        except ExplorerError as error:
            if not adding:
                common.report(f"{planned.name}: {common.one_line(error)}")
            continue
        if (folder.path / "spec.json").exists() and folder.progress().status == "complete":
            yield folder
        elif not adding:
            common.report(f"not computed: {planned.name}")


def _folder_of(planned: Planned, resources: Resources) -> RunFolder:
    """The run's folder, which need not be there."""
    from explorer.runs import spec as specs
    from explorer.runs.folder import RunFolder

    return RunFolder(resources.settings.runs / specs.run_id(planned.spec(resources)))
