"""`export`: a run's tables as files, or the whole run as one zip; `import-run`: such a zip as a run here."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from explorer.commands import common
from explorer.errors import RunError, UsageError
from explorer.rows.schema import TABLES
from explorer.scoring.word_scores import BY
from explorer.settings import Settings

OVER_SEEDS = "over_seeds"


def add(subparsers: Any) -> None:
    export = common.command_parser(subparsers, "export")
    export.add_argument("run_id", metavar="ID")
    export.add_argument(
        "--table",
        choices=[*TABLES, "words", "prompts", "over_seeds", "all"],
        help="one table, or all of them into a folder; words: the surprisal of each word, its tokens added up; "
        "prompts: whole prompts with what the model wrote after them; "
        "over_seeds: of a sweep, each finding's mean and spread over seeds beside the sampling error of one run",
    )
    export.add_argument(
        "--format",
        required=True,
        choices=["csv", "parquet", "jsonl", "latex", "zip"],
        help="zip: the whole run with its spec, environment, rows, findings, reviews and citation",
    )
    export.add_argument("--out", required=True, type=Path, metavar="FILE", help="the file; with --table all, a folder")
    export.add_argument(
        "--by",
        choices=tuple(BY),
        default="auto",
        help=f"of --table words: {'; '.join(f'{name}: {meaning}' for name, meaning in BY.items())}",
    )
    export.add_argument(
        "--spreadsheet-safe",
        action="store_true",
        help="in a CSV file, put a ' before a text that a spreadsheet would take for a formula",
    )
    export.set_defaults(run=export_run)
    import_run = common.command_parser(subparsers, "import-run")
    import_run.add_argument("files", nargs="+", type=Path, metavar="FILE")
    import_run.set_defaults(run=import_runs)


def export_run(args: argparse.Namespace, settings: Settings) -> int:
    from explorer.commands import sweeps
    from explorer.results import export, words

    if args.by != "auto" and args.table != "words":
        raise UsageError(f"--by {args.by} is for --table words, which was not asked for. Name it, or leave --by out.")
    if args.spreadsheet_safe and args.format != "csv":
        raise UsageError(
            f"--spreadsheet-safe is for --format csv, and --format is {args.format}. Leave one of them out."
        )
    from explorer.results.packed_run import PackedRun, find_run
    from explorer.runs import sweep

    if planned := sweep.find(settings, args.run_id):
        return sweeps.export_sweep(planned, args, settings)
    folder = find_run(settings, args.run_id)
    if isinstance(folder, PackedRun):
        _check_packed_run(folder, args.table)
    if args.format == "zip":
        return _export_zip(folder, args, settings)
    if args.table == OVER_SEEDS:
        raise UsageError(
            f"--table {OVER_SEEDS} is of a sweep; {args.run_id} is one run. Name a sweep with several seeds."
        )
    if args.table in ("prompts", "words"):
        frame = _read_prompts(folder) if args.table == "prompts" else words.word_table(folder, args.by)
        rows = export.write_frame(frame, args.format, args.out, spreadsheet_safe=args.spreadsheet_safe)
        files_written = [(args.out, rows)]
    else:
        files_written = export.write_tables(
            folder, args.table, args.format, args.out, spreadsheet_safe=args.spreadsheet_safe
        )
    if args.json:
        common.print_json([{"file": str(path), "rows": rows} for path, rows in files_written])
    else:
        for path, rows in files_written:
            print(f"{path}  {rows:,} rows")
    return 0


def _export_zip(folder: Any, args: argparse.Namespace, settings: Settings) -> int:
    from explorer.results import archive
    from explorer.runs.files import write_atomically

    if args.table:
        raise UsageError(f"--table {args.table} stands beside --format zip, which holds every table. Leave it out.")
    if not args.out.parent.is_dir():
        raise UsageError(f"The folder {args.out.parent} does not exist; make it first.")
    names: list[str] = []

    def write(temporary: Path) -> None:
        with temporary.open("wb") as file:
            names.extend(archive.pack_archive(folder, file, settings))

    write_atomically(args.out, write)
    if args.json:
        common.print_json({"file": str(args.out), "bytes": args.out.stat().st_size, "names": names})
    else:
        print(f"{args.out}  {len(names):,} files, {args.out.stat().st_size:,} bytes")
    return 0


def _check_packed_run(run: Any, table: str | None) -> None:
    """Prints what the file with the precomputed runs leaves out; RunError where that is all that was asked for."""
    if table == "prompts":
        is_missing = run.read("generations", ["prompt"])["prompt"].isna().all()
    else:
        is_missing = table is not None and table in TABLES and run.read(table, list(TABLES[table])[:1]).empty
    if is_missing:
        raise RunError(
            f"{run.run_id} came with the explorer and holds no {table}. {run.left_out} Do the run on this "
            "machine to have them."
        )
    common.report(run.left_out)


def import_runs(args: argparse.Namespace, settings: Settings) -> int:
    from explorer.resources import Resources
    from explorer.results import broken_off

    imported = []
    for path in args.files:
        folder, is_new = broken_off.import_archive(path, Resources(settings))
        imported.append({"file": str(path), "run_id": folder.run_id, "new": is_new, "status": folder.progress().status})
        common.report(f"{path.name}: {'imported' if is_new else 'this run was here already, complete'}")
    if args.json:
        common.print_json(imported)
    else:
        for row in imported:
            print(row["run_id"])
    return 0


def _read_prompts(folder: Any) -> Any:
    """A row per answer with its whole prompt; RunError for a run that has no answers."""
    from explorer.studies.icl import prompts as icl_prompts

    if folder.read("generations", ["instance_id"]).empty:
        raise RunError(
            f"{folder.run_id} holds no answers of the model, so that it has no prompts to write. `--table scores` "
            "writes the texts that were scored."
        )
    if folder.spec.study == "icl":
        return icl_prompts.full_prompts(folder.read)
    return folder.read("generations", icl_prompts.COLUMNS)
