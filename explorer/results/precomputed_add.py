"""Runs added to a precomputed file: what is in it stays row for row, the new ones stand after it.

A packed file names what repeats by keys (runs, words, kinds, sets, items, contexts). The new runs are packed by
themselves first; then their keys become those of the file where it holds the same thing, and new ones after its last
where it does not:

    the file      words 0 "", 1 "tie"                measures of runs 1 to 3, rows 0 to 99
    by itself     words 0 "", 1 "no edge"            measures of run 1, rows 0 to 9
    together      words 0 "", 1 "tie", 2 "no edge"   the same, then run 4, rows 100 to 109

A row tells the place of its instance as its number + `shift`: 100 rows further down, the shift is less by 100.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import duckdb

from explorer import __version__
from explorer.errors import StoreError
from explorer.results import precomputed, store, superseded
from explorer.results.precomputed_schema import FORMAT, KIND, NAME, TABLES
from explorer.runs import files
from explorer.runs.folder import RunFolder

Connection = duckdb.DuckDBPyConnection

HELD, FRESH = "held", "fresh"  # what the file as it is and the newly packed one are called once they are attached
# Table → its key and what makes two of its rows the same thing.
_NAMED: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "words": ("word", ("text",)),
    "kinds": ("kind", KIND),
    "sets": ("set_key", ("stem", "benchmark", "split", "grp", "phenomenon", "field", "kind")),
    "items": ("item", ("set_key", "number", "rest", "gold", "label", "text_hash", "payload")),
}
# Column of a packed table → the table whose key it is.
_KEYS: Mapping[str, str] = {
    **dict.fromkeys(("suffix", "reason", "finish", "verdict", "grp"), "words"),
    "run": "runs",
    "kind": "kinds",
    "set_key": "sets",
    "item": "items",
    "context": "contexts",
}
_FACTS = ("instances", "variants", "scores", "generations", "counts", "measures", "findings")


def add_runs(folders: Sequence[RunFolder], file: Path, out: Path | None = None) -> int:
    """Packs finished runs into a precomputed file beside those in it (or into `out`); the file's size in bytes.

    A run that the file already holds takes the place of the one there, and so does one that asks the same in an index
    that is still built, or of a model trained anew (superseded.py).
    """
    out = out or file
    if not file.is_file():
        raise StoreError(f"{file} is not there, expected a file that `precompute pack` wrote. Leave out --add.")
    with tempfile.TemporaryDirectory() as scratch:
        alone = Path(scratch) / "alone.duckdb"
        precomputed.pack_runs(folders, alone)
        files.write_atomically(out, lambda path: _write_united(file, alone, path))
    return out.stat().st_size


def stored_run_ids(file: Path) -> set[str]:
    """The ids of the runs in a precomputed file."""
    with contextlib.closing(store.Store(None, file)) as opened:
        return {row["run_id"] for row in opened.rows("SELECT run_id FROM runs")}


def _write_united(file: Path, alone: Path, out: Path) -> None:
    connection = duckdb.connect()
    # One thread, and the file written once, at the end: several threads leave blocks in it that hold nothing (a fifth
    # of it, as measured).
    connection.execute("SET checkpoint_threshold = '16GB'")
    connection.execute("SET threads = 1")
    try:
        for path, name in ((file, HELD), (alone, FRESH)):
            connection.execute(f"ATTACH '{store.quoted_path(path)}' AS {name} (READ_ONLY)")
        _check_format(connection, file)
        out.unlink()
        connection.execute(
            f"ATTACH '{store.quoted_path(out)}' AS {NAME} "
            f"(BLOCK_SIZE {precomputed.BLOCK}, ROW_GROUP_SIZE {precomputed.GROUP})"
        )
        for table, columns in TABLES.items():
            connection.execute(f"CREATE TABLE {NAME}.{table} ({columns})")
        connection.execute(f"INSERT INTO {NAME}.about VALUES (?, ?)", [FORMAT, __version__])
        _leave_out(connection)
        _copy_held(connection)
        _add_names(connection)
        _add_runs(connection)
        _add_contexts(connection)
        for table in _FACTS:
            _add_facts(connection, table)
        for name in (NAME, HELD, FRESH):
            connection.execute(f"DETACH {name}")
    except duckdb.Error as error:
        raise StoreError(
            f"Runs could not be added to {file} ({str(error).splitlines()[0]}). The file and the run folders are "
            "untouched."
        ) from error
    finally:
        connection.close()


def _check_format(connection: Connection, file: Path) -> None:
    row = connection.execute(f"SELECT format FROM {HELD}.about").fetchone()
    if not row or row[0] > FORMAT:
        raise StoreError(
            f"{file} has the format {row[0] if row else 'of no file'}, expected at most {FORMAT}. Pack all runs anew."
        )


def _leave_out(connection: Connection) -> None:
    """The table `leaving`: keys of the file's runs that come anew, or that give way to a new one."""
    stored_runs = connection.execute(f"SELECT run_id, spec FROM {HELD}.runs").fetchall()
    fresh_runs = connection.execute(f"SELECT run_id, spec FROM {FRESH}.runs").fetchall()
    leaving = {run_id for run_id, _ in fresh_runs} | superseded.giving_way(
        dict(stored_runs), [spec for _, spec in fresh_runs]
    )
    connection.execute(
        f"CREATE TEMP TABLE leaving AS SELECT run FROM {HELD}.runs WHERE list_contains(?, run_id)", [sorted(leaving)]
    )


