"""`export`: a run's tables as CSV, Parquet or JSON Lines."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from explorer.commands import common
from explorer.results.schema import TABLES
from explorer.settings import Settings


def add(subparsers: Any) -> None:
    export = common.parser(subparsers, "export", "write a run's rows to a file; by default a row an instance")
    export.add_argument("run_id", metavar="ID")
    export.add_argument("--table", choices=[*TABLES, "all"], help="one table, or all of them into a folder")
    export.add_argument("--format", required=True, choices=["csv", "parquet", "jsonl"])
    export.add_argument("--out", required=True, type=Path, metavar="FILE", help="the file; with --table all, a folder")
    export.set_defaults(run=export_run)


def export_run(args: argparse.Namespace, settings: Settings) -> int:
    from explorer.results import export
    from explorer.runs.folder import RunFolder

    folder = RunFolder.find(settings.runs, args.run_id)
    written = export.write(folder, args.table, args.format, args.out)
    if args.json:
        common.print_json([{"file": str(path), "rows": rows} for path, rows in written])
    else:
        for path, rows in written:
            print(f"{path}  {rows:,} rows")
    return 0
