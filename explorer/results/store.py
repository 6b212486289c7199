"""The database people query: one DuckDB file a generation, opened for reading only, replaced as a whole.

DuckDB allows one writer or many readers of a file. So nobody writes the file that others read: whoever ingests takes a
lock, copies generation N, adds the run, and renames a pointer to generation N+1. Readers look at the pointer.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import re
import shutil
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from explorer import plain_json, sharing, stopping
from explorer.errors import RunError, StoreError
from explorer.results import migrations, precomputed_schema
from explorer.results.few_units import without_few_units
from explorer.rows.schema import TABLES
from explorer.runs import files
from explorer.runs import spec as specs
from explorer.runs.folder import RunFolder, all_folders
from explorer.runs.parts import part_name
from explorer.runs.queue import info
from explorer.settings import PRECOMPUTED, Settings

if TYPE_CHECKING:
    import pandas as pd

RUN_TABLES = ("runs", *TABLES)
SECONDS_BETWEEN_LOOKS = 0.5  # seconds, for parts that are put in as they are made
MAX_SECONDS_HELD = 120.0  # seconds that the database may be held for them
_GENERATION = re.compile(r"explorer-(\d+)\.duckdb")


class Store:
    """Read-only questions to the runs of one database generation and the precomputed ones; safe in many threads."""

    def __init__(
        self, generation: Path | None, precomputed: Path | None = None, parts: RunFolder | None = None
    ) -> None:
        self.generation = generation
        self._precomputed = precomputed
        self._parts = parts
        self._connection = duckdb.connect(":memory:")
        self._packed_format = precomputed_schema.FORMAT
        self._lock = threading.Lock()
        if generation is not None:
            self._attach(generation)
        if precomputed is not None:
            self._attach_precomputed(precomputed)
        if generation is None and precomputed is None:
            migrations.migrate(self._connection)
        else:
            self._unite(generation is not None, precomputed is not None)
        if parts is not None:
            with _explain_damage(parts):
                self._show_parts(parts)

    def _attach(self, path: Path) -> None:
        try:
            self._connection.execute(f"ATTACH '{quoted_path(path)}' AS current (READ_ONLY)")
            row = self._connection.execute("SELECT max(number) FROM current.migrations").fetchone()
        except duckdb.Error as error:
            raise StoreError(
                sharing.kept_from_us(path)
                or f"The database {path} cannot be opened ({_first_line(error)}). {_advise(error)}"
            ) from error
        if row and row[0] > len(migrations.MIGRATIONS):
            raise StoreError(
                f"The database {path} was made by a newer Lexiscope (schema {row[0]}, this one knows "
                f"{len(migrations.MIGRATIONS)}). Install the newer version, or run `python -m explorer rebuild`."
            )

    def _attach_precomputed(self, path: Path) -> None:
        name = precomputed_schema.NAME
        try:
            self._connection.execute(f"ATTACH '{quoted_path(path)}' AS {name} (READ_ONLY)")
            row = self._connection.execute(f"SELECT format, version FROM {name}.about").fetchone()
        except duckdb.Error as error:
            remedy = (
                "Restore the file with `git checkout`"
                if path == PRECOMPUTED
                else "Name a file in EXPLORER_PRECOMPUTED that `precompute pack` wrote"
            )
            raise StoreError(
                f"The precomputed runs in {path} cannot be opened ({_first_line(error)}). {remedy}, or set "
                "EXPLORER_PRECOMPUTED=none to go without them."
            ) from error
        self._packed_format = int(row[0]) if row else precomputed_schema.FORMAT
        if row and row[0] > precomputed_schema.FORMAT:
            raise StoreError(
                f"The precomputed runs in {path} were packed by Lexiscope {row[1]} in a format that this "
                "version does not know. Install the newer version, or set EXPLORER_PRECOMPUTED=none to go without them."
            )

    # Two databases are read as one. A view a table keeps every query the same, whether a run was made here or came
    # along. "BY NAME", because the packed file may lack columns that follow from others, and has them in another order.
    def _unite(self, has_own: bool, has_precomputed: bool) -> None:
        # A run that is in both is the user's own.
        hidden = "run_id NOT IN (SELECT run_id FROM current.runs)" if has_own else ""
        for table in RUN_TABLES:
            shown = [f"SELECT * FROM current.{table}"] if has_own else []
            shown += [precomputed_schema.view_of_packed(table, hidden, self._packed_format)] if has_precomputed else []
            every = " UNION ALL BY NAME ".join(shown)
            self._connection.execute(
                f"CREATE VIEW {table} AS {without_few_units(every) if table == 'findings' else every}"
            )

    def _show_parts(self, folder: RunFolder) -> None:
        for table in TABLES:
            paths = folder.part_files(table)
            if paths:
                listed = ", ".join(f"'{quoted_path(path)}'" for path in paths)
                self._connection.execute(f"DROP TABLE {table}")
                every = f"SELECT '{folder.run_id}' AS run_id, * FROM read_parquet([{listed}])"
                self._connection.execute(
                    f"CREATE VIEW {table} AS {without_few_units(every) if table == 'findings' else every}"
                )
        _insert_run(self._connection, folder)

    def frame(self, sql: str, parameters: Sequence[Any] = ()) -> pd.DataFrame:
        """The answer to a query as a frame; values go in as parameters."""
        with self._answering(sql, parameters) as answer:
            return answer.df()

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """The answer to a query as a dictionary a row. It does not import pandas, whose start a short command feels."""
        with self._answering(sql, parameters) as answer:
            names = [column[0] for column in answer.description]
            return [dict(zip(names, values, strict=True)) for values in answer.fetchall()]

    @contextlib.contextmanager
    def _answering(self, sql: str, parameters: Sequence[Any]) -> Iterator[duckdb.DuckDBPyConnection]:
        try:
            with self._lock:
                cursor = self._connection.cursor()
            # Whether each file of a live run is whole shows only when a question reads it.
            telling = contextlib.nullcontext() if self._parts is None else _explain_damage(self._parts)
            with contextlib.closing(cursor), telling:
                yield cursor.execute(sql, plain_json.without_halves(list(parameters)))
        except duckdb.Error as error:
            remedy = f" {_advise(error, self._precomputed)}" if _is_damage(error) else ""
            raise StoreError(f"The database could not answer ({_first_line(error)}).{remedy}") from error

    def close(self) -> None:
        self._connection.close()


def open_store(settings: Settings) -> Store:
    """The newest generation with the precomputed runs; empty tables where there are neither."""
    for _ in range(3):
        generation = current_generation(settings)
        try:
            return Store(generation, precomputed_file(settings))
        except StoreError:
            # Replaced between the look at the pointer and the opening: look again.
            if current_generation(settings) == generation:
                raise
    raise StoreError("The database is being replaced without pause; try again in a moment.")


def precomputed_file(settings: Settings) -> Path | None:
    """The file with the precomputed runs, or none where none is wanted or none came along.

    StoreError where a file was named that is not there.
    """
    path = settings.precomputed
    if path is None or os.path.isfile(path):
        return path
    if path == PRECOMPUTED:
        return None
    problem = "is no file" if os.path.exists(path) else "is not there"
    raise StoreError(
        f"EXPLORER_PRECOMPUTED names {path}, which {problem}. Name a file that `precompute pack` wrote, unset it for "
        "the one that comes with the explorer, or set it to none to go without."
    )


def open_parts(folder: RunFolder) -> Store:
    """A live run's finished parts, read straight from their Parquet files."""
    return Store(None, None, folder)


