"""What every command has: its parser with the shared flags, its progress line and its way to print."""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from explorer import settings as settings_module
from explorer.commands import COMMANDS
from explorer.errors import ExplorerError
from explorer.settings import Settings

MAX_CELL = 200  # characters of a cell in a terminal; --json prints all of them


def command_parser(subparsers: Any, name: str, **options: Any) -> argparse.ArgumentParser:
    """The parser of a command of COMMANDS."""
    return make_parser(subparsers, name, COMMANDS[name].summary, **options)


def make_parser(subparsers: Any, name: str, summary: str, **kwargs: Any) -> argparse.ArgumentParser:
    """The parser of a command or of one of its actions, with the flags that every command takes."""
    subparser = subparsers.add_parser(
        name, help=summary, description=summary, formatter_class=argparse.RawDescriptionHelpFormatter, **kwargs
    )
    subparser.add_argument(
        "--cache", metavar="DIR", help="where things are kept (default: EXPLORER_CACHE, else cache/)"
    )
    subparser.add_argument("--data", metavar="DIR", help="a folder with benchmark files (default: EXPLORER_DATA)")
    subparser.add_argument("--json", action="store_true", help="print JSON, and nothing else, on standard output")
    subparser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    return subparser


def read_settings(args: argparse.Namespace) -> Settings:
    """The settings that a command's flags and the environment give."""
    return settings_module.read(cache=args.cache, data=args.data)


def finish_interrupted_work(settings: Settings) -> None:
    """Finishes what a kill or a full disk left half done; an error in it does not stop the command itself."""
    from explorer import leftovers

    with contextlib.suppress(ExplorerError, OSError):
        if leftovers.may_be_any(settings.cache):
            from explorer.results import broken_off

            broken_off.finish_deletions(settings)


def report(message: str) -> None:
    """Prints a line for the person at the terminal, on standard error."""
    print(message, file=sys.stderr, flush=True)


def one_line(error: Exception) -> str:
    """What an error says, without line breaks."""
    return " ".join(str(error).split())


class ProgressLine:
    """One progress line on standard error: redrawn in a terminal, a line every tenth in a log."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.last_tenth = -1

    def __call__(self, done: int, total: int) -> None:
        tenth = 10 * done // total if total else 0
        # How much there is may not be known before the end, as of texts that are made while they are counted.
        line = f"{self.title}: {done:,} of {total:,}" if total else f"{self.title}: {done:,}"
        if sys.stderr.isatty():
            end = "\n" if total and done >= total else ""
            print(f"\r{line}", end=end, file=sys.stderr, flush=True)
        elif tenth != self.last_tenth:
            self.last_tenth = tenth
            report(line)


def print_json(value: Any) -> None:
    """The value as JSON on standard output; nan and infinities become null."""
    print(json.dumps(without_nan(value), ensure_ascii=False, indent=2))


def print_rows(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], *, most: int = MAX_CELL) -> None:
    """The rows as an aligned text table on standard output, with so many characters of a cell."""
    cells = [[_format_cell(row.get(column), most) for column in columns] for row in rows]
    widths = [max(len(line[i]) for line in [list(columns), *cells]) for i in range(len(columns))]
    for line in [list(columns), *cells]:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip())


def without_nan(value: Any) -> Any:
    """The value with nan and infinities as None, at any depth."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(key): without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(item) for item in value]
    return value


def _format_cell(value: Any, most: int) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    text = " ".join(str(value).split())
    return text if len(text) <= most else f"{text[: most - 1]}…"
