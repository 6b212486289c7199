"""`benchmarks`: what there is to ask, how many instances it has, and where it is or can be had."""

from __future__ import annotations

import argparse
from typing import Any

from explorer import benchmarks, languages
from explorer.benchmarks import sources
from explorer.commands import common
from explorer.errors import BenchmarkError
from explorer.settings import Settings


def add(subparsers: Any) -> None:
    """`benchmarks`."""
    parser = common.command_parser(subparsers, "benchmarks")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these")
    parser.add_argument("--fetch", action="store_true", help="download those that are not on this machine")
    parser.set_defaults(run=list_benchmarks)


def list_benchmarks(args: argparse.Namespace, settings: Settings) -> int:
    """Prints a row for each benchmark; instances are counted over its default splits."""
    rows = [_describe_benchmark(name, settings, fetch=args.fetch) for name in args.names or benchmarks.names(settings)]
    if args.json:
        common.print_json(rows)
    else:
        printed = [
            {
                **row,
                "left out": len(row["left_out"]) or None,
                "language": languages.in_words(row["language"] or "") if "language" in row else None,
            }
            for row in rows
        ]
        common.print_rows(printed, ("name", "instances", "groups", "language", "left out", "source"))
    return 1 if args.fetch and any(row["instances"] is None for row in rows) else 0


def _describe_benchmark(name: str, settings: Settings, *, fetch: bool) -> dict[str, Any]:
    not_counted: dict[str, Any] = {"instances": None, "groups": None, "left_out": []}
    try:
        benchmark = benchmarks.find(name, settings)
    except BenchmarkError as error:
        return {"name": name, **not_counted, "source": f"not readable: {error}"}
    facts: dict[str, Any] = {
        "name": name,
        "title": benchmark.title,
        "kind": benchmark.kind,
        "field": benchmark.field,
        "splits": list(benchmark.splits),
        "default_splits": list(benchmark.default_splits),
        "language": benchmark.language or None,
        "license": benchmark.license,
        "note": benchmark.note,
    }
    missing = benchmarks.missing_files(benchmark, settings)
    if missing and not fetch:
        return {
            **facts,
            **not_counted,
            "source": f"not here: {sources.where_to_put(benchmark.title, missing, settings)}",
        }
    progress = common.ProgressLine(f"Downloading {benchmark.title} (bytes)") if missing else None
    try:
        loaded = benchmarks.load(name, settings, progress=progress)
    except BenchmarkError as error:
        return {**facts, **not_counted, "source": f"not readable: {error}"}
    return {
        **facts,
        "instances": len(loaded.instances),
        "groups": len({instance.group for instance in loaded.instances}),
        "left_out": [{"where": skipped.where, "reason": skipped.reason} for skipped in loaded.left_out],
        "source": loaded.source,
    }