def current_generation(settings: Settings) -> Path | None:
    """The file that the pointer names, the newest one where the pointer is damaged, or none."""
    name = files.read_json(settings.store / "current.json").get("file")
    generations = _generation_files(settings)
    pointed_at = [path for path in generations.values() if path.name == name]
    return pointed_at[0] if pointed_at else generations[max(generations)] if generations else None


def _generation_files(settings: Settings) -> dict[int, Path]:
    matches = ((_GENERATION.fullmatch(path.name), path) for path in settings.store.glob("explorer-*.duckdb"))
    return {int(match[1]): path for match, path in matches if match}


def ingest_runs(settings: Settings, folders: Sequence[RunFolder], status: str = "", message: str = "") -> None:
    """Puts the folders' finished parts into the next generation, in place of what it held of these runs.

    `status` and `message`, where given, are how the runs end: their worker stores them before it says so.
    """
    with _next_generation(settings, keep=True) as connection:
        for folder in folders:
            insert_run(connection, folder, status, message)


def ingest_as_made(settings: Settings, folder: RunFolder, status: str, message: str, all_made: threading.Event) -> None:
    """As `ingest_runs` for a run whose parts are still being made: each goes in when those before it are there.

    Returns when all are made and in. Nobody else can write the database meanwhile, so it is begun near the end; after
    MAX_SECONDS_HELD it is given up with a StoreError, and readers never see it.
    """
    began = time.monotonic()
    with _next_generation(settings, keep=True) as connection:
        _delete_rows(connection, folder.run_id)
        next_instance, is_last_look = 0, False
        while not is_last_look:
            is_last_look = all_made.wait(SECONDS_BETWEEN_LOOKS)  # first: what is made by then is seen now
            stopping.look()
            names = []
            # In the order of the benchmark, as when all are there: rows are shown as they stand.
            for first, last in folder.finished():
                if first == next_instance or (is_last_look and first > next_instance):
                    names.append(f"{part_name(first, last)}.parquet")
                    next_instance = last + 1
            for table in TABLES if names else ():
                paths = [folder.parts / table / name for name in names]
                _insert_files(connection, folder, table, [path for path in paths if path.exists()])
            if time.monotonic() - began > MAX_SECONDS_HELD and not is_last_look:
                raise StoreError("The parts took longer than they promised; they go into the database at the end.")
        if damaged := folder.damaged():
            raise _damaged_error(folder, damaged)
        _insert_run(connection, folder, status, message)


