"""A run's folder: spec, environment, progress, log, reviews, and parts that are whole or absent.

spec.json  progress.json  log.txt  reviews.jsonl  cancel (a mark)  lock (held by the worker)  where.json (runs/where.py)
environment.json, environments/<stamp>.json   the last one, and each that some part was made under
parts/<table>/<first>-<last>.parquet   rows of the instances first..last (in run order, both included)
parts/<first>-<last>.done              written last: this part is complete; the SHA-256 of each of its files
parts/findings/all.parquet             what the study concluded
parts/findings.done                    the SHA-256 of that file
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import math
import os
import re
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock

from explorer import sharing, stopping
from explorer.errors import RunError
from explorer.records import RunSpec
from explorer.rows.columns import Rows, Table, as_arrow
from explorer.rows.schema import TABLES, schema_of
from explorer.runs import environment as environments
from explorer.runs import files, outside, reviews
from explorer.runs import spec as specs

if TYPE_CHECKING:
    import pyarrow as pa

Tables = Mapping[str, Table]  # table name → rows

STARTING = 30.0  # seconds a new worker may take before it holds its run's lock
ENDING = 60.0  # seconds a cancelled worker may take to store what is finished

MOST_SPEC = 4 << 20  # bytes

_RUN_ID = re.compile(r"[a-z]+-[0-9a-f]{12}")
_DONE = re.compile(r"(\d{9})-(\d{9})\.done")


class Cancelled(BaseException):
    """Somebody put the cancel mark; no `except Exception` keeps it."""


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
        folder.refuse_if_kept()
        files.make_folder(folder.parts)
        new = not (folder.path / "spec.json").exists()
        if new or not folder._holds(spec):
            files.write_json_text(folder.path / "spec.json", specs.to_json(spec))
        if new:
            folder.write_progress(status="queued", created=time.time())
        return folder

    @property
    def is_confined(self) -> bool:
        """Whether a visitor from elsewhere asked for the run, who may not use every name (explorer/admission.py)."""
        return (self.path / "confined").exists()

    def confine(self, confined: bool) -> None:
        """Says whose rule the run's workers follow."""
        if confined:
            (self.path / "confined").touch()
        else:
            (self.path / "confined").unlink(missing_ok=True)

    def _holds(self, spec: RunSpec) -> bool:
        """Whether spec.json is undamaged; what it should say is known, since the run's id is its hash."""
        try:
            return specs.run_id(self.spec) == specs.run_id(spec)
        except RunError:
            return False

    @classmethod
    def find(cls, runs: Path, run_id: str) -> RunFolder:
        """The run with this id, or with the only id that starts so; RunError where there is none or several."""
        places = [folder.path for folder in all_folders(runs)]
        matches = [path for path in places if path.name == run_id]
        if not matches and run_id:
            matches = [path for path in places if path.name.startswith(run_id)]
        if len(matches) != 1:
            what = "is no run" if not matches else f"are {len(matches)} runs"
            raise RunError(
                f"There {what} with an id that starts with {run_id!r}; `python -m explorer runs` lists them."
            )
        return cls(matches[0])

    @property
    def spec(self) -> RunSpec:
        """What was asked; RunError where spec.json cannot be read, or is that of another run."""
        found = self.asked()
        if specs.run_id(found) != self.run_id:
            raise RunError(
                f"{self.path / 'spec.json'} was changed: it is that of {specs.run_id(found)}. Start the same run "
                "again, which keeps what it finished, or delete this one."
            )
        return found

    def asked(self) -> RunSpec:
        """What spec.json says, whichever run it is of."""
        try:
            return specs.from_json(files.read_plain(self.path / "spec.json", MOST_SPEC).decode("utf-8"))
        except PermissionError as error:
            raise RunError(self.kept_from_us() or f"{self.path / 'spec.json'} cannot be read ({error}).") from error
        except (OSError, UnicodeDecodeError) as error:
            raise RunError(
                f"{self.path / 'spec.json'} cannot be read ({error}). Start the same run again, which keeps what it "
                "finished, or delete this one."
            ) from error

    def kept_from_us(self) -> str:
        """Why this account cannot read what another one made here, at a glance, or ""."""
        tables = (self.parts / table for table in TABLES)
        seen = (self.path / "spec.json", self.path / "progress.json", self.parts, *tables)
        newest = sorted(self.parts.glob("*.done"))[-1:] if os.access(self.parts, os.R_OK) else []
        return next((why for path in (*seen, *newest) if (why := sharing.kept_from_us(path))), "")

    def refuse_if_kept(self) -> None:
        """RunError where something in the folder is another account's, who does not let us go on with it."""
        if why := sharing.kept_within(self.path, writing=True):
            raise RunError(why)

    @property
    def environment(self) -> dict[str, Any]:
        """What the last part was made with; {} where that cannot be read."""
        found = files.read_json(self.path / "environment.json")
        return outside.plain(found or self._kept_environment(max(self.environments(), default="")))

    def _kept_environment(self, stamp: str) -> dict[str, Any]:
        return files.read_json(self.path / "environments" / f"{stamp}.json") if stamp else {}

    def keep_environment(self, environment: Mapping[str, Any]) -> str:
        """Writes down what parts are made with; the stamp under which it stands."""
        stamp = environments.stamp(environment)
        files.make_folder(self.path / "environments")
        files.write_json(self.path / "environments" / f"{stamp}.json", environment)
        files.write_json(self.path / "environment.json", environment)
        return stamp

    # Progress

    def write_progress(self, **changes: Any) -> None:
        """Merges the changes into progress.json."""
        now = files.read_json(self.path / "progress.json")
        files.write_json(self.path / "progress.json", {**now, **changes, "updated": time.time()})

    def progress(self) -> Progress:
        """The run's progress; a worker that died without a word reads "interrupted"."""
        now = outside.progress(files.read_json(self.path / "progress.json"))
        done = sum(last - first + 1 for first, last in self.finished())
        status: str = now.status
        # A worker just started needs a moment before it holds the lock.
        fresh = time.time() - now.updated < STARTING
        if status in ("running", "queued") and not (fresh and status == "queued") and not self.is_being_worked():
            status = "interrupted"
        # Somebody removed a damaged part: what the progress says no longer holds.
        if status == "complete" and self.unfinished(now.total):
            status = "interrupted"
        return Progress(
            status=status,
            done=max(done, now.done) if status == "running" else done,
            total=now.total,
            rate=now.rate,
            eta=now.eta if status == "running" else math.nan,
            message=now.message,
            created=now.created or self._begun(),
            updated=now.updated,
        )

    def _begun(self) -> float:
        """When spec.json was written, for a run whose progress does not say when it began."""
        with contextlib.suppress(OSError):
            return min(max(0.0, (self.path / "spec.json").stat().st_mtime), outside.LATEST)
        return 0.0

    def lock(self) -> FileLock:
        """The lock that a worker holds for as long as it works; the system frees it when the worker dies."""
        return sharing.lock_at(self.path / "lock")

    def is_being_worked(self) -> bool:
        """Whether some process holds the lock now."""
        return files.is_locked(self.path / "lock")

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
        """Puts the cancel mark; RunError where another account does not allow it."""
        try:
            (self.path / "cancel").touch()
        except OSError as error:
            raise RunError(
                sharing.kept_from_us(self.path, writing=True)
                or f"The mark that cancels could not be put into {self.path} ({error.strerror or error})."
            ) from error

    def is_asked_to_cancel(self) -> bool:
        """Whether the cancel mark is there."""
        return os.path.exists(self.path / "cancel")

    def stop_if_cancelled(self) -> None:
        """Raises Cancelled at a cancel mark."""
        if self.is_asked_to_cancel():
            raise Cancelled

    def clear_cancel(self) -> None:
        (self.path / "cancel").unlink(missing_ok=True)

    # Parts

    def finished(self) -> list[tuple[int, int]]:
        """The complete parts as (first, last), in order; one that lost a file, or overlaps an earlier one, does not."""
        if not os.access(self.parts, os.R_OK | os.X_OK):
            return []  # not there, or another account's own
        try:
            found = [(path, _DONE.fullmatch(path.name)) for path in self.parts.iterdir()]
        except OSError:
            return []
        whole = sorted((int(match[1]), int(match[2])) for path, match in found if match and self._is_whole(path))
        kept: list[tuple[int, int]] = []
        for first, last in whole:
            # Two workers that knew nothing of each other may have done some instances twice.
            if not kept or first > kept[-1][1]:
                kept.append((first, last))
        return kept

    def _is_whole(self, done: Path) -> bool:
        mark = self.mark(done.stem)
        if mark is None:
            # What belongs to a part whose mark is damaged is not known; one that another account keeps may be whole.
            return not os.access(done, os.R_OK)
        return all((self.parts / table / f"{done.stem}.parquet").exists() for table in mark.tables)

    def mark(self, name: str) -> outside.MarkFields | None:
        """What the mark of the part `<first>-<last>` says, or that of the findings; none where it cannot be read."""
        path = self.parts / f"{name}.done"
        try:
            found = os.stat(path)
        except OSError:
            return None
        key = (str(path), found.st_ino, found.st_size, found.st_mtime_ns)
        if key not in _MARKS:
            if len(_MARKS) > MOST_KEPT:
                _MARKS.clear()
            if (made := outside.mark(files.read_json(path))) is None:
                return None
            _MARKS[key] = made
        return _MARKS[key]

    def _sha256(self, path: Path) -> str:
        """What the SHA-256 of a part's file should be; "" where its mark was made before marks held any."""
        mark = self.mark("findings" if path.parent.name == "findings" else path.stem)
        return mark.sha256.get(path.parent.name, "") if mark else ""

    def drop_damaged(self) -> list[str]:
        """Takes away what is not as it was written, so that it is made again; the files as table/name."""
        dropped = self.damaged()
        for name in dropped:
            path = self.parts / name
            (self.parts / f"{'findings' if path.parent.name == 'findings' else path.stem}.done").unlink(missing_ok=True)
            _remove(path)
            if name == "findings.done":
                _remove(self.parts / "findings" / "all.parquet")  # without its hash it would count unseen
        for left in self.path.rglob(".*.tmp"):  # of a worker that was killed while it wrote
            _remove(left)
        return dropped

    def damaged(self, *, thorough: bool = True) -> list[str]:
        """The files of parts with a mark, and the findings, that are not as they were written, as table/name.

        `thorough` reads them all and compares their SHA-256; without it they are only opened, which a file that was
        cut short does not survive.
        """
        if self.kept_from_us():
            return []  # another account's own, damaged or not
        found = self.damaged_marks()
        for path in (path for table in TABLES for path in self.part_files(table)):
            sha256 = self._sha256(path) if thorough else ""
            if not _opens(path) or (sha256 and os.access(path, os.R_OK) and _hash(path) != sha256):
                found.append(f"{path.parent.name}/{path.name}")
        return found

    def damaged_marks(self) -> list[str]:
        """The marks that cannot be read, or name a file that is gone, of parts that have files, in order.

        Such a part does not count, though it was finished once; one without any mark never was.
        """
        found = []
        for done in sorted(self.parts.glob("*.done")):
            name = "all" if done.stem == "findings" else done.stem
            if os.access(done, os.R_OK) and any((self.parts / table / f"{name}.parquet").exists() for table in TABLES):
                mark = self.mark(done.stem)
                files_of = [self.parts / table / f"{name}.parquet" for table in mark.tables] if mark else []
                if mark is None or not all(path.exists() for path in files_of):
                    found.append(done.name)
        return found

    def changed_notes(self) -> list[str]:
        """The files that tell of the run, beside its spec and parts, and are not as they were written."""
        notes = [self.path / name for name in ("progress.json", "environment.json", "where.json")]
        kept = sorted(self.path.glob("environments/*.json"))
        changed = [path for path in (*notes, *kept) if not files.is_as_written(path)]
        return [path.relative_to(self.path).as_posix() for path in changed]

    def hashed(self) -> tuple[int, int]:
        """How many files of parts and findings have a hash in their mark, and how many have none."""
        known = [bool(self._sha256(path)) for table in TABLES for path in self.part_files(table)]
        return sum(known), len(known) - sum(known)

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
        data = _as_parquet(table, rows)
        files.write_atomically(target, lambda path: path.write_bytes(data))
        return hashlib.sha256(data).hexdigest()

    def part_files(self, table: str) -> list[Path]:
        """The Parquet files of a table that belong to complete parts."""
        folder = self.parts / table
        if why := sharing.kept_from_us(folder):
            raise RunError(why)
        if table == "findings":
            return sorted(folder.glob("all.parquet"))
        names = (f"{first:09d}-{last:09d}.parquet" for first, last in self.finished())
        return [folder / name for name in names if (folder / name).exists()]

    def environments(self) -> set[str]:
        """The environment hashes under which the parts were made; more than one is worth a remark."""
        marks = (self.mark(part_name(first, last)) for first, last in self.finished())
        return {mark.environment for mark in marks if mark}

    def differences(self) -> list[str]:
        """What differs between the environments of the parts, a line each."""
        kept = [outside.plain(self._kept_environment(stamp)) for stamp in sorted(self.environments())]
        return environments.differences([each for each in kept if each])

    def read(self, table: str, columns: Sequence[str] | None = None) -> Any:
        """The table's rows as a pandas frame, in run order; RunError where a part is not as it was written."""
        import pyarrow as pa

        wanted = list(columns or TABLES[table])
        parts = [read_parquet(path, wanted, self._sha256(path)) for path in self.part_files(table)]
        if not parts:
            return schema_of(table).empty_table().select(wanted).to_pandas()
        return pa.concat_tables(parts).to_pandas()

    # Reviews: people's verdicts, vetoes and judge clicks

    def add_review(self, review: Mapping[str, Any]) -> None:
        """Appends a person's verdict, with the time."""
        reviews.add(self.reviews, review)

    def read_reviews(self) -> list[dict[str, Any]]:
        """All verdicts in the order given."""
        return reviews.read(self.reviews)

    def wait_for_worker(self, seconds: float = ENDING) -> None:
        """Returns when nobody works on the run; RunError where its worker was not told to stop, or does not."""
        end = time.monotonic() + seconds
        # A worker that stops takes the mark away a moment before it frees the lock.
        ends = self.is_asked_to_cancel() or not self._is_going_on()
        while self.is_being_worked():
            if not ends:
                raise RunError(f"{self.run_id} is being worked on. Cancel it first, then delete it.")
            if time.monotonic() > end:
                raise RunError(
                    f"{self.run_id} was cancelled, but its worker has not ended in {seconds:.0f} s; it may be storing "
                    "what is finished. Try again in a moment."
                )
            stopping.pause(stopping.SLICE)

    def _is_going_on(self) -> bool:
        return outside.progress(files.read_json(self.path / "progress.json")).status in ("queued", "running")

    def delete(self) -> None:
        """Removes the run from disk once a worker that was cancelled has ended; RunError while one goes on."""
        self.refuse_if_kept()
        self.wait_for_worker()
        try:
            if self.path.is_symlink() or not self.path.is_dir():
                self.path.unlink()
            else:
                shutil.rmtree(self.path)
        except FileNotFoundError:
            return  # somebody else was deleting it, too
        except OSError as error:
            raise RunError(
                f"{self.path} could not be deleted ({error.strerror or error}). Close what uses it and try again."
            ) from error