def _copy_held(connection: Connection) -> None:
    """Every row of the file in its order, without the runs that leave it."""
    is_kept = "run NOT IN (SELECT run FROM leaving)"
    for table, columns in _columns_by_table(connection).items():
        if table == "about":
            continue
        of_run = "run" in columns
        # Rows that went leave fewer before those that stay, so that these tell their place by another shift.
        moved = "shift + rowid - (row_number() OVER (ORDER BY rowid) - 1)"
        columns_there = {row[0] for row in connection.execute(f"DESCRIBE {HELD}.{table}").fetchall()}
        # What an earlier format lacks is empty.
        shown = {name: f'"{name}"' if name in columns_there else "NULL" for name in columns}
        listed = ", ".join(moved if name == "shift" else shown[name] for name in columns)
        connection.execute(
            f"INSERT INTO {NAME}.{table} SELECT {listed} FROM {HELD}.{table} {f'WHERE {is_kept}' if of_run else ''} "
            "ORDER BY rowid"
        )


# `map_words` and the like lead from a key in the newly packed file (`was`) to the key in the joined one (`known`): the
# old key where the file holds the same thing, else the next free one. A windowed count of what is new numbers these on:
#
#     word       was   in the file   known
#     ""           0             0       0
#     "no edge"    1             -       2     (the file's last key is 1)
#     "tie"        2             1       1
def _add_names(connection: Connection) -> None:
    """The words, kinds, sets and items that the file lacks; `map_TABLE` has the key of each in the new file."""
    for table, (key, about) in _NAMED.items():
        # An item names its set by key, which is mapped by then.
        fresh_columns = _with_new_keys(connection, table, FRESH)
        same = " AND ".join(f'there."{name}" IS NOT DISTINCT FROM fresh."{name}"' for name in about)
        connection.execute(
            f"""
            CREATE TEMP TABLE map_{table} AS
            WITH fresh AS (SELECT {fresh_columns[0]} FROM {FRESH}.{table} AS fact {fresh_columns[1]}),
            met AS (SELECT fresh.*, there."{key}" AS known FROM fresh LEFT JOIN {NAME}.{table} AS there ON {same})
            SELECT * REPLACE (coalesce(known, (SELECT coalesce(max("{key}"), -1) FROM {NAME}.{table})
                + count(*) FILTER (known IS NULL) OVER (ORDER BY "{key}"))::INTEGER AS known), "{key}" AS was
            FROM met
            """
        )
        columns = ", ".join(f'"{name}"' for name in _columns_by_table(connection)[table] if name != key)
        connection.execute(
            f"""
            INSERT INTO {NAME}.{table} ("{key}", {columns})
            SELECT known, {columns} FROM map_{table}
            WHERE known > (SELECT coalesce(max("{key}"), -1) FROM {NAME}.{table})
            ORDER BY known
            """
        )
    row = connection.execute(f"SELECT max(item) FROM {NAME}.items").fetchone()
    if row and row[0] is not None and row[0] >= precomputed.OPTIONS:
        raise StoreError(f"The file would hold {row[0] + 1:,} instances, expected at most {precomputed.OPTIONS:,}.")