def ingest_end(settings: Settings, folder: RunFolder, status: str, message: str) -> None:
    """Puts the findings and the end of a run into the next generation; of a run whose parts are not in, all of it."""
    with _next_generation(settings, keep=True) as connection:
        if not connection.execute("SELECT 1 FROM runs WHERE run_id = ?", [folder.run_id]).fetchone():
            insert_run(connection, folder, status, message)
            return
        for table in ("runs", "findings"):
            connection.execute(f"DELETE FROM {table} WHERE run_id = ?", [folder.run_id])
        _insert_run(connection, folder, status, message)
        _insert_rows(connection, folder, "findings")


def remove_runs(settings: Settings, run_ids: Sequence[str]) -> None:
    """Takes runs out of the next generation."""
    with _next_generation(settings, keep=True) as connection:
        for run_id in run_ids:
            _delete_rows(connection, run_id)


def rebuild_database(settings: Settings) -> tuple[int, list[str]]:
    """Makes the database again from all run folders; how many went in, and what could not, with the reason."""
    faults: list[str] = []
    count = 0
    with _next_generation(settings, keep=False) as connection:
        for folder in all_folders(settings.runs):
            connection.execute("BEGIN")
            try:
                if damaged := insert_run(connection, folder, leave_out=True):
                    faults.append(f"{folder.run_id}: {_describe_damage(damaged)}")
                connection.execute("COMMIT")
                count += 1
            except Exception as error:
                connection.execute("ROLLBACK")
                faults.append(f"{folder.run_id}: {str(error).splitlines()[0]}")
    return count, faults


def _describe_damage(damaged: Sequence[str]) -> str:
    and_more = f" and {len(damaged) - 1} more files are" if len(damaged) > 1 else " is"
    return f"{damaged[0]}{and_more} not as written; the other parts went in, and resume makes damaged ones again"


# How a reader and a writer do without waiting for each other:
#
#     current.json → explorer-7.duckdb        readers have it open, read-only
#     explorer-8.building                     a copy of 7, in which the writer (one at a time: ingest.lock) works
#     explorer-8.duckdb                       renamed when it is whole
#     current.json → explorer-8.duckdb        from here on new readers get 8; 7 stays until 9 is there
#
# A kill before the rename leaves a .building file, which the next writer removes; one between rename and pointer leaves
# a whole generation that nobody reads. At no moment is there a state from which the tables could not be read.
@contextlib.contextmanager
def _next_generation(settings: Settings, *, keep: bool) -> Iterator[duckdb.DuckDBPyConnection]:
    settings.store.mkdir(parents=True, exist_ok=True)
    with sharing.hold(settings.store / "ingest.lock"):
        before = current_generation(settings)
        # Rows of a run that another account keeps for itself would be lost.
        blocked = (
            [before] if keep and before else [] if keep else [folder.path for folder in all_folders(settings.runs)]
        )
        if why := next((why for path in blocked if (why := sharing.kept_within(path))), ""):
            raise StoreError(f"The database was left as it is. {why}")
        path = settings.store / f"explorer-{max(_generation_files(settings), default=0) + 1}.duckdb"
        building = path.with_suffix(".building")
        building.unlink(missing_ok=True)
        try:
            if keep and before is not None:
                shutil.copyfile(before, building)
            connection = duckdb.connect(str(building))
            try:
                migrations.migrate(connection)
                yield connection
                connection.execute("CHECKPOINT")
            finally:
                connection.close()
            os.replace(building, path)
        except duckdb.Error as error:
            raise StoreError(
                f"The database could not be written ({_first_line(error)}). The run folders are untouched. "
                f"{_advise(error)}"
            ) from error
        except OSError as error:
            raise StoreError(
                f"The database could not be written ({error.strerror or error}). Free some disk space; the run folders "
                "are untouched."
            ) from error
        finally:
            building.unlink(missing_ok=True)
            building.with_name(building.name + ".wal").unlink(missing_ok=True)
        files.write_json(settings.store / "current.json", {"file": path.name})
        for old in _generation_files(settings).values():
            # The last one stays for readers that have just looked at the old pointer.
            if old not in (path, before):
                with contextlib.suppress(OSError):
                    old.unlink()


