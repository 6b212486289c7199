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

WIDEST = 200  # characters of a cell in a terminal; --json prints all of them


def command(subparsers: Any, name: str, **options: Any) -> argparse.ArgumentParser:
    """The parser of a command of COMMANDS."""
    return parser(subparsers, name, COMMANDS[name].summary, **options)


def parser(subparsers: Any, name: str, help: str, **kwargs: Any) -> argparse.ArgumentParser:
    """A sub-command's parser with the flags that every command takes."""
    made = subparsers.add_parser(
        name, help=help, description=help, formatter_class=argparse.RawDescriptionHelpFormatter, **kwargs
    )
    made.add_argument("--cache", metavar="DIR", help="where things are kept (default: EXPLORER_CACHE, else cache/)")
    made.add_argument("--data", metavar="DIR", help="a folder with benchmark files (default: EXPLORER_DATA)")
    made.add_argument("--json", action="store_true", help="print JSON, and nothing else, on standard output")
    made.add_argument("--debug", action="store_true", help="show the traceback of an error")
    return made


def settings_of(args: argparse.Namespace) -> Settings:
    """The settings that a command's flags and the environment give."""
    return settings_module.read(cache=args.cache, data=args.data)


def finish_what_was_broken_off(settings: Settings) -> None:
    """Ends what a kill or a full disk left half done; a fault in it keeps no command from its own work."""
    from explorer import leftovers

    with contextlib.suppress(ExplorerError, OSError):
        if leftovers.found(settings.cache):
            from explorer.results import ending

            ending.finish(settings)


def say(message: str) -> None:
    """A line for the person at the terminal, on standard error."""
    print(message, file=sys.stderr, flush=True)


class ProgressLine:
    """One progress line on standard error: redrawn in a terminal, a line every tenth in a log."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.drawn = -1

    def __call__(self, done: int, total: int) -> None:
        tenth = 10 * done // total if total else 0
        if sys.stderr.isatty():
            end = "\n" if done >= total else ""
            print(f"\r{self.what}: {done:,} of {total:,}", end=end, file=sys.stderr, flush=True)
        elif tenth != self.drawn:
            self.drawn = tenth
            say(f"{self.what}: {done:,} of {total:,}")


def print_json(value: Any) -> None:
    """The value as JSON on standard output; nan and infinities become null."""
    print(json.dumps(plain(value), ensure_ascii=False, indent=2))


def print_rows(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> None:
    """The rows as an aligned text table on standard output."""
    cells = [[_text(row.get(column)) for column in columns] for row in rows]
    widths = [max(len(line[i]) for line in [list(columns), *cells]) for i in range(len(columns))]
    for line in [list(columns), *cells]:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip())


def plain(value: Any) -> Any:
    """The value with nan and infinities as None, at any depth."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def _text(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    text = " ".join(str(value).split())
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 1]}…"
