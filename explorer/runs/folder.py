"""A run's folder: spec, environment, progress, log, reviews, and parts that are whole or absent.

spec.json  environment.json  progress.json  log.txt  reviews.jsonl  cancel (a mark)  lock (held by the worker)
parts/<table>/<first>-<last>.parquet   rows of the instances first..last (in run order, both included)
parts/<first>-<last>.done              written last: this part is complete
parts/findings/all.parquet             what the study concluded
"""

from __future__ import annotations

import json
import math
import re
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from filelock import FileLock, Timeout

from explorer.errors import RunError
from explorer.records import RunSpec
from explorer.results.schema import TABLES
from explorer.runs import files
from explorer.runs import spec as specs

Rows = Sequence[Mapping[str, Any]]
Tables = Mapping[str, Rows]  # table name → rows

STARTING = 30.0  # seconds a new worker may take before it holds its run's lock

_DONE = re.compile(r"(\d{9})-(\d{9})\.done")
_ARROW = {
    "VARCHAR": pa.string(),
    "INTEGER": pa.int32(),
    "BIGINT": pa.int64(),
    "DOUBLE": pa.float64(),
    "BOOLEAN": pa.bool_(),
    "VARCHAR[]": pa.list_(pa.string()),
    "FLOAT[]": pa.list_(pa.float32()),
    "INTEGER[]": pa.list_(pa.int32()),
}


class Cancelled(Exception):
    """Somebody put the cancel mark."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is. `rate` is instances a second, `eta` seconds left (nan where unknown)."""

    status: str  # queued, running, interrupted, complete, failed, cancelled
    done: int = 0
    total: int = 0
    rate: float = float("nan")
    eta: float = float("nan")
    message: str = ""
    created: float = 0.0
    updated: float = 0.0