def _delete_rows(connection: duckdb.DuckDBPyConnection, run_id: str) -> None:
    for table in RUN_TABLES:
        connection.execute(f"DELETE FROM {table} WHERE run_id = ?", [run_id])


def insert_run(
    connection: duckdb.DuckDBPyConnection,
    folder: RunFolder,
    status: str = "",
    message: str = "",
    *,
    leave_out: bool = False,
) -> list[str]:
    """Writes a run's finished parts into a database, in place of what it held of the run.

    Files that are not as they were written are an error; with `leave_out` their parts stay outside, and the files are
    given.
    """
    damaged = folder.damaged()
    if damaged and not leave_out:
        raise _damaged_error(folder, damaged)
    # A part's file is called like the part in every table; the findings' file is called all.parquet.
    without = {Path(name).name for name in damaged} | ({"all.parquet"} if "findings.done" in damaged else set())
    if damaged:
        status, message = "interrupted", f"Damaged, so left out: {_describe_damage(damaged)}."
    _delete_rows(connection, folder.run_id)
    _insert_run(connection, folder, status, message)
    for table in TABLES:
        _insert_rows(connection, folder, table, without)
    return damaged


def _damaged_error(folder: RunFolder, damaged: Sequence[str]) -> RunError:
    return RunError(
        f"A part of {folder.run_id} cannot be read ({damaged[0]} is not as it was written). `python -m explorer "
        f"resume {folder.run_id}` makes damaged parts again and keeps the others."
    )


def _insert_rows(
    connection: duckdb.DuckDBPyConnection, folder: RunFolder, table: str, without: Collection[str] = ()
) -> None:
    """The rows of one table, except those of the files `without`."""
    _insert_files(connection, folder, table, [path for path in folder.part_files(table) if path.name not in without])


def _insert_files(connection: duckdb.DuckDBPyConnection, folder: RunFolder, table: str, paths: Sequence[Path]) -> None:
    if paths:
        with _explain_damage(folder):
            connection.execute(
                f"INSERT INTO {table} BY NAME SELECT ? AS run_id, * FROM read_parquet(?)",
                [folder.run_id, list(map(str, paths))],
            )


def _insert_run(connection: duckdb.DuckDBPyConnection, folder: RunFolder, status: str = "", message: str = "") -> None:
    spec = folder.spec
    run = info(folder)
    if status:
        run = dataclasses.replace(run, status=status, message=message)
    updated = folder.progress().updated
    connection.execute(
        "INSERT INTO runs VALUES (?, ?, ?, ?, ?, to_timestamp(?), to_timestamp(?), ?, ?, ?, ?, ?, ?, ?)",
        [
            run.run_id, run.study, run.model, run.benchmark, run.status, run.created, updated, run.done, run.total,
            spec.seed, spec.dtype, run.message, specs.to_json(spec),
            json.dumps(folder.environment),
        ],
    )  # fmt: skip


@contextlib.contextmanager
def _explain_damage(folder: RunFolder) -> Iterator[None]:
    """Tells a part that cannot be read from a database that cannot."""
    try:
        yield
    except duckdb.Error as error:
        text = _first_line(error)
        if "parquet" not in text.lower():
            raise
        raise RunError(
            f"A part of {folder.run_id} cannot be read ({text}). `python -m explorer resume {folder.run_id}` makes "
            "damaged parts again and keeps the others."
        ) from error


_DAMAGE = (duckdb.IOException, duckdb.SerializationException, duckdb.InternalException, duckdb.FatalException)


def _is_damage(error: duckdb.Error) -> bool:
    # A block whose checksum is wrong comes as an error of no class of its own.
    return isinstance(error, _DAMAGE) or str(error).startswith("Corrupt database file")


def _advise(error: duckdb.Error, precomputed: Path | None = None) -> str:
    text = str(error)
    if "set lock" in text or "being used by another process" in text:
        return "Another program holds the file open for writing: close it there and try again."
    if "No space left" in text or "File too large" in text:
        return "Free some disk space and try again."
    remedy = "`python -m explorer rebuild` makes it again from the run folders."
    if precomputed is not None:  # DuckDB does not say in which of the attached files it is
        remedy += (
            f" If that does not help, restore {precomputed} with `git checkout`, or set EXPLORER_PRECOMPUTED=none to "
            "go without the precomputed runs."
        )
    return remedy


def _first_line(error: duckdb.Error) -> str:
    line = str(error).splitlines()[0] if str(error) else type(error).__name__
    return re.sub(r"^[A-Z][\w ]* Error: ", "", line)  # DuckDB's own name of the error


def quoted_path(path: Path) -> str:
    """A path as it stands between the quotes of a statement that takes no parameters."""
    return str(path).replace("'", "''")
