"""`import-log`: answers that another harness logged become a run here."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.commands import common
from explorer.errors import ExplorerError
from explorer.settings import Settings

if TYPE_CHECKING:
    from explorer.logs.log import Log
    from explorer.studies.imported.log import StoredLog

MAX_PRINTED = 10  # lines left out that are printed one by one
EPILOG = """A file is lm-evaluation-harness's samples_TASK_DATE.jsonl (run it with --log_samples; the results_DATE.json
beside it tells model, version and figures) or a log of Inspect (.json or .eval); gzipped ones are read too. Samples are
matched by their texts with the benchmarks on this machine; where none fits, the log becomes a benchmark of its own.
What cannot be read is printed, and kept as left_out.jsonl in the run's folder; the exit status is 1 where a file gave
no run."""


def add(subparsers: Any) -> None:
    """`import-log`."""
    parser = common.command_parser(subparsers, "import-log", epilog=EPILOG)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--benchmark", default="", metavar="NAME", help="whose instances the samples are")
    parser.add_argument("--model-name", default="", metavar="NAME", help="the model that answered, if the log is wrong")
    parser.set_defaults(run=import_logs)


def import_logs(args: argparse.Namespace, settings: Settings) -> int:
    """Keeps each file that is a log; 1 where one is not."""
    from explorer import logs
    from explorer.resources import Resources
    from explorer.studies.imported.log import import_log

    resources = Resources(settings)
    answers: list[dict[str, Any]] = []
    for path in args.files:
        try:
            log = logs.read(path)
            stored = import_log(log, resources, benchmark=args.benchmark, model=args.model_name)
        except ExplorerError as error:
            common.report(f"error: {common.one_line(error)}")
            answers.append({"file": str(path), "error": common.one_line(error)})
            continue
        _report_import(log, stored)
        answers.append(_as_json(path, log, stored))
    if args.json:
        common.print_json(answers)
    else:
        for row in answers:
            if "run_id" in row:
                print(row["run_id"])
    return 1 if any("error" in row for row in answers) else 0


def _report_import(log: Log, stored: StoredLog) -> None:
    for remark in log.remarks:
        common.report(remark)
    for dropped in stored.dropped[:MAX_PRINTED]:
        common.report(f"{log.file} {dropped.where}: {dropped.reason}")
    if len(stored.dropped) > MAX_PRINTED:
        common.report(
            f"{len(stored.dropped) - MAX_PRINTED:,} more were left out; "
            "left_out.jsonl in the run's folder has them all."
        )
    common.report(
        f"{stored.instances:,} samples of {log.task} ({log.made_by}), {stored.matched:,} of them instances of "
        f"{stored.benchmark}{'' if stored.new else '; this log was here already'}"
    )
    for figure in stored.agreement:
        same = "as its samples say" if figure.agrees else f"but its samples say {figure.ours:.6g}"
        common.report(f"{figure.metric} is {figure.told:.6g} in the log's results, {same}")


def _as_json(path: Path, log: Log, stored: StoredLog) -> dict[str, Any]:
    return {
        "file": str(path),
        "run_id": stored.folder.run_id,
        "new": stored.new,
        "source": log.source,
        "version": log.version,
        "sha256": log.sha256,
        "task": log.task,
        "model": stored.folder.spec.model,
        "benchmark": stored.benchmark,
        "instances": stored.instances,
        "matched": stored.matched,
        "left_out": [{"where": dropped.where, "reason": dropped.reason} for dropped in stored.dropped],
        "remarks": list(log.remarks),
        "results": [
            {"metric": figure.metric, "results": figure.told, "samples": figure.ours, "agrees": figure.agrees}
            for figure in stored.agreement
        ],
    }
