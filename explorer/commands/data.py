"""`import`: a user's own table becomes a benchmark."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from explorer import languages
from explorer.benchmarks.core.benchmark import Parsed
from explorer.benchmarks.tables import preview as table_preview
from explorer.benchmarks.tables import table
from explorer.benchmarks.tables.gold import WAYS
from explorer.benchmarks.tables.roles import ROLES
from explorer.commands import common
from explorer.errors import UsageError
from explorer.settings import Settings
from explorer.variants import language

EPILOG = """kinds and the roles of their columns (those in brackets may be missing):
  pair       good, bad                              [context, id, group]
  judged     sentence, judged: a row per sentence     [item, context, group]
  turns      sentence: good, bad, good, bad ...     [context, group]        --first good or bad
  choice     gold, option1, option2 ... or options  [passage, context, relation, id, group]
  contexts   gold, continuation, context1, context2 ... or contexts         [id, group]
  cloze      text (its last word is the target)     [target, id, group]
  labelled   text, label                            [second, id, group]
  rating     sentence, rating                       [id, group]
  suite      item, condition, region, content       [group]                 --formula; or a suite as JSON

A choice whose sentences have a gap (_, ___, [MASK]) is asked like WinoGrande: each option fills the gap. A text in
several columns is ROLE=A+B. Every kind may have a column language (else it is unknown), pairs good_words and
bad_words, ratings words: a list, or with | or blanks between them, for surprisal by word. Other things not said
are guessed; what stays open is asked, and nothing is stored. The guess, the first items as a model reads them
and the columns not used are printed; --dry-run stops there."""
DELIMITERS = {"tab": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "none": ""}
YES_NO = {"yes": True, "no": False}


def add(subparsers: Any) -> None:
    """`import`."""
    parser = common.command_parser(subparsers, "import", epilog=EPILOG)
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("--name", required=True, metavar="N", help="the benchmark will be called imported_N")
    parser.add_argument("--kind", choices=tuple(ROLES), help="what the table holds")
    parser.add_argument("--column", action="append", default=[], metavar="ROLE=NAME", help="which column holds what")
    parser.add_argument("--encoding", default="", help="for example utf-8, utf-16, cp1252, cp1251, gb18030")
    parser.add_argument("--delimiter", help=f"{', '.join(DELIMITERS)}, or one character")
    parser.add_argument("--quotes", choices=tuple(YES_NO), help='whether "..." encloses a cell')
    parser.add_argument("--header", choices=tuple(YES_NO), help="whether the first row has the column names")
    parser.add_argument("--gold", default="", choices=WAYS, help="how a choice's right option is written")
    parser.add_argument("--labels", metavar="FILE", help="a file with the right option of each row, a line per row")
    parser.add_argument("--first", default="", choices=("good", "bad"), help="which comes first of sentences by turns")
    parser.add_argument("--acceptable", default="", metavar="VALUE", help="the judgment that means acceptable")
    parser.add_argument("--split", default="", metavar="NAME", help="which list of a JSON file with several")
    parser.add_argument("--formula", action="append", default=[], help="a prediction of a suite given as a table")
    parser.add_argument("--connectors", default="", metavar="CAUSE,EFFECT", help="words for because and therefore")
    parser.add_argument(
        "--language", default="", metavar="L", help="of the texts, like de or German (default: its column, or unknown)"
    )
    parser.add_argument("--dry-run", action="store_true", help="show the guess and what would be imported")
    parser.set_defaults(run=import_table)


def import_table(args: argparse.Namespace, settings: Settings) -> int:
    """Guesses, reads, shows and, unless it is a dry run, keeps the table."""
    path = Path(args.file)
    labels = Path(args.labels) if args.labels else None
    name = table.clean_name(args.name)
    reading = table.guess_reading(
        path,
        kind=args.kind,
        columns=_split_columns(args.column),
        encoding=args.encoding,
        delimiter=DELIMITERS.get(args.delimiter, args.delimiter),
        quoting=YES_NO.get(args.quotes),
        header=YES_NO.get(args.header),
        gold=args.gold,
        labels=labels,
        first=args.first,
        acceptable=args.acceptable,
        split=args.split,
        formulas=args.formula,
        connectors=tuple(word.strip() for word in args.connectors.split(",")) if args.connectors else (),
        language=args.language,
    )
    _refuse_unused(args, reading)
    parsed = table.read_file(path, reading, name, labels)
    left_out = [{"where": skipped.where, "reason": skipped.reason} for skipped in parsed.left_out]
    if not args.json:
        print(_describe_reading(reading))
        print(_describe_language(reading, parsed))
        print("\n".join(table_preview.preview_lines(reading, parsed)))
        for row in left_out[:10]:
            print(f"left out {row['where']}: {row['reason']}")
        if len(left_out) > 10:
            print(f"left out {len(left_out) - 10} more rows; --json lists them all")
    if not args.dry_run:
        table.store_import(path, name, settings, reading, labels=labels)
    if args.json:
        common.print_json(
            {
                "name": table.PREFIX + name,
                "instances": len(parsed.instances),
                "groups": len({instance.group for instance in parsed.instances}),
                "left_out": left_out,
                "left_out_by_reason": table_preview.left_out(parsed),
                "language": reading.language or None,
                "reading": dataclasses.asdict(reading),
                "unused_columns": reading.unused,
                "first_items": table_preview.preview_items(parsed),
                "stored": not args.dry_run,
            }
        )
        return 0
    outcome = "would be imported" if args.dry_run else "imported"
    instances_read, lost = len(parsed.instances), len(left_out)
    print(f"{instances_read:,} instances {outcome} as {table.PREFIX}{name}; rows left out: {lost:,}")
    return 0


def _refuse_unused(args: argparse.Namespace, reading: table.Reading) -> None:
    """UsageError for what was said and says nothing of this table: it was meant of another, or of another kind."""
    kind, has_cells = reading.kind, reading.format == "csv"
    fits = {
        "gold": (args.gold, kind in ("choice", "contexts"), "a choice"),
        "first": (args.first, kind == "turns", "sentences by turns"),
        "acceptable": (args.acceptable, kind in ("judged", "rating"), "judged sentences"),
        "formula": (args.formula, kind == "suite", "a suite"),
        "connectors": (args.connectors, reading.prompt == "copa", "a choice of causes and effects"),
        "split": (args.split, reading.format == "json", "a JSON file with several lists"),
        "delimiter": (args.delimiter is not None, has_cells, "a table as text"),
        "quotes": (args.quotes, has_cells, "a table as text"),
        "header": (args.header, has_cells, "a table as text"),
        "encoding": (args.encoding, reading.format != "parquet", "a text file"),
    }
    for option, (said, fitting, of) in fits.items():
        if said and not fitting:
            raise UsageError(
                f"--{option} is for {of}, and {Path(args.file).name} is read as {kind} ({reading.format}). Leave it "
                "out, or say the kind with --kind."
            )


def _describe_language(reading: table.Reading, parsed: Parsed) -> str:
    """The language of the texts; a guess is told as one, and not taken."""
    if reading.language:
        return f"language: {languages.in_words(reading.language)}"
    guess = language.look_at_language(parsed.instances)
    offer = f"; if they are, say --language {guess.code}" if guess.code else "; say it with --language"
    return f"language: unknown ({guess.why}, which is a guess{offer})"


def _split_columns(pairs: Sequence[str]) -> dict[str, str]:
    columns: dict[str, str] = {}
    for text in pairs:
        role, equals, column = text.partition("=")
        if not equals or not role or not column:
            raise UsageError(f"--column got {text!r}, expected ROLE=NAME like good=sentence_good.")
        if role in columns:
            raise UsageError(
                f"--column names {role} twice: {columns[role]} and {column}. Name one, or join texts by +."
            )
        columns[role] = column
    return columns


def _describe_reading(reading: table.Reading) -> str:
    parts = [reading.format, reading.encoding]
    if reading.format == "csv":
        names = {delimiter: name for name, delimiter in DELIMITERS.items()}
        parts.append(f"delimiter {names.get(reading.delimiter, reading.delimiter)}")
        parts.append("quotes enclose cells" if reading.quoting else "quotes are text")
        parts.append("with a header" if reading.header else "without a header")
    if reading.gold:
        parts.append(f"gold written as {reading.gold}")
    if reading.first:
        parts.append(f"{reading.first} first")
    columns = ", ".join(f"{role}={column}" for role, column in reading.columns.items())
    return f"read as {reading.kind} ({columns}); {', '.join(part for part in parts if part)}"
