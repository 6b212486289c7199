"""`runs`, `resume`, `cancel`, `delete` and `rebuild`."""

from __future__ import annotations

import argparse
import dataclasses
from datetime import UTC, datetime
from typing import Any

from explorer.commands import common, where
from explorer.settings import Settings


def add(subparsers: Any) -> None:
    common.command_parser(subparsers, "runs").set_defaults(run=list_all)
    resume = common.command_parser(subparsers, "resume")
    resume.add_argument("run_id", metavar="ID", help="a run's id or its beginning, or a sweep")
    resume.add_argument("--detach", action="store_true", help="start a worker process and return at once")
    where.add(resume)
    resume.set_defaults(run=resume_run)
    cancel = common.command_parser(subparsers, "cancel")
    cancel.add_argument("run_id", metavar="ID")
    cancel.set_defaults(run=cancel_run)
    delete = common.command_parser(subparsers, "delete")
    delete.add_argument("run_id", metavar="ID")
    delete.set_defaults(run=delete_run)
    common.command_parser(subparsers, "rebuild").set_defaults(run=rebuild_database)


def list_all(args: argparse.Namespace, settings: Settings) -> int:
    from explorer.results.packed_run import list_all as list_runs

    rows = [dataclasses.asdict(run) for run in list_runs(settings)]
    for row in rows:
        row["created"] = datetime.fromtimestamp(row["created"], UTC).isoformat(timespec="seconds")
    if args.json:
        common.print_json(rows)
    elif not rows:
        common.report(
            "No runs yet. Start one: python -m explorer run accuracy --model gemma-3-270m --benchmark starter_pairs"
        )
    else:
        common.print_rows(
            rows, ["run_id", "study", "model", "benchmark", "status", "done", "total", "created", "source", "message"]
        )
    return 0


def resume_run(args: argparse.Namespace, settings: Settings) -> int:
    from explorer.commands import sweeps
    from explorer.commands.run import work_on_run
    from explorer.results import spec_mending
    from explorer.results.packed_run import find_own
    from explorer.runs import imported, queue, sweep
    from explorer.runs.compute_target import save_target

    if planned := sweep.find(settings, args.run_id):
        return sweeps.resume_sweep(planned, args, settings)
    folder = find_own(settings, args.run_id)
    spec_mending.restore_spec(settings, folder)
    imported.refuse_to_resume(folder)
    place = where.place_from(args)
    if folder.progress().status == "complete" and not folder.damaged():
        return _print_status(args, folder.run_id, "complete")
    if args.detach:
        return _print_status(args, queue.resume(settings, folder.run_id, place), "started")
    if not folder.is_being_worked():
        folder.clear_cancel()
        if place is not None:
            save_target(folder, place)
    code = work_on_run(args, settings)
    _print_status(args, folder.run_id, folder.progress().status)
    return code


def cancel_run(args: argparse.Namespace, settings: Settings) -> int:
    from explorer.commands import sweeps
    from explorer.results.packed_run import find_own
    from explorer.runs import queue, sweep

    if planned := sweep.find(settings, args.run_id):
        return sweeps.cancel_sweep(planned, args, settings)
    return _print_status(args, queue.cancel(settings, find_own(settings, args.run_id).run_id), "cancelled")


def delete_run(args: argparse.Namespace, settings: Settings) -> int:
    from explorer.commands import sweeps
    from explorer.results import broken_off
    from explorer.results.packed_run import find_own
    from explorer.runs import sweep

    if planned := sweep.find(settings, args.run_id):
        return sweeps.delete_sweep(planned, args, settings)
    folder = find_own(settings, args.run_id)
    broken_off.delete_run(settings, folder)
    return _print_status(args, folder.run_id, "deleted")


def rebuild_database(args: argparse.Namespace, settings: Settings) -> int:
    from explorer.results import spec_mending, store
    from explorer.runs.folder import all_folders

    for folder in all_folders(settings.runs):
        if spec_mending.restore_spec(settings, folder):
            common.report(f"{folder.run_id}: its spec.json was damaged and stands again as the database has it")
    count, left_out = store.rebuild_database(settings)
    for reason in left_out:
        common.report(f"left out: {reason}")
    if args.json:
        common.print_json({"runs": count, "left_out": left_out})
    else:
        print(f"{count} runs in the database")
    return 1 if left_out else 0


def _print_status(args: argparse.Namespace, run_id: str, status: str) -> int:
    if args.json:
        common.print_json({"run_id": run_id, "status": status})
    else:
        print(f"{run_id} {status}")
    return 0
