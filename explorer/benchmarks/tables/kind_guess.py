"""What a rule finds out about a table, and the questions that several rules ask of its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from explorer.benchmarks.tables.names import Release
from explorer.benchmarks.tables.rows import Table
from explorer.benchmarks.tables.values import is_empty, is_text, number


@dataclass(frozen=True, slots=True)
class Guess:
    """A kind with the columns that values (not names) told, why, and the published table it looks like."""

    kind: str
    columns: Mapping[str, str] = field(default_factory=dict)
    why: str = ""
    release: Release | None = None


def texts_of(table: Table, without: Sequence[str] = ()) -> list[str]:
    return [name for name in table.names if name not in without and is_text(table.column(name))]


def is_column_of_numbers(table: Table, column: str) -> bool:
    values = [value for value in table.column(column) if not is_empty(value)]
    return bool(values) and all(number(value) is not None for value in values)
