"""The parts of a run: which are finished, how one is written so that it is whole or absent, and how they are read.

A part is a Parquet file in each table's folder and one mark, and it counts because of the mark:

    parts/scores/000000016-000000047.parquet      1. every table, each under a temporary name, then renamed
    parts/measures/000000016-000000047.parquet
    parts/000000016-000000047.done                2. only then the mark, in the same way, with the SHA-256 of each file

A worker that is killed before step 2 leaves files that do not count and are written over when the part is made
again; one that is killed after it leaves a whole part. No file is ever changed in place, so a reader needs no lock.

Nobody waits until a renamed file is on the disk itself (no fsync, which would take longer than writing). A kill cannot
lose such a file, since the system holds it. A power cut can lose the last seconds; then a file is not the one whose
hash stands in its mark, and the part is made again.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from explorer import sharing
from explorer.errors import RunError
from explorer.rows.columns import Rows, Table
from explorer.rows.schema import TABLES, schema_of
from explorer.runs import files, validation
from explorer.runs.parquet import MOST_KEPT, as_parquet, read_parquet

Tables = Mapping[str, Table]  # table name → rows

_DONE = re.compile(r"(\d{9})-(\d{9})\.done")
_MARKS: dict[tuple[str, int, int, int], validation.MarkFields] = {}  # as they stood when they were read


def part_name(first: int, last: int) -> str:
    """What the files of a part are called."""
    return f"{first:09d}-{last:09d}"


class Parts:
    """The parts in one run's folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.run_id = path.name
        self.parts = path / "parts"

    # Which there are

    # Two workers that know nothing of each other (a node of a cluster that was taken for dead) may have cut the
    # instances at different places. Of overlapping parts the one that begins first counts and the other does not, or
    # its instances would be counted twice:
    #
    #     marks on disk     000-015   016-047   032-063         032-047 would be there twice
    #     finished          000-015   016-047                   048-063 is made again
    def finished(self) -> list[tuple[int, int]]:
        """The complete parts as (first, last), in order; one that lost a file, or overlaps an earlier one, does not."""
        if not os.access(self.parts, os.R_OK | os.X_OK):
            return []  # not there, or another account's own
        try:
            marks = [(path, _DONE.fullmatch(path.name)) for path in self.parts.iterdir()]
        except OSError:
            return []
        whole = sorted((int(match[1]), int(match[2])) for path, match in marks if match and self._is_whole(path))
        spans: list[tuple[int, int]] = []
        for first, last in whole:
            # Two workers that knew nothing of each other may have done some instances twice.
            if not spans or first > spans[-1][1]:
                spans.append((first, last))
        return spans

    def unfinished(self, total: int) -> list[tuple[int, int]]:
        """The ranges (first, last) of 0..total-1 that no complete part covers."""
        gaps, start = [], 0
        for first, last in self.finished():
            if first > start:
                gaps.append((start, first - 1))
            start = max(start, last + 1)
        return [*gaps, (start, total - 1)] if start < total else gaps

    def _is_whole(self, done: Path) -> bool:
        mark = self.mark(done.stem)
        if mark is None:
            # What belongs to a part whose mark is damaged is not known; one that another account keeps may be whole.
            return not os.access(done, os.R_OK)
        return all((self.parts / table / f"{done.stem}.parquet").exists() for table in mark.tables)

    # Every look at a run's progress asks for all its marks, several times a second while a page is open. A mark is
    # never changed in place, so its name with inode, size and time of change tells whether it is the one that was read
    # before.
    def mark(self, name: str) -> validation.MarkFields | None:
        """What the mark of the part `<first>-<last>` says, or that of the findings; none where it cannot be read."""
        path = self.parts / f"{name}.done"
        try:
            stat = os.stat(path)
        except OSError:
            return None
        key = (str(path), stat.st_ino, stat.st_size, stat.st_mtime_ns)
        if key not in _MARKS:
            if len(_MARKS) > MOST_KEPT:
                _MARKS.clear()
            if (mark := validation.mark(files.read_json(path))) is None:
                return None
            _MARKS[key] = mark
        return _MARKS[key]

    def _sha256(self, path: Path) -> str:
        """What the SHA-256 of a part's file should be; "" where its mark was made before marks held any."""
        mark = self.mark("findings" if path.parent.name == "findings" else path.stem)
        return mark.sha256.get(path.parent.name, "") if mark else ""

    def part_files(self, table: str) -> list[Path]:
        """The Parquet files of a table that belong to complete parts."""
        folder = self.parts / table
        if why := sharing.kept_from_us(folder):
            raise RunError(why)
        if table == "findings":
            return sorted(folder.glob("all.parquet"))
        names = (f"{first:09d}-{last:09d}.parquet" for first, last in self.finished())
        return [folder / name for name in names if (folder / name).exists()]

    # Written

    def write_part(self, first: int, last: int, tables: Tables, environment: str = "") -> None:
        """Stores the rows of the instances first..last; the part counts only once all of it is on disk."""
        self.mark_done(first, last, self.write_tables(first, last, tables), environment)

    def write_tables(self, first: int, last: int, tables: Tables) -> dict[str, str]:
        """Stores the rows of the instances first..last, which do not count before `mark_done`; the files' SHA-256."""
        name = part_name(first, last)
        return {table: self._write_table(table, name, rows) for table, rows in tables.items()}

    def mark_done(self, first: int, last: int, hashes: Mapping[str, str], environment: str = "") -> None:
        """Makes a part count whose tables are on disk, each with the SHA-256 of its file."""
        self._write_mark(part_name(first, last), hashes, environment)

    def write_findings(self, rows: Rows) -> None:
        """Stores what the study concluded, in place of what it concluded before."""
        # Without a mark findings count, too; with that of others they would be taken for damaged.
        (self.parts / "findings.done").unlink(missing_ok=True)
        self._write_mark("findings", {"findings": self._write_table("findings", "all", rows)})

    def _write_mark(self, name: str, hashes: Mapping[str, str], environment: str = "") -> None:
        done = {"environment": environment, "written": time.time(), "tables": list(hashes), "sha256": dict(hashes)}
        files.write_json(self.parts / f"{name}.done", done)

    def _write_table(self, table: str, name: str, rows: Table) -> str:
        target = self.parts / table / f"{name}.parquet"
        files.make_folder(target.parent)
        data = as_parquet(table, rows)
        files.write_atomically(target, lambda path: path.write_bytes(data))
        return hashlib.sha256(data).hexdigest()

    # Read

    def read(self, table: str, columns: Sequence[str] | None = None) -> Any:
        """The table's rows as a pandas frame, in run order; RunError where a part is not as it was written."""
        import pyarrow as pa

        names = list(columns or TABLES[table])
        parts = [read_parquet(path, names, self._sha256(path)) for path in self.part_files(table)]
        if not parts:
            return schema_of(table).empty_table().select(names).to_pandas()
        return pa.concat_tables(parts).to_pandas()
