"""What is wrong with a command line, in one sentence: what was found, what was expected, what to do."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from typing import Any, NoReturn


class Parser(argparse.ArgumentParser):
    """A parser whose sub-commands are of its kind, and whose complaint is one line; the exit status stays 2.

    `fill` adds the arguments when the parser is first used: a sub-command that is not asked for costs no import.
    """

    def __init__(self, *args: Any, fill: Callable[[argparse.ArgumentParser], None] | None = None, **options: Any):
        super().__init__(*args, **options)
        self._fill = fill

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        if fill := self._fill:
            self._fill = None
            fill(self)
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"error: {error_sentence(message)}; `{self.prog} --help` tells what it takes.\n")


def error_sentence(message: str) -> str:
    """argparse's message in our order: the thing found, then what was expected."""
    message = " ".join(message.split())
    for pattern, wording in _SENTENCES:
        if match := re.fullmatch(pattern, message):
            return wording.format(*match.groups())
    return message


# Wordings of Python 3.11 to 3.14; one that is not among them is shown as it is.
_SENTENCES = (
    (r"the following arguments are required: (.+)", "{} is missing, expected a value for it"),
    (r"unrecognized arguments: (.+)", "{} is not known here, expected only what the command takes"),
    (r"argument (.+?): invalid choice: (.+?) \(choose from (.+)\)", "{} is {}, expected one of {}"),
    (r"argument (.+?): expected one argument", "{} has no value, expected one"),
    (r"argument (.+?): expected at least one argument", "{} has no value, expected at least one"),
    (r"argument (.+?): invalid int value: (.+)", "{} is {}, expected a whole number"),
    (r"argument (.+?): invalid float value: (.+)", "{} is {}, expected a number"),
    (r"argument (.+?): not allowed with argument (.+)", "{} stands beside {}, expected one of the two"),
    (r"ambiguous option: (.+?) could match (.+)", "{} is short for more than one flag, expected one of {}"),
    (r"argument (.+?): ignored explicit argument (.+)", "{} is given {}, expected no value"),
)
