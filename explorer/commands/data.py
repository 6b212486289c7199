"""`import`: a user's own table becomes a benchmark."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from explorer.benchmarks import table
from explorer.benchmarks.table_roles import ROLES
from explorer.commands import common
from explorer.errors import UsageError
from explorer.settings import Settings

EPILOG = """kinds and the roles of their columns (those in brackets may be missing):
  pair       good, bad                              [id, group]
  choice     gold, option1, option2 ... or options  [context, id, group]
  cloze      text (its last word is the target)     [target, id, group]
  labelled   text, label                            [second, id, group]

A choice whose sentences each have one "_" is asked like WinoGrande: each option fills the gap.
What is not said is guessed, and the guess is printed; --dry-run stops there."""
DELIMITERS = {"tab": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "none": ""}
YES_NO = {"yes": True, "no": False}


def add(subparsers: Any) -> None:
    """`import`."""
    parser = common.parser(
        subparsers, "import", "import a CSV, TSV, JSON, JSON Lines or Parquet table as a benchmark", epilog=EPILOG
    )
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("--name", required=True, metavar="N", help="the benchmark will be called imported_N")
    parser.add_argument("--kind", choices=tuple(ROLES), help="what the table holds")
    parser.add_argument("--column", action="append", default=[], metavar="ROLE=NAME", help="which column holds what")
    parser.add_argument("--encoding", default="", help="for example utf-8, utf-16, cp1252")
    parser.add_argument("--delimiter", help=f"{', '.join(DELIMITERS)}, or one character")
    parser.add_argument("--quotes", choices=tuple(YES_NO), help='whether "..." encloses a cell')
    parser.add_argument("--header", choices=tuple(YES_NO), help="whether the first row has the column names")
    parser.add_argument(
        "--gold", default="", choices=("0", "1", "letter", "text"), help="how a choice's right option is written"
    )
    parser.add_argument("--dry-run", action="store_true", help="show the guess and what would be imported")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, settings: Settings) -> int:
    """Guesses, reads and, unless it is a dry run, keeps the table."""
    path = Path(args.file)
    name = table.clean_name(args.name)
    reading = table.guess(
        path,
        kind=args.kind,
        columns=_columns(args.column),
        encoding=args.encoding,
        delimiter=DELIMITERS.get(args.delimiter, args.delimiter),
        quoting=YES_NO.get(args.quotes),
        header=YES_NO.get(args.header),
        gold=args.gold,
    )
    parsed = table.read(path, reading, name)
    if not args.dry_run:
        table.store(path, name, settings, reading)
    left_out = [{"where": left.where, "reason": left.reason} for left in parsed.left_out]
    if args.json:
        common.print_json(
            {
                "name": table.PREFIX + name,
                "instances": len(parsed.instances),
                "groups": len({instance.group for instance in parsed.instances}),
                "left_out": left_out,
                "reading": dataclasses.asdict(reading),
                "stored": not args.dry_run,
            }
        )
        return 0
    print(_told(reading))
    for row in left_out[:10]:
        print(f"left out {row['where']}: {row['reason']}")
    if len(left_out) > 10:
        print(f"left out {len(left_out) - 10} more rows; --json lists them all")
    done = "would be imported" if args.dry_run else "imported"
    made, lost = len(parsed.instances), len(left_out)
    print(f"{made:,} instances {done} as {table.PREFIX}{name}; rows left out: {lost:,}")
    return 0


def _columns(given: Sequence[str]) -> dict[str, str]:
    columns = {}
    for text in given:
        role, equals, column = text.partition("=")
        if not equals or not role or not column:
            raise UsageError(f"--column got {text!r}, expected ROLE=NAME like good=sentence_good.")
        columns[role] = column
    return columns


def _told(reading: table.Reading) -> str:
    parts = [reading.format, reading.encoding]
    if reading.format == "csv":
        names = {delimiter: name for name, delimiter in DELIMITERS.items()}
        parts.append(f"delimiter {names.get(reading.delimiter, reading.delimiter)}")
        parts.append("quotes enclose cells" if reading.quoting else "quotes are text")
        parts.append("with a header" if reading.header else "without a header")
    if reading.gold:
        parts.append(f"gold written as {reading.gold}")
    columns = ", ".join(f"{role}={column}" for role, column in reading.columns.items())
    return f"read as {reading.kind} ({columns}); {', '.join(part for part in parts if part)}"
