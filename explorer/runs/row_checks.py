"""Whether the rows of a part belong together: each is of an instance of the part, stands there once, and none lacks."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from explorer.errors import RunError
from explorer.rows.schema import FACTORS
from explorer.runs import validation

# What tells the rows of a table apart. The same n-gram may be counted twice (a swapped text and its original).
_IDENTITY = {
    "instances": ("instance_id",),
    "variants": ("instance_id", "variant_id", *FACTORS),
    "scores": ("instance_id", "request", *FACTORS),
    "generations": ("instance_id", "request", *FACTORS),
    "measures": ("instance_id", "option", "measure", *FACTORS),
}
_ALWAYS = ("scores", "measures")  # tables in which these studies write of every instance
_WRITE_ALWAYS = ("accuracy", "popularity", "priming", "memorization")


def check_part(parts: Path, name: str, tables: Collection[str], study: str) -> set[str]:
    """The ids of the part's instances; RunError unless its tables are in order and their rows belong to these."""
    first, last = (int(place) for place in name.split("-"))
    paths = {table: parts / table / f"{name}.parquet" for table in tables}
    for table, path in paths.items():
        validation.check_table(path, table, first, last)
    if "instances" not in paths:
        raise RunError(f"The part {name} has no table of its instances, expected one. Get it again.")
    # What the file of instances lists is the measure of all others: a row of an instance that is not there was made for
    # another run, and a score of it would be counted in this one.
    instance_ids = _column(paths["instances"], "instance_id")
    ids = set(instance_ids.to_pylist())
    for table, path in paths.items():
        where = f"{table}/{path.name}"
        if None in ids or not _has_only_these_instances(path, table, study, instance_ids):
            raise RunError(
                f"{where} is not in order: it holds rows of instances that are not of this part. Do not use it, or get "
                "it again."
            )
        if doubled := _repeated_rows(path, table):
            raise RunError(
                f"{where} is not in order: {doubled:,} of its rows are there twice, expected each once. Do not use it, "
                "or get it again."
            )
    _require_every_instance(paths, ids, name, study)
    return ids


def _column(path: Path, column: str) -> pa.Array:
    return pq.read_table(path, columns=[column]).column(column).combine_chunks()


def _has_only_these_instances(path: Path, table: str, study: str, instance_ids: pa.Array) -> bool:
    if table == "findings":
        return True
    rows = pq.read_table(path, columns=["instance_id", *(["condition"] if table == "variants" else [])])
    if table == "variants" and study == "icl":
        # Demonstrations are instances that the run does not ask about.
        rows = rows.filter(pc.fill_null(pc.not_equal(rows.column("condition"), "demonstration"), True))
    return pc.all(pc.is_in(rows.column("instance_id"), value_set=instance_ids), min_count=0).as_py() is not False


def _repeated_rows(path: Path, table: str) -> int:
    if table not in _IDENTITY:
        return 0
    columns: Sequence[str] = _IDENTITY[table]
    rows = pq.read_table(path, columns=list(columns))
    return int(rows.num_rows - rows.group_by(list(columns)).aggregate([]).num_rows)


def _require_every_instance(paths: dict[str, Path], ids: set[str], name: str, study: str) -> None:
    if study not in _WRITE_ALWAYS:
        return
    ids_written = {
        table: set(_column(paths[table], "instance_id").to_pylist())
        for table in (*_ALWAYS, "generations")
        if table in paths
    }
    # Of an imported log each answer is scored or written.
    ids_by_table = {"any table": set().union(*ids_written.values())} if "generations" in ids_written else ids_written
    for table in () if "generations" in ids_written else _ALWAYS:
        ids_by_table.setdefault(table, set())
    for table, present in ids_by_table.items():
        if lacking := len(ids - present):
            raise RunError(
                f"The part {name} is not in order: {lacking:,} of its {len(ids):,} instances have no row in {table}, "
                f"expected one of each in a run of {study}. Do not use it, or get it again."
            )
