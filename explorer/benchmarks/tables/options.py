"""The options of a choice: a list, a list written into one cell, or a column each.

A list may hold texts, or objects with a text and a label; instead of a list there may be an object of lists,
{"text": [...], "label": [...]}, or one whose names are letters or numbers in a row, {"A": ..., "B": ...}.
"""

from __future__ import annotations

import ast
import contextlib
import json
import re
import string
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

# What parts options in one cell, the surest first. A comma is none: it stands in texts.
SEPARATORS = ("json", "python", "lettered", "\n", "\t", "||", "|", ";")
# What a list or object begins with where Python or numpy prints it.
PRINTED = ("[", "(", "{", "'", '"', "array(")
TEXT_FIELDS = ("text", "option", "choice", "answer", "ending", "content", "value", "sentence")
NAME_FIELDS = ("label", "key", "id", "letter", "name")
FLAG_FIELDS = ("correct", "is_correct", "iscorrect", "isCorrect", "gold", "right", "is_answer")
_LETTERED = re.compile(r"(?:^|(?<=\s))\(?([A-Za-z]|[1-9][0-9]?)\s?[).:]\s+")


@dataclass(frozen=True, slots=True)
class Options:
    """A row's options, how its gold calls them where the list says so, and the flagged one."""

    texts: tuple[Any, ...]
    names: tuple[str, ...] = ()
    flagged: int | None = None


def from_list(value: Any, separator: str = "") -> Options | None:
    """The options of a list, or of a cell that holds one; none where it is neither."""
    if isinstance(value, str):
        value = _split_cell(value, separator)
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, tuple):
        value = list(value)
    if isinstance(value, dict):
        return _from_object(value)
    if not isinstance(value, list) or len(value) < 2:
        return None
    if all(isinstance(item, dict) for item in value):
        return _from_objects(value)
    return Options(tuple(value))


def _from_object(value: dict[str, Any]) -> Options | None:
    """The options of an object of lists, or of one with a member for each option."""
    field = next((name for name in TEXT_FIELDS if isinstance(value.get(name), list)), "")
    if field:
        lists = {name: column for name, column in value.items() if isinstance(column, list)}
        if len(value[field]) < 2 or len({len(column) for column in lists.values()}) > 1:
            return None
        return _from_objects([dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)])
    if not in_a_row(value):
        return None
    members = list(value.values())
    if all(isinstance(member, dict) for member in members):
        return _from_objects([{**member, NAME_FIELDS[0]: mark} for mark, member in value.items()])
    return Options(tuple(members), tuple(value)) if all(isinstance(member, str) for member in members) else None


def in_a_row(marks: Iterable[str]) -> bool:
    """Whether these are at least two letters or numbers in a row from the first: A, B, C or 0, 1 or 1, 2, 3."""
    names = [mark.strip().lower() for mark in marks]
    count = len(names)
    rows = (string.ascii_lowercase[:count], *(range(first, first + count) for first in (0, 1)))
    return count > 1 and any(names == [str(mark) for mark in row] for row in rows)


def _from_objects(value: Sequence[dict[str, Any]]) -> Options | None:
    field = next((name for name in TEXT_FIELDS if all(name in item for item in value)), "")
    if not field:
        return None
    texts = tuple(item[field] for item in value)
    name = next((name for name in NAME_FIELDS if name != field and all(name in item for item in value)), "")
    names = tuple(str(item[name]).strip() for item in value) if name else ()
    flag = next((name for name in FLAG_FIELDS if all(name in item for item in value)), "")
    flags = [_is_true(item[flag]) for item in value] if flag else []
    return Options(texts, names, flags.index(True) if flags.count(True) == 1 else None)


def flagged_option(value: Any) -> int | None:
    """The place of the only 1 or true in a list."""
    if isinstance(value, str):
        value = _split_cell(value, "json")
    if not isinstance(value, list):
        return None
    flags = [_is_true(item) for item in value]
    return flags.index(True) if flags.count(True) == 1 else None


def _is_true(value: Any) -> bool:
    return value is True or str(value).strip().lower() in ("1", "1.0", "true", "yes")


def guess_separator(values: Iterable[Any]) -> str:
    """What parts the options of most cells, "" where they are lists or nothing parts them."""
    cells = [value for value in values if isinstance(value, str) and value.strip()]
    for separator in SEPARATORS if cells else ():
        if reaches(0.9, (_holds_several(_split_cell(cell, separator)) for cell in cells), len(cells)):
            return separator
    return ""


def reaches(share: float, answers: Iterable[bool], many: int) -> bool:
    """Whether that share of so many answers is yes; no more are looked at than it takes to know that it is not."""
    most = many - share * many
    refused = 0
    for answer in answers:
        refused += not answer
        if refused > most:
            return False
    return True


def _holds_several(part: Any) -> bool:
    if isinstance(part, dict):
        return _from_object(part) is not None
    return isinstance(part, list) and len(part) > 1


def _split_cell(cell: str, separator: str) -> Any:
    if separator in ("", "json"):
        with contextlib.suppress(ValueError, RecursionError):
            return json.loads(cell)
        return None
    if separator == "python":
        return _python_list(cell)
    if separator == "lettered":
        return _lettered_parts(cell)
    parts = [part.strip() for part in cell.split(separator)]
    return parts if all(parts) else None


def _python_list(cell: str) -> list[Any] | dict[str, Any] | None:
    """A list or object as Python or numpy prints it: ['a', "b"], ['a' 'b'], array(['a', 'b'], dtype=object)."""
    text = cell.strip()
    if not text.startswith(PRINTED):  # most cells are texts, which take Python long to refuse
        return None
    with (
        contextlib.suppress(ValueError, SyntaxError, RecursionError, MemoryError),
        warnings.catch_warnings(action="ignore", category=SyntaxWarning),  # of texts as "[3d model]"
    ):
        value = ast.literal_eval(text)
        # Two strings side by side are one to Python, but two to numpy, which prints no commas.
        if isinstance(value, list | tuple) and (len(value) > 1 or not re.search(r"['\"]\s+['\"]", cell)):
            return list(value)
        if isinstance(value, dict) and all(isinstance(name, str) for name in value):
            return value
    text = text.removeprefix("array(").strip()
    end = text.rfind("]")
    return _quoted_strings(text[1:end]) if text.startswith("[") and end > 0 else None


def _quoted_strings(text: str) -> list[str] | None:
    """The quoted strings of a list without its brackets; none where anything but commas and blanks is between."""
    strings: list[str] = []
    at = 0
    while at < len(text):
        quote = text[at]
        if quote in " ,\n\t\r":
            at += 1
            continue
        if quote not in "'\"":
            return None
        inside: list[str] = []
        at += 1
        while at < len(text) and text[at] != quote:
            at += text[at] == "\\"  # what is escaped stands for itself
            inside.append(text[at : at + 1])
            at += 1
        if at >= len(text):
            return None
        strings.append("".join(inside))
        at += 1
    return strings or None


def _lettered_parts(cell: str) -> list[str] | None:
    """The parts of "A) red B) blue" or "a ) 38 , b ) 27", where the letters or numbers are in a row."""
    marks = list(_LETTERED.finditer(cell))
    if len(marks) < 2 or marks[0].start() != 0:
        return None
    if marks[0][1] == "0" or not in_a_row(mark[1] for mark in marks):
        return None
    ends = [mark.start() for mark in marks[1:]] + [len(cell)]
    return [cell[mark.end() : end].strip().rstrip(",;").strip() for mark, end in zip(marks, ends, strict=True)]