def _add_runs(connection: Connection) -> None:
    connection.execute(
        f"""
        CREATE TEMP TABLE map_runs AS
        SELECT run AS was, (SELECT coalesce(max(run), 0) FROM {NAME}.runs) + row_number() OVER (ORDER BY run) AS known
        FROM {FRESH}.runs
        """
    )
    connection.execute(
        f"INSERT INTO {NAME}.runs SELECT known, runs.* EXCLUDE (run) FROM {FRESH}.runs AS runs "
        "JOIN map_runs ON was = run ORDER BY known"
    )


# The key of a sentence is OPTIONS times its option plus its item, or negative for a sentence of no instance. Items have
# other keys in the new file: the option is kept (id - id % OPTIONS), the item is looked up (id % OPTIONS).
def _add_contexts(connection: Connection) -> None:
    connection.execute(
        f"""
        CREATE TEMP TABLE map_contexts AS
        SELECT context AS was, context + 1 + (SELECT coalesce(max(context), -1) FROM {NAME}.contexts) AS known
        FROM {FRESH}.contexts
        """
    )
    options = precomputed.OPTIONS
    connection.execute(
        f"""
        INSERT INTO {NAME}.contexts
        SELECT map_contexts.known, coalesce(mapped.ids, [])
        FROM map_contexts
        LEFT JOIN (
            SELECT context, list(CASE WHEN id < 0 THEN id ELSE id - id % {options} + items.known END ORDER BY place)
                AS ids
            FROM (
                SELECT context, unnest(ids) AS id, generate_subscripts(ids, 1) AS place FROM {FRESH}.contexts
            )
            LEFT JOIN map_items AS items ON items.was = id % {options} AND id >= 0
            GROUP BY context
        ) AS mapped ON mapped.context = map_contexts.was
        ORDER BY map_contexts.known
        """
    )


def _add_facts(connection: Connection, table: str) -> None:
    listed, joined = _with_new_keys(connection, table, FRESH)
    before = connection.execute(f"SELECT count(*) FROM {NAME}.{table}").fetchone()
    assert before is not None
    listed = listed.replace('fact."shift"', f'fact."shift" - {before[0]} AS "shift"')
    connection.execute(
        f"INSERT INTO {NAME}.{table} SELECT {listed} FROM {FRESH}.{table} AS fact {joined} ORDER BY fact.rowid"
    )


def _with_new_keys(connection: Connection, table: str, file: str) -> tuple[str, str]:
    """The columns of a packed table with the keys of the new file, and the joins that they need."""
    key_table = _NAMED.get(table, ("", ()))[0]
    listed, joined = [], []
    for name in _columns_by_table(connection)[table]:
        key_of_table = _KEYS.get(name, "")
        # In `kinds` and `sets` a column may be called like another table's key: grp and kind of a set are words.
        is_text = table in ("sets", "kinds", "words") or (table == "scores" and name == "context")
        if not key_of_table or name == key_table or is_text:
            listed.append(f'fact."{name}"')
        else:
            listed.append(f'key_{name}.known AS "{name}"')
            joined.append(f'LEFT JOIN map_{key_of_table} AS key_{name} ON key_{name}.was = fact."{name}"')
    return ", ".join(listed), " ".join(joined)


def _columns_by_table(connection: Connection) -> dict[str, list[str]]:
    """Table → its columns."""
    return {table: [row[0] for row in connection.execute(f"DESCRIBE {NAME}.{table}").fetchall()] for table in TABLES}
