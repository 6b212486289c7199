"""`sweeps`, and what the commands of runs do where a sweep is named: several runs begun, resumed, ended together."""

from __future__ import annotations

import argparse
import collections
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.commands import common, work_here
from explorer.errors import RunError, UsageError
from explorer.runs import sweep as sweep_file
from explorer.runs.sweep import Member, Sweep
from explorer.settings import Settings

if TYPE_CHECKING:
    import pandas as pd

COMPLETE = "complete"


def add(subparsers: Any) -> None:
    """`sweeps`, `sweeps NAME`."""
    parser = common.command_parser(subparsers, "sweeps")
    parser.add_argument("name", nargs="?", default="", metavar="NAME", help="the runs of this sweep")
    parser.set_defaults(run=list_sweeps)


def list_sweeps(args: argparse.Namespace, settings: Settings) -> int:
    """A line per sweep, or a line per run of the one named."""
    if args.name:
        planned = find_or_raise(settings, args.name)
        rows = [_member_row(member, sweep_file.status_of(settings, member)) for member in planned.members]
        columns: Sequence[str] = ("run_id", "model", "benchmark", "seed", "status")
    else:
        rows = [_summarize(settings, planned) for planned in sweep_file.list_all(settings)]
        columns = ("sweep", "study", "models", "benchmarks", "seeds", "complete", "runs", "made")
    if args.json:
        common.print_json(rows)
    elif rows:
        common.print_rows(rows, columns)
    else:
        common.report("No sweeps yet. Name several models: python -m explorer run accuracy --model A B --benchmark X")
    return 0


def _over_seeds(planned: Sweep, findings: pd.DataFrame) -> pd.DataFrame:
    """A row per model, benchmark and finding: mean, sd and range over seeds beside the sampling error of one run."""
    import pandas as pd

    from explorer.results import seeds

    if findings["seed"].nunique() < 2:
        raise RunError(f"The complete runs of {planned.name} have one seed, expected two or more: run with --seeds 5.")
    frames = []
    for (model, benchmark), rows in findings.groupby(["model", "benchmark"], sort=False):
        merged = seeds.merge_seeds(rows)
        merged.insert(0, "benchmark", str(benchmark))
        merged.insert(0, "model", str(model))
        frames.append(merged)
    return pd.concat(frames, ignore_index=True)


def find_or_raise(settings: Settings, name: str) -> Sweep:
    """The sweep of this name; RunError where there is none."""
    planned = sweep_file.find(settings, name)
    if planned is None:
        names = ", ".join(sweep.name for sweep in sweep_file.list_all(settings)[:20]) or "none"
        raise RunError(f"There is no sweep {name!r}; those here are: {names}.")
    return planned


def run_sweep(
    args: argparse.Namespace,
    settings: Settings,
    models: Sequence[str],
    benchmarks: Sequence[str],
    seeds: Sequence[int],
    request: Mapping[str, Any],
) -> int:
    """Plans the sweep that `run` was asked for, and does it here or in the background."""
    if args.cluster:
        raise UsageError("A sweep runs on this machine; --cluster spreads one run. Leave one of the two out.")
    if args.shard == "auto":
        raise UsageError("--shard is for one run. Set EXPLORER_SHARD=auto to spread the models of a sweep.")
    planned = sweep_file.plan(args.study, models, benchmarks, seeds, request=request, name=args.sweep, keep=args.keep)
    if args.dry_run:
        _print_members(args, planned, [sweep_file.NOT_STARTED] * len(planned.members))
        return 0
    planned = sweep_file.store_sweep(settings, planned)
    if args.detach:
        return _start_detached(planned, args, settings)
    return _run_planned(planned, args, settings)


def work_on(planned: Sweep, settings: Settings) -> int:
    """What the background process of a sweep does."""
    return _run_planned(planned, None, settings)


def resume_sweep(planned: Sweep, args: argparse.Namespace, settings: Settings) -> int:
    """Does what is left of every run of the sweep."""
    return _start_detached(planned, args, settings) if args.detach else _run_planned(planned, args, settings)


def cancel_sweep(planned: Sweep, args: argparse.Namespace, settings: Settings) -> int:
    """Stops the run in hand and those to come."""
    stopped = sweep_file.cancel(settings, planned)
    return _print_status(args, planned, "cancelled", stopped)


def delete_sweep(planned: Sweep, args: argparse.Namespace, settings: Settings) -> int:
    """Removes the sweep and the runs that it began, but for those that another sweep holds, too."""
    from explorer.results import sweeps

    folders = {
        member.run_id for member in planned.members if sweep_file.status_of(settings, member) != sweep_file.NOT_STARTED
    }
    deleted = sweeps.delete_sweep(settings, planned)
    common.report(f"runs deleted: {len(deleted)}")
    if not_deleted := len(folders - set(deleted)):
        common.report(f"runs kept, which were there before the sweep or are in another: {not_deleted}")
    return _print_status(args, planned, "deleted", deleted)


