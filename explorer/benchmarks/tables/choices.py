"""Tables of choices: several contexts with one continuation, options in columns, lists or cells, and MMLU's form.

A list written as JSON or as Python prints it is sure in a column of any name; "|" and ";" stand in texts, too, so that
they part options only where the column is called so. Options inside a question are never cut out of it.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping

from explorer.benchmarks.tables import options
from explorer.benchmarks.tables.kind_guess import Guess, is_column_of_numbers, texts_of
from explorer.benchmarks.tables.names import CONTEXT, find_column, numbered_columns, option_columns
from explorer.benchmarks.tables.rows import Table
from explorer.benchmarks.tables.values import is_empty, is_text, written
from explorer.errors import UsageError


def find_contexts(table: Table, file: str, given_columns: Mapping[str, str]) -> Guess | None:
    columns = numbered_columns(table.names, CONTEXT)
    list_column = given_columns.get("contexts") or find_column("contexts", table.names)
    if len(columns) < 2 and not (list_column and _option_separator(table, list_column) is not None):
        return None
    if len(option_columns(table.names)) > 1 or not find_column("continuation", table.names, columns):
        return None
    roles = {"contexts": list_column} if list_column else {f"context{n}": column for n, column in enumerate(columns, 1)}
    return Guess("contexts", roles, "several contexts and one continuation")


def _option_separator(table: Table, column: str) -> str | None:
    """What parts the options in the cells of a column ("" for lists), none where they hold no lists."""
    values = [value for value in table.column(column) if not is_empty(value)]
    separator = options.guess_separator(values)
    lists = (options.from_list(value, separator) is not None for value in values)
    return separator if values and options.reaches(0.5, lists, len(values)) else None


def _holds_lists(table: Table, column: str) -> bool:
    """Whether cells are lists of options, or a list of texts written out as JSON or as Python does.

    Other signs in a cell, as "|" or ";", part options only in a column that is called so: they stand in texts, too.
    """
    separator = _option_separator(table, column)
    if separator is None or any(isinstance(value, list) for value in table.column(column)):
        return separator is not None
    values = [value for value in table.column(column) if not is_empty(value)]
    lists = [parsed.texts for value in values if (parsed := options.from_list(value, separator))]
    return separator in ("json", "python") and all(isinstance(text, str) for texts in lists for text in texts)


def find_choice(table: Table, file: str, given_columns: Mapping[str, str]) -> Guess | None:
    option_names = option_columns(table.names)
    numbers = all(is_column_of_numbers(table, column) for column in option_names)
    if len(option_names) > 1 and (not numbers or find_column("gold", table.names, option_names)):
        return Guess("choice", {}, f"the options {', '.join(option_names)}")
    list_column = given_columns.get("options") or find_column("options", table.names)
    if list_column and _option_separator(table, list_column) is not None:
        return Guess("choice", {"options": list_column}, f"the list of options in {list_column}")
    lists = [name for name in table.names if _holds_lists(table, name) and not name.endswith((".label", ".labels"))]
    if len(lists) == 1 and find_column("gold", table.names, lists):
        return Guess("choice", {"options": lists[0]}, f"the list of options in {lists[0]}")
    return _headless_choice(table)


def _headless_choice(table: Table) -> Guess | None:
    """A question, its options and the right one's letter, without names, as MMLU has them."""
    names = table.names
    if len(names) < 4 or names != tuple(f"column {n}" for n in range(1, len(names) + 1)):
        return None
    letters = {written(value) for value in table.column(names[-1])}
    if (
        not letters
        or not letters <= set(string.ascii_uppercase[: len(names) - 2])
        or not is_text(table.column(names[0]))
    ):
        return None
    roles = {f"option{n}": name for n, name in enumerate(names[1:-1], 1)}
    return Guess(
        "choice",
        {"context": names[0], **roles, "gold": names[-1]},
        "a text, options, and a letter in the last column, as MMLU",
    )


_MARKS = re.compile(r"(?:^|(?<=\s))(?:\(([A-Ea-e1-5])\)|([A-Ea-e1-5])\)|([A-E])[.:](?=\s))")


def refuse_options_inside(table: Table, file: str, given_columns: Mapping[str, str]) -> Guess | None:
    """UsageError where the options stand inside the question: nothing tells surely where each begins and ends."""
    for name in texts_of(table):
        texts = [value for value in table.column(name) if isinstance(value, str) and value.strip()]
        marks = [[(mark[1] or mark[2] or mark[3]).lower() for mark in _MARKS.finditer(text)] for text in texts]
        lists = sum(row_marks[:2] in (["a", "b"], ["1", "2"]) for row_marks in marks)
        others = [column for column in table.names if column != name]
        letters = [column for column in others if _is_column_of_letters(table, column)]
        if lists >= 0.5 * len(texts) and (letters or find_column("gold", others)):
            right = next(
                guessed
                for guessed in (
                    find_column("gold", letters), find_column("label", letters), find_column("gold", others), *letters
                )
                if guessed
            )  # fmt: skip
            raise UsageError(
                f"{file} has options inside the text of {name} ({texts[0].strip()[:80]!r}), and the right one "
                f"in {right}; expected options of their own. Give every option a column (question,A,B,C,D,answer)."
            )
    return None


def _is_column_of_letters(table: Table, column: str) -> bool:
    values = [written(value).strip("().:").upper() for value in table.column(column) if not is_empty(value)]
    return bool(values) and set(values) <= {*"ABCDEFGHIJ", *"0123456789", "-1", "?"}
