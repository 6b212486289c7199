"""The language of a table's texts: said for all, or row by row in a column; nothing is guessed here."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from explorer import languages
from explorer.benchmarks.tables.names import find_column
from explorer.benchmarks.tables.reading import Reading
from explorer.benchmarks.tables.rows import Table
from explorer.benchmarks.tables.values import written
from explorer.errors import UsageError
from explorer.records import Instance

ROLE = "language"


def with_language(reading: Reading, table: Table, file: str) -> Reading:
    """The reading with the column of languages, where one is named or called so and holds nothing else.

    UsageError where a named column holds something else, or says another language than what was said.
    """
    column = reading.columns.get(ROLE)
    if column is None:
        column = find_column(ROLE, table.names, reading.columns.values())
        values = [written(value) for value in table.column(column)] if column else []
        # A column of that name may hold programming languages.
        if not column or not any(map(languages.is_known, values)):
            return reading
        if not all(languages.is_known(value) or languages.find_code(value) == "" for value in values):
            return reading
        reading = dataclasses.replace(reading, columns={**reading.columns, ROLE: column})
    codes = dict.fromkeys(_code(value, column, file) for value in table.column(column))
    codes.pop("", None)
    if reading.language and list(codes) not in ([], [reading.language]):
        in_column = ", ".join(map(languages.in_words, codes))
        raise UsageError(
            f"The column {column!r} of {file} says {in_column}, and the whole file was said to be "
            f"{languages.in_words(reading.language)}. Leave one of the two out."
        )
    of_file = reading.language or (next(iter(codes)) if len(codes) == 1 else languages.SEVERAL if codes else "")
    return dataclasses.replace(reading, language=of_file)


def _code(value: Any, column: str, file: str) -> str:
    code = languages.find_code(written(value))
    if code is None:
        raise UsageError(
            f"The column {column!r} of {file} holds {written(value)[:40]!r}, expected a language a row, like de or "
            "German. Name another column for the language, or none."
        )
    return code


def of_row(instance: Instance, cells: Mapping[str, Any], reading: Reading) -> Instance:
    """The instance with the language that its row says."""
    column = reading.columns.get(ROLE)
    code = languages.find_code(written(cells.get(column))) if column else ""
    return dataclasses.replace(instance, extra={**instance.extra, ROLE: code}) if code else instance


def of_whole(instance: Instance, language: str) -> Instance:
    """The instance with the language of all, where it has none of its own; several languages are that of no row."""
    if instance.language or language == languages.SEVERAL:
        return instance
    return dataclasses.replace(instance, extra={**instance.extra, ROLE: language})