def all_folders(runs: Path) -> list[RunFolder]:
    """Every run on disk, the newest first; a folder that is called like a run is one, whatever is in it."""
    if not runs.is_dir():
        return []
    found = []
    for path in runs.iterdir():
        with contextlib.suppress(OSError):  # no run, or one that is being deleted
            found.append((_age(path), path))
    return [RunFolder(path) for _, path in sorted(found, reverse=True)]


def _age(path: Path) -> float:
    """When a run was asked for; OSError where the folder is none, or is just being made."""
    if path.name.startswith("."):
        raise FileNotFoundError
    if path.is_dir() and not os.access(path, os.X_OK):
        return path.stat().st_mtime  # another account's, who lets nobody look
    try:
        return (path / "spec.json").stat().st_mtime
    except OSError:
        made = path.lstat().st_mtime
        is_new = not os.path.lexists(path / "spec.json") and time.time() - made < STARTING
        if not _RUN_ID.fullmatch(path.name) or is_new:
            raise
        return made


def part_name(first: int, last: int) -> str:
    """What the files of a part are called."""
    return f"{first:09d}-{last:09d}"


def read_parquet(path: Path, columns: Sequence[str], sha256: str = "") -> pa.Table:
    """A part's columns; RunError where the file is damaged, or is not the one with this hash."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        if sha256 and not _is_sound(path, sha256):
            raise OSError("it is not as it was written")
        return pq.read_table(path, columns=list(columns), page_checksum_verification=True)
    except PermissionError as error:
        raise RunError(sharing.kept_from_us(path) or f"{path} cannot be read ({error}).") from error
    except (pa.ArrowException, OSError) as error:
        raise RunError(
            f"{path} is damaged ({str(error).splitlines()[0]}). `python -m explorer resume {path.parents[2].name}` "
            "makes this part again and keeps the others."
        ) from error


def _opens(path: Path) -> bool:
    """Whether a Parquet file is there with its end, which a file cut short lacks."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        if not path.is_file():
            return False
        pq.read_metadata(path)
    except PermissionError:
        return True  # another account keeps it for itself; that is no damage
    except (pa.ArrowException, OSError):
        return False
    return True


def _hash(path: Path) -> str:
    """The file's SHA-256; "" where it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


MOST_KEPT = 100_000
_MARKS: dict[tuple[str, int, int, int], outside.MarkFields] = {}  # as they stood when they were read


def is_whole(path: Path, sha256: str) -> bool:
    """Whether the file is there, and the one with this hash."""
    return _hash(path) == sha256


_SOUND: dict[tuple[str, int, int, int], str] = {}  # files that were hashed in this process, as they stood then


def _is_sound(path: Path, sha256: str) -> bool:
    """Whether the file has this hash; one that has not been written since is hashed once a process."""
    found = os.stat(path)
    key = (str(path), found.st_ino, found.st_size, found.st_mtime_ns)
    if _SOUND.get(key) != sha256:
        with path.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != sha256:
                return False
        if len(_SOUND) > MOST_KEPT:
            _SOUND.clear()
        _SOUND[key] = sha256
    return True


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _as_parquet(table: str, rows: Table) -> bytes:
    import pyarrow.parquet as pq

    data = io.BytesIO()
    pq.write_table(as_arrow(table, rows), data, compression="zstd", write_page_checksum=True)
    return data.getvalue()
