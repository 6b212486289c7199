"""Tables of a run as columns: from records or rows to Arrow, cleaned a column at a time.

A part of a run may have a hundred thousand rows. A dictionary a row and a look at each of its values would take longer
than a card takes to score them, so rows are gathered column by column, and Arrow, which is compiled, does the rest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from explorer.errors import RunError
from explorer.records import Factor, Instance, Request, Score
from explorer.rows.builders import payload
from explorer.rows.schema import FACTORS, TABLES, schema_of

if TYPE_CHECKING:
    import pyarrow as pa

Rows = Sequence[Mapping[str, Any]]
Table: TypeAlias = "Rows | pa.Table"  # rows of one table, in either form


def as_arrow(name: str, rows: Table) -> pa.Table:
    """The rows as the named table's columns, in the types of its schema; RunError for a column it does not have."""
    import pyarrow as pa

    if isinstance(rows, pa.Table):
        return rows
    _refuse_unknown(name, {key for row in rows[:1] for key in row})
    return from_columns(name, len(rows), {column: [row.get(column) for row in rows] for column in TABLES[name]})


def from_columns(name: str, size: int, columns: Mapping[str, Any]) -> pa.Table:
    """The named table from its columns: each a sequence, or one value that all rows have; null where none is given.

    nan is stored as null, so that SQL's means leave it out; the reason stands in the next column.
    """
    import pyarrow as pa

    _refuse_unknown(name, columns)
    return pa.table([_array(columns.get(field.name), size, field.type) for field in schema_of(name)], schema_of(name))


def joined(name: str, parts: Sequence[Table]) -> pa.Table:
    """The rows of all parts, one after another."""
    import pyarrow as pa

    return pa.concat_tables([schema_of(name).empty_table(), *(as_arrow(name, part) for part in parts)])


def _refuse_unknown(name: str, columns: Any) -> None:
    if unknown := set(columns) - set(TABLES[name]):
        raise RunError(f"Table {name} has no column {', '.join(sorted(unknown))}; add it to rows/schema.py.")


def _array(values: Any, size: int, kind: pa.DataType) -> pa.Array:
    import pyarrow as pa

    if values is None:
        return pa.nulls(size, kind)
    if isinstance(values, str | int | float):
        values = [values] * size
    try:
        # from_pandas: nan becomes null, in lists too.
        return pa.array(values, type=kind, from_pandas=True)
    except UnicodeEncodeError:
        # A lone surrogate is not UTF-8; Parquet wants text that is.
        return pa.array([_as_utf8(value) for value in values], type=kind, from_pandas=True)


def _as_utf8(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    return [_as_utf8(item) for item in value] if isinstance(value, list | tuple) else value


# Records as tables


def instance_table(instances: Sequence[Instance], first: int) -> pa.Table:
    """Rows of `instances`, at the positions from `first` on; `payload` holds the whole instance as JSON."""
    columns: dict[str, Any] = {
        column: [getattr(instance, field) for instance in instances] for column, field in _INSTANCE.items()
    }
    columns |= {
        "position": list(range(first, first + len(instances))),
        "payload": [payload(instance) for instance in instances],
    }
    return from_columns("instances", len(instances), columns)


_INSTANCE = {"instance_id": "id", "grp": "group"} | {
    name: name for name in ("benchmark", "split", "phenomenon", "field", "kind", "gold", "label", "text_hash")
}


def score_table(
    scores: Sequence[Score],
    numbers: Sequence[int],
    *,
    tokens: bool | Callable[[Score], bool] = True,
    context: bool = True,
    factors: Sequence[Mapping[str, Factor]] | None = None,
) -> pa.Table:
    """Rows of `scores`, numbered so within their instances.

    `tokens` keeps the token lists, `context` the context's text. `factors`, one a score, are overruled by the
    request's own.
    """
    requests = [score.request for score in scores]
    with_tokens = [score if (tokens(score) if callable(tokens) else tokens) else None for score in scores]
    columns: dict[str, Any] = {
        "instance_id": [request.instance_id for request in requests],
        "request": numbers,
        "option": [request.option for request in requests],
        "role": [request.role for request in requests],
        "logprob": [score.sum for score in scores],
        "tokens": [len(score.tokens) for score in scores],
        "context": [request.context for request in requests] if context else None,
        "continuation": [request.continuation for request in requests],
        "token_texts": [score.tokens if score else None for score in with_tokens],
        "token_logprobs": [score.logprobs if score else None for score in with_tokens],
    }
    for name in ("scored", "chars", "bytes", "greedy", "straddles", "truncated", "reason"):
        columns[name] = [getattr(score, name) for score in scores]
    return from_columns("scores", len(scores), columns | _factors(requests, factors))


def _factors(requests: Sequence[Request], behind: Sequence[Mapping[str, Factor]] | None) -> dict[str, list[Any]]:
    """A column for each factor that some request has."""
    factor_sets: Sequence[Mapping[str, Factor]] = [request.factors for request in requests]
    if behind is not None:
        factor_sets = [{**more, **factors} for more, factors in zip(behind, factor_sets, strict=True)]
    return {
        name: [factors.get(name) for factors in factor_sets]
        for name in FACTORS
        if any(name in each for each in factor_sets)
    }


# One list a column rather than one dictionary a row. Factors differ from row to row and most rows have none, so they
# are kept as they came and become columns at the end, and only those that some row has; the rest are nulls that cost
# nothing.
class Measures:
    """Rows of `measures` in the making."""

    def __init__(self) -> None:
        self._ids: list[str] = []
        self._measures: list[str] = []
        self._values: list[float] = []
        self._reasons: list[str] = []
        self._options: list[int] = []
        self._factors: list[Mapping[str, Factor]] = []

    def __len__(self) -> int:
        return len(self._ids)

    def add(
        self,
        instance_id: str,
        measure: str,
        value: float,
        *,
        option: int = -1,
        reason: str = "",
        factors: Mapping[str, Factor] | None = None,
    ) -> None:
        """A number about an instance; nan wants a reason."""
        self._ids.append(instance_id)
        self._measures.append(measure)
        self._values.append(value)
        self._reasons.append("undefined" if not reason and math.isnan(value) else reason)
        self._options.append(option)
        self._factors.append(factors or {})

    def add_rows(self, rows: Rows) -> None:
        """Rows that `measure_row` made."""
        for row in rows:
            self._ids.append(row["instance_id"])
            self._measures.append(row["measure"])
            self._values.append(row["value"])
            self._reasons.append(row["reason"])
            self._options.append(row["option"])
            self._factors.append({name: row[name] for name in FACTORS if name in row})

    def table(self) -> pa.Table:
        """All of them, in the order they were added."""
        columns: dict[str, Any] = {
            "instance_id": self._ids,
            "option": self._options,
            "measure": self._measures,
            "value": self._values,
            "reason": self._reasons,
        }
        for name in FACTORS:
            if any(name in factors for factors in self._factors):
                columns[name] = [factors.get(name) for factors in self._factors]
        return from_columns("measures", len(self), columns)
