"""The command line: `python -m explorer COMMAND`."""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import sys
import traceback
from collections.abc import Sequence

from explorer import __version__
from explorer.commands import COMMANDS, common, usage
from explorer.errors import ExplorerError


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; 0 when all went well, 1 on an error, 2 on wrong usage, 130 when interrupted."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if hasattr(sys.stdout, "reconfigure"):
        # A console that cannot show a character, or a name that is no text, gets an escape instead of a fault.
        sys.stdout.reconfigure(errors="backslashreplace")
    if arguments[:1] == ["run"]:
        from explorer.runs import head_start  # what starts processes takes time to import, too

        head_start.begin(arguments)
    try:
        return _run(arguments)
    finally:
        if begun := sys.modules.get("explorer.runs.head_start"):  # other commands that do runs begin it themselves
            begun.end()


def _run(arguments: Sequence[str]) -> int:
    try:
        args = parser_for(arguments).parse_args(arguments)
    except ModuleNotFoundError as error:
        common.report(f"error: {not_installed(error)}")
        return 1
    try:
        settings = common.read_settings(args)
        common.finish_interrupted_work(settings)
        return int(args.run(args, settings) or 0)
    except ExplorerError as error:
        if args.debug:
            traceback.print_exc()
        common.report(f"error: {common.one_line(error)}")
        return 1
    except KeyboardInterrupt:
        common.report("interrupted; what was finished is kept")
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:  # a full disk, a missing right: the operating system's own words say what is wrong
        if args.debug:
            traceback.print_exc()
        where = f"{error.filename}: " if error.filename else ""
        common.report(f"error: {where}{error.strerror or error}. Make room or allow it, then try again.")
        return 1
    except Exception as error:
        if args.debug:
            traceback.print_exc()
        if isinstance(error, ModuleNotFoundError):
            common.report(f"error: {not_installed(error)}")
            return 1
        text = common.one_line(error)
        common.report(f"error: {type(error).__name__}: {text} (an unforeseen fault; --debug shows where)")
        return 1


def not_installed(error: ModuleNotFoundError) -> str:
    """What to do where a package is missing: most often it is another Python than the one that was installed for."""
    return (
        f"the package {error.name} is not installed for {sys.executable}. Start Lexiscope with the Python of its "
        "environment (.venv/bin/python -m explorer ...), or install what it needs: pip install -r requirements.txt."
    )


def parser_for(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """A parser that knows every command by name, and the one that is asked for with all it takes."""
    parser = usage.Parser(
        prog="python -m explorer",
        description="Lexiscope: how pre-training data shapes what a language model gets right.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    name = next((word for word in arguments if not word.startswith("-")), "")
    if name in COMMANDS:
        # Only the named command's module is imported, so that each command starts fast.
        importlib.import_module(COMMANDS[name].module).add(subparsers)
    else:
        for known, command in COMMANDS.items():
            subparsers.add_parser(known, help=command.summary)
    return parser


if __name__ == "__main__":
    code = main()
    # At its end Python looks through every object for circles, a second and more after a run; nothing hangs on that.
    gc.freeze()
    sys.exit(code)
