"""The rows of a table as instances, by a reading that says what its columns are."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path

from explorer.benchmarks.core.benchmark import LeftOut, Parsed
from explorer.benchmarks.core.reading import unique_keys
from explorer.benchmarks.tables import (
    instances as table_instances,
)
from explorer.benchmarks.tables import (
    languages as table_languages,
)
from explorer.benchmarks.tables import (
    roles as table_roles,
)
from explorer.benchmarks.tables import (
    rows as table_rows,
)
from explorer.benchmarks.tables import (
    suites,
)
from explorer.benchmarks.tables.guessing import labels_beside
from explorer.benchmarks.tables.reading import Reading
from explorer.benchmarks.tables.rows import Table
from explorer.errors import BenchmarkError, UsageError

PREFIX = "imported_"  # of a benchmark made from a table


def read_file(path: Path, reading: Reading, name: str, labels: Path | None = None) -> Parsed:
    """The instances of a file, and the rows left out with the reason; ids hold row numbers unless a column has ids."""
    data = table_rows.read_bytes(path)
    if reading.format == "suite":
        keyed, left_out = suites.from_json(table_rows.suites_of(path, data, reading), reading)
    else:
        label_file = (labels or labels_beside(path)) if reading.labels else None
        table = table_rows.read_rows(path, data, reading, label_file)
        _check_columns(path, table, reading)
        if reading.kind == "suite":
            keyed, left_out = suites.from_table(table, reading)
        else:
            keyed, left_out = table_instances.make_instances(table, reading, path.name)
        left_out = _in_order([*table.left_out, *left_out])
    if not keyed:
        why = f"; the first: {left_out[0].where}: {left_out[0].reason}" if left_out else ""
        raise BenchmarkError(f"No row of {path.name} could be read as {reading.kind}{why}. Check kind and columns.")
    if reading.language:
        keyed = [(key, table_languages.of_whole(instance, reading.language)) for key, instance in keyed]
    benchmark = PREFIX + name
    keys = unique_keys(f"{instance.group}/{key}" for key, instance in keyed)
    instances = (
        dataclasses.replace(instance, id=f"{benchmark}/{key}", benchmark=benchmark)
        for key, (_, instance) in zip(keys, keyed, strict=True)
    )
    return Parsed(tuple(instances), tuple(left_out))


def _check_columns(path: Path, table: Table, reading: Reading) -> None:
    for role, column in reading.columns.items():
        lacking = [part for part in table_roles.column_parts(column, table.names, role) if part not in table.names]
        if lacking:
            raise UsageError(f"{path.name} has no column {lacking[0]!r}; it has {', '.join(table.names[:20])}.")


def _in_order(left_out: Sequence[LeftOut]) -> list[LeftOut]:
    """By line; those of other splits stay at the end."""

    def by_line(skipped: LeftOut) -> tuple[bool, int]:
        match = re.fullmatch(r"(?:line|row) (\d+)", skipped.where)
        return not match, int(match[1]) if match else 0

    return sorted(left_out, key=by_line)