class RunFolder:
    """One run on disk. Reading never needs a lock; writing is the worker's, who holds `lock`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.run_id = path.name
        self.parts = path / "parts"
        self.log = path / "log.txt"
        self.reviews = path / "reviews.jsonl"

    @classmethod
    def create(cls, runs: Path, spec: RunSpec) -> RunFolder:
        """The folder of this spec's run, made where it is new."""
        folder = cls(runs / specs.run_id(spec))
        folder.parts.mkdir(parents=True, exist_ok=True)
        if not (folder.path / "spec.json").exists():
            text = specs.to_json(spec)
            files.write_atomically(folder.path / "spec.json", lambda path: path.write_text(text, encoding="utf-8"))
            folder.write_progress(status="queued", created=time.time())
        return folder

    @classmethod
    def find(cls, runs: Path, run_id: str) -> RunFolder:
        """The run with this id, or with the only id that starts so; RunError where there is none or several."""
        matches = [path for path in runs.glob("*") if path.name == run_id and (path / "spec.json").exists()]
        if not matches and run_id:
            matches = [
                path for path in runs.glob("*") if path.name.startswith(run_id) and (path / "spec.json").exists()
            ]
        if len(matches) != 1:
            what = "is no run" if not matches else f"are {len(matches)} runs"
            raise RunError(
                f"There {what} with an id that starts with {run_id!r}; `python -m explorer runs` lists them."
            )
        return cls(matches[0])

    @property
    def spec(self) -> RunSpec:
        try:
            return specs.from_json((self.path / "spec.json").read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise RunError(
                f"{self.path / 'spec.json'} cannot be read ({error}). Delete the run and start it again."
            ) from error

    @property
    def environment(self) -> dict[str, Any]:
        return files.read_json(self.path / "environment.json")

    # Progress

    def write_progress(self, **changes: Any) -> None:
        """Merges the changes into progress.json."""
        now = files.read_json(self.path / "progress.json")
        files.write_json(self.path / "progress.json", {**now, **changes, "updated": time.time()})

    def progress(self) -> Progress:
        """The run's progress; a worker that died without a word reads "interrupted"."""
        now = files.read_json(self.path / "progress.json")
        done = sum(last - first + 1 for first, last in self.finished())
        status = str(now.get("status", "interrupted"))
        # A worker just started needs a moment before it holds the lock.
        fresh = time.time() - _number(now.get("updated"), 0.0) < STARTING
        if status in ("running", "queued") and not (fresh and status == "queued") and not self.is_being_worked():
            status = "interrupted"
        # Somebody removed a damaged part: what the progress says no longer holds.
        if status == "complete" and self.unfinished(_whole(now.get("total"))):
            status = "interrupted"
        nan = float("nan")
        return Progress(
            status=status,
            done=max(done, _whole(now.get("done"))) if status == "running" else done,
            total=_whole(now.get("total")),
            rate=_number(now.get("rate"), nan),
            eta=_number(now.get("eta"), nan) if status == "running" else nan,
            message=str(now.get("message") or ""),
            created=_number(now.get("created"), 0.0),
            updated=_number(now.get("updated"), 0.0),
        )

    def lock(self) -> FileLock:
        """The lock that a worker holds for as long as it works; the system frees it when the worker dies."""
        return FileLock(self.path / "lock")

    def is_being_worked(self) -> bool:
        """Whether some process holds the lock now."""
        if not (self.path / "lock").exists():
            return False
        try:
            with self.lock().acquire(timeout=0):
                return False
        except Timeout:
            return True

    def log_tail(self, lines: int = 200) -> str:
        """The last lines of the log."""
        try:
            with self.log.open("rb") as file:
                file.seek(max(0, self.log.stat().st_size - 400 * lines))
                return "\n".join(file.read().decode("utf-8", "replace").splitlines()[-lines:])
        except OSError:
            return ""

    # The cancel mark

    def ask_to_cancel(self) -> None:
        (self.path / "cancel").touch()

    def stop_if_cancelled(self) -> None:
        """Raises Cancelled at a cancel mark."""
        if (self.path / "cancel").exists():
            raise Cancelled

    def clear_cancel(self) -> None:
        (self.path / "cancel").unlink(missing_ok=True)

    # Parts

    def finished(self) -> list[tuple[int, int]]:
        """The complete parts as (first, last), in order; one that lost a file is not complete."""
        if not self.parts.is_dir():
            return []
        found = [(path, _DONE.fullmatch(path.name)) for path in self.parts.iterdir()]
        return sorted((int(match[1]), int(match[2])) for path, match in found if match and self._is_whole(path))

    def _is_whole(self, done: Path) -> bool:
        tables = files.read_json(done).get("tables") or []
        return all((self.parts / str(table) / f"{done.stem}.parquet").exists() for table in tables)

    def unfinished(self, total: int) -> list[tuple[int, int]]:
        """The ranges (first, last) of 0..total-1 that no complete part covers."""
        gaps, start = [], 0
        for first, last in self.finished():
            if first > start:
                gaps.append((start, first - 1))
            start = max(start, last + 1)
        return [*gaps, (start, total - 1)] if start < total else gaps

    def write_part(self, first: int, last: int, tables: Tables, environment: str = "") -> None:
        """Stores the rows of the instances first..last; the part counts only once all of it is on disk."""
        name = f"{first:09d}-{last:09d}"
        for table, rows in tables.items():
            self._write_table(table, name, rows)
        done = {"environment": environment, "written": time.time(), "tables": list(tables)}
        files.write_json(self.parts / f"{name}.done", done)

    def write_findings(self, rows: Rows) -> None:
        """Stores what the study concluded, in place of what it concluded before."""
        self._write_table("findings", "all", rows)

    def _write_table(self, table: str, name: str, rows: Rows) -> None:
        folder = self.parts / table
        folder.mkdir(parents=True, exist_ok=True)
        files.write_atomically(folder / f"{name}.parquet", lambda path: _write_parquet(path, table, rows))

    def part_files(self, table: str) -> list[Path]:
        """The Parquet files of a table that belong to complete parts."""
        folder = self.parts / table
        if table == "findings":
            return sorted(folder.glob("all.parquet"))
        names = (f"{first:09d}-{last:09d}.parquet" for first, last in self.finished())
        return [folder / name for name in names if (folder / name).exists()]

    def environments(self) -> set[str]:
        """The environment hashes under which the parts were made; more than one is worth a remark."""
        return {str(files.read_json(path).get("environment", "")) for path in self.parts.glob("*.done")}

    def read(self, table: str, columns: Sequence[str] | None = None) -> Any:
        """The table's rows as a pandas frame, in run order."""
        wanted = list(columns or TABLES[table])
        parts = [read_parquet(path, wanted) for path in self.part_files(table)]
        if not parts:
            return _schema(table).empty_table().select(wanted).to_pandas()
        return pa.concat_tables(parts).to_pandas()

    # Reviews: people's verdicts, vetoes and judge clicks

    def add_review(self, review: Mapping[str, Any]) -> None:
        """Appends a person's verdict, with the time."""
        line = json.dumps({**review, "at": time.time()}, ensure_ascii=False)
        with self.reviews.open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def read_reviews(self) -> list[dict[str, Any]]:
        """All verdicts in the order given; a half-written last line is left out."""
        if not self.reviews.exists():
            return []
        kept = []
        for line in self.reviews.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                kept.append(json.loads(line))
            except ValueError:
                continue
        return kept

    def delete(self) -> None:
        """Removes the run from disk; RunError while it is being worked on."""
        if self.is_being_worked():
            raise RunError(f"{self.run_id} is being worked on. Cancel it first, then delete it.")
        shutil.rmtree(self.path)


def all_folders(runs: Path) -> list[RunFolder]:
    """Every run on disk, the newest first."""
    if not runs.is_dir():
        return []
    found = [path for path in runs.iterdir() if (path / "spec.json").exists()]
    return [
        RunFolder(path) for path in sorted(found, key=lambda path: (path / "spec.json").stat().st_mtime, reverse=True)
    ]


def read_parquet(path: Path, columns: Sequence[str]) -> pa.Table:
    """A part's columns; RunError where the file is damaged."""
    try:
        return pq.read_table(path, columns=list(columns))
    except (pa.ArrowException, OSError) as error:
        raise RunError(
            f"{path} is damaged ({str(error).splitlines()[0]}). Delete it and the .done file of its part, "
            "then resume the run."
        ) from error


def _schema(table: str) -> pa.Schema:
    return pa.schema([(name, _ARROW[kind]) for name, kind in TABLES[table].items()])


def _write_parquet(path: Path, table: str, rows: Iterable[Mapping[str, Any]]) -> None:
    rows = list(rows)
    unknown = {key for row in rows[:1] for key in row} - set(TABLES[table])
    if unknown:
        raise RunError(f"Table {table} has no column {', '.join(sorted(unknown))}; add it to results/schema.py.")
    columns = {name: [_clean(row.get(name)) for row in rows] for name in TABLES[table]}
    pq.write_table(pa.table(columns, schema=_schema(table)), path, compression="zstd")


def _clean(value: Any) -> Any:
    # nan is stored as null, so that SQL's means leave it out; the reason stands in the next column.
    if isinstance(value, float) and math.isnan(value):
        return None
    # A lone surrogate is not UTF-8; Parquet wants text that is.
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, list | tuple):
        return [_clean(item) for item in value]
    return value


def _number(value: Any, default: float) -> float:
    return float(value) if isinstance(value, int | float) else default


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0