def export_sweep(planned: Sweep, args: argparse.Namespace, settings: Settings) -> int:
    """One file with the rows of all complete runs, each with its model, benchmark and seed; or a folder of zips."""
    from explorer.results import archive, sweeps
    from explorer.results import export as exports
    from explorer.runs.files import write_atomically

    if args.format == "zip" and args.out.suffix == ".zip":
        raise UsageError(
            f"--out is {args.out}, expected a folder: a sweep is exported as one zip a run. Name one without .zip."
        )
    done = sweeps.complete_runs(settings, planned)
    if incomplete := len(planned.members) - len(done):
        common.report(f"{incomplete} of {len(planned.members)} runs are not complete and left out")
    files_written: list[tuple[Path, int]] = []
    if args.format == "zip":
        args.out.mkdir(parents=True, exist_ok=True)
        for folder in done.values():
            path = args.out / f"{folder.run_id}.zip"
            write_atomically(path, partial(_write_archive, archive, folder, settings))
            files_written.append((path, 1))
    else:
        if args.table in ("all", "prompts"):
            raise UsageError(f"--table {args.table} is of one run; of a sweep name one table, such as findings.")
        over_seeds = args.table == "over_seeds"
        frame = sweeps.sweep_rows(done, "findings" if over_seeds else args.table)
        if over_seeds:
            frame = _over_seeds(planned, frame)
        rows = exports.write_frame(
            frame, args.format, args.out, caption=f"The sweep {planned.name}.", label=planned.name,
            spreadsheet_safe=args.spreadsheet_safe,
        )  # fmt: skip
        files_written.append((args.out, rows))
    if args.json:
        common.print_json([{"file": str(path), "rows": rows} for path, rows in files_written])
    else:
        for path, rows in files_written:
            print(f"{path}  {rows:,} {'run' if args.format == 'zip' else 'rows'}")
    return 0


def _write_archive(archive: Any, folder: Any, settings: Settings, path: Path) -> None:
    with path.open("wb") as file:
        archive.pack_archive(folder, file, settings)


def _run_planned(planned: Sweep, args: argparse.Namespace | None, settings: Settings) -> int:
    from explorer.resources import Resources
    from explorer.runs.request import make_spec
    from explorer.runs.worker import work

    resources = Resources(settings, work_here.preparation_lines())

    def spec_of_member(member: Member) -> Any:
        return make_spec(
            resources, study=planned.study, model=member.model, benchmark=member.benchmark, seed=member.seed,
            **planned.request,
        )  # fmt: skip

    def do_run(folder: Any) -> str:
        if not folder.is_being_worked():
            folder.clear_cancel()
        return work(
            folder, resources, common.report, common.ProgressLine(planned.study), on_cluster=work_here.on_cluster
        )

    resources.keeps_process = True  # a model is loaded once for all its runs, which come one after another
    try:
        planned, statuses = sweep_file.run_members(settings, planned, resources, spec_of_member, do_run, common.report)
    finally:
        resources.end_process()
    if args is not None:
        _print_members(args, planned, statuses)
    return 0 if set(statuses) == {COMPLETE} else 1


def _start_detached(planned: Sweep, args: argparse.Namespace, settings: Settings) -> int:
    """Does the sweep in a process of its own that outlives this one; what it prints lies beside the sweep's file."""
    sweep_file.start(settings, planned)
    return _print_status(args, planned, "started", [])


def _member_row(member: Member, status: str) -> dict[str, Any]:
    return {
        "run_id": member.run_id,
        "model": member.model,
        "benchmark": member.benchmark,
        "seed": member.seed,
        "status": status,
    }


def _summarize(settings: Settings, planned: Sweep) -> dict[str, Any]:
    status_counts = collections.Counter(sweep_file.status_of(settings, member) for member in planned.members)
    return {
        "sweep": planned.name,
        "study": planned.study,
        "models": len({member.model for member in planned.members}),
        "benchmarks": len({member.benchmark for member in planned.members}),
        "seeds": len({member.seed for member in planned.members}),
        "complete": status_counts[COMPLETE],
        "runs": len(planned.members),
        "made": datetime.fromtimestamp(planned.made, UTC).isoformat(timespec="seconds"),
    }


def _print_members(args: argparse.Namespace, planned: Sweep, statuses: Sequence[str]) -> None:
    rows = [_member_row(member, status) for member, status in zip(planned.members, statuses, strict=True)]
    if args.json:
        common.print_json({"sweep": planned.name, "runs": rows})
    else:
        print(planned.name)
        common.print_rows(rows, ("run_id", "model", "benchmark", "seed", "status"))


def _print_status(args: argparse.Namespace, planned: Sweep, status: str, run_ids: Sequence[str]) -> int:
    if args.json:
        common.print_json({"sweep": planned.name, "status": status, "runs": list(run_ids)})
    else:
        print(f"{planned.name} {status}")
    return 0
