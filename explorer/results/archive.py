"""A run as one zip file, and back: what was asked, where it was done, every row, what was found, and whom to cite.

README.md  CITATION.bib           what this is and whom to cite
spec.json  environment.json  progress.json  reviews.jsonl
parts/...                         the rows as Parquet, exactly as in the run's folder
tables/<table>.csv                the same rows, a file per table; by_instance.csv has a row per instance
findings.csv                      what the study concluded
counted_in.json                   the index that its n-grams were counted in, ‡ where that is not the model's data

A run that came with the explorer has no folder: its archive has tables/<table>.parquet in place of parts/, and
left_out.txt says what the precomputed file lacks. It is for readers, and is no run to be imported.

SHA256SUMS has the hash of every other file, as `sha256sum -c` reads it.

An archive comes from anywhere, so it is unpacked with care: only these names, no links, no more than its limits, each
file as its hash says, and nothing in them but what a run's files may say (runs/validation.py).
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import stat
import time
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from explorer import leftovers, plain_json, sharing, unpacking
from explorer.errors import RunError
from explorer.records import RunSpec
from explorer.results.archive_contents import PROGRESS, files_of_folder, files_of_packed
from explorer.results.packed_run import SOURCE, PackedRun, Run
from explorer.rows.schema import TABLES
from explorer.runs import files, parquet, row_checks, validation
from explorer.runs import folder as folders
from explorer.runs import spec as specs
from explorer.runs.folder import RunFolder
from explorer.settings import Settings

MOST_FILES = 200_000
MOST_BYTES = 16 * 2**30  # unpacked
SUMS = "SHA256SUMS"
COPY = 2**20
# Bytes of a file by the beginning of its name; a part's may have as many as a gigabyte.
_MOST = (
    ("spec.json", folders.MOST_SPEC),
    ("progress.json", 1 << 20),
    ("environment", 4 << 20),
    (SUMS, 64 << 20),
    ("reviews.jsonl", 64 << 20),
    ("left_out.jsonl", 256 << 20),
    ("parts/", 1 << 30),
)
MOST_MARK = 1 << 16

_TABLE = "|".join(TABLES)
# Names that belong to a run; everything else in an archive is for readers and stays there.
_OURS = re.compile(
    rf"spec\.json|environment\.json|environments/[0-9a-f]{{1,64}}\.json|progress\.json|reviews\.jsonl|left_out\.jsonl"
    rf"|{SUMS}|parts/(?:\d{{9}}-\d{{9}}|findings)\.done"
    rf"|parts/(?:{_TABLE})/(?:\d{{9}}-\d{{9}}|all)\.parquet"
)


def pack_archive(folder: Run, out: BinaryIO, settings: Settings) -> list[str]:
    """Writes the run's archive and gives the names in it; RunError where a key of the settings stands in the run."""
    if isinstance(folder, RunFolder) and folder.is_being_worked():
        raise RunError(f"{folder.run_id} is being worked on. Wait until it has ended, or cancel it, then export it.")
    keys = [key.encode() for key in settings.keys]
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
        sums = []
        for name, write in (
            files_of_packed(folder) if isinstance(folder, PackedRun) else files_of_folder(folder)
        ).items():
            with archive.open(_entry(name), "w", force_zip64=True) as file:
                watched = _Watched(file, keys, name)
                write(watched)  # type: ignore[arg-type]
            sums.append(f"{watched.digest.hexdigest()}  {name}\n")
        archive.writestr(_entry(SUMS), "".join(sums))
        return archive.namelist()


def is_run(path: Path) -> bool:
    """Whether the file is a zip with a run's spec in it."""
    try:
        with zipfile.ZipFile(path) as zipped:
            return "spec.json" in zipped.namelist()
    except (OSError, zipfile.BadZipFile, NotImplementedError):
        return False


def unpack_archive(
    path: Path, settings: Settings, keep: Callable[[Path, Path], Any] = os.replace
) -> tuple[RunFolder, bool]:
    """The run in an archive, put among the runs here, and whether it is new; RunError where it is not in order.

    `keep(work, target)` moves the unpacked folder to its place.
    """
    # All is unpacked and looked at in a folder of its own, and moved among the runs in one step at the end: what is
    # damaged, hostile or broken off half-way never stands among them.
    try:
        settings.runs.mkdir(parents=True, exist_ok=True)
        with leftovers.scratch(settings.cache, settings.cache, "unpacking-") as work:
            with _open_archive(path) as archive:
                _extract_files(archive, path, work)
            unpacked = RunFolder(work)
            if not (work / "spec.json").exists():
                raise RunError(
                    f"{path.name} holds no spec.json, so it is no exported run. Export the run again as zip."
                )
            target = settings.runs / specs.run_id(_read_spec(unpacked, path.name))
            _refuse_packed(unpacked, path.name)
            _check_sums(unpacked, path.name)
            _check_files(unpacked, path.name)
            _check_parts(unpacked, path.name)
            if target.exists():
                return _complete_stored_run(RunFolder(target), unpacked), False
            _mark_as_elsewhere(unpacked, path)
            keep(work, target)
        return RunFolder(target), True
    except OSError as error:
        raise RunError(
            f"{path.name} could not be unpacked ({error.strerror or error}). Make room in {settings.cache}, then try "
            "again."
        ) from error


def _read_spec(unpacked: RunFolder, name: str) -> RunSpec:
    try:
        return unpacked.stored_spec()
    except RunError as error:
        raise RunError(
            f"The spec.json in {name} is not a run's spec, or of another version ({_reason(error)}). Export the run "
            "again as zip."
        ) from error


def _reason(error: RunError) -> str:
    return str(error.__cause__ or error)[:200]


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, time.localtime()[:6])
    entry.compress_type = zipfile.ZIP_STORED if name.endswith(".parquet") else zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry


class _Watched:
    """A file that lets no key through."""

    def __init__(self, file: Any, keys: list[bytes], name: str) -> None:
        self.file, self.keys, self.name = file, keys, name
        self.digest = hashlib.sha256()

    def write(self, data: bytes) -> int:
        if any(key in data for key in self.keys):
            raise RunError(
                f"{self.name} of this run holds one of the keys in your environment, expected none. Delete the run, "
                "and give keys in the environment alone."
            )
        self.digest.update(data)
        return int(self.file.write(data))


def _open_archive(path: Path) -> zipfile.ZipFile:
    try:
        if not unpacking.is_plain(path):
            raise RunError(f"{path} cannot be read as a run, since it is no plain file. Give a zip file.")
        return zipfile.ZipFile(path)
    except FileNotFoundError as error:
        raise RunError(f"There is no file {path}, expected a run's zip file. Check the path.") from error
    except (OSError, zipfile.BadZipFile, NotImplementedError) as error:
        raise RunError(f"{path.name} is no readable zip file ({error}). Export the run again.") from error


def _extract_files(archive: zipfile.ZipFile, path: Path, target: Path) -> None:
    archive_name = path.name
    entries = archive.infolist()
    if len(entries) > MOST_FILES:
        raise RunError(
            f"{archive_name} holds {len(entries):,} files, expected at most {MOST_FILES:,}. Unpack it by hand."
        )
    extracted: set[str] = set()
    bytes_left = unpacking.most(path.stat().st_size, MOST_BYTES)
    for entry in entries:
        _refuse_hostile(entry, archive_name)
        if entry.is_dir() or not _OURS.fullmatch(entry.filename):
            continue
        if entry.filename in extracted:
            raise RunError(f"{archive_name} holds {entry.filename} twice, expected each file once. Export it again.")
        extracted.add(entry.filename)
        file = target / entry.filename
        file.parent.mkdir(parents=True, exist_ok=True)
        bytes_left -= _copy_entry(archive, entry, file, archive_name, min(bytes_left, _largest_size(entry.filename)))


def _largest_size(name: str) -> int:
    return MOST_MARK if name.endswith(".done") else next(most for start, most in _MOST if name.startswith(start))


def _refuse_hostile(entry: zipfile.ZipInfo, archive_name: str) -> None:
    # zipfile cuts a name at a NUL; the name as it was told is in orig_filename.
    name = entry.orig_filename.replace("\\", "/")
    kind = stat.S_IFMT(entry.external_attr >> 16)
    shown = repr(entry.orig_filename[:80])
    if name.startswith("/") or re.match(r"[A-Za-z]:", name) or ".." in name.split("/") or "\0" in name:
        raise RunError(f"{archive_name} holds a file called {shown}, expected names inside the archive. Do not use it.")
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise RunError(f"{archive_name} holds a link or device called {shown}, expected plain files. Do not use it.")
    if entry.flag_bits & 0x1:
        raise RunError(f"{archive_name} is locked with a password, expected an open archive. Unlock it first.")


def _copy_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, path: Path, archive_name: str, most: int) -> int:
    """Bytes written; what an archive says of its sizes is not believed."""
    written = 0
    try:
        with archive.open(entry) as source, path.open("wb") as file:
            while piece := source.read(COPY):
                written += len(piece)
                if written > most:
                    raise RunError(
                        f"{archive_name} unpacks to more than a run's files have ({entry.filename}: more than "
                        f"{most:,} bytes). Do not use it."
                    )
                file.write(piece)
    except (zipfile.BadZipFile, NotImplementedError, EOFError, zlib.error) as error:
        raise RunError(f"{archive_name} is damaged at {entry.filename} ({error}). Get it again.") from error
    return written


def _check_sums(unpacked: RunFolder, archive_name: str) -> None:
    """Every file is the one that was packed; archives of earlier versions do not say."""
    path = unpacked.path / SUMS
    if not path.exists():
        return
    digests = {name: digest for digest, _, name in (line.partition("  ") for line in path.read_text().splitlines())}
    path.unlink()
    for file in sorted(file for file in unpacked.path.rglob("*") if file.is_file()):
        name = file.relative_to(unpacked.path).as_posix()
        if not parquet.is_whole(file, digests.get(name, "")):
            raise RunError(f"{name} in {archive_name} is not the file that was packed. Get the archive again.")


def _check_files(unpacked: RunFolder, archive_name: str) -> None:
    """Every file of JSON says what such a file may say."""
    checks = {"progress.json": validation.check_progress, "environment.json": validation.check_plain}
    paths = [unpacked.path / name for name in checks] + sorted(unpacked.path.glob("environments/*.json"))
    for path in paths:
        name = path.relative_to(unpacked.path).as_posix()
        if path.exists():
            _check_json(path.read_bytes(), checks.get(name, validation.check_plain), f"{name} in {archive_name}")
    for name in ("reviews.jsonl", "left_out.jsonl"):
        if (unpacked.path / name).exists():
            for number, line in enumerate((unpacked.path / name).read_bytes().splitlines(), 1):
                if line.strip():
                    _check_json(line, validation.check_plain, f"{name} line {number} in {archive_name}")


def _check_json(data: bytes, check: Callable[[Any], None], where: str) -> None:
    try:
        check(plain_json.read(data))
    except ValueError as error:
        raise RunError(f"{where} is not in order ({str(error)[:200]}). Export the run again as zip.") from error


def _check_parts(unpacked: RunFolder, archive_name: str) -> None:
    """Every part is whole, as its mark says, and holds rows of its table."""
    marked_paths: set[Path] = set()
    instance_ids: set[str] = set()
    study = unpacked.stored_spec().study
    try:
        for done in sorted(unpacked.parts.glob("*.done")):
            mark = unpacked.mark(done.stem)
            if mark is None:
                raise RunError(f"parts/{done.name} is no mark of a part. Get it again.")
            name = "all" if done.stem == "findings" else done.stem
            paths = {table: unpacked.parts / table / f"{name}.parquet" for table in mark.tables}
            if lacking := next((table for table, path in paths.items() if not path.exists()), ""):
                raise RunError(f"It lacks parts/{lacking}/{name}.parquet, which its mark names. Get it again.")
            marked_paths |= set(paths.values())
            if done.stem == "findings":
                for table, path in paths.items():
                    validation.check_table(path, table)
                continue
            part_ids = row_checks.check_part(unpacked.parts, done.stem, mark.tables, study)
            if part_ids & instance_ids:
                raise RunError(f"The part {done.stem} has instances that another part has, too. Do not use it.")
            instance_ids |= part_ids
        findings = unpacked.parts / "findings" / "all.parquet"
        if findings.exists() and findings not in marked_paths:
            validation.check_table(findings, "findings")
            marked_paths.add(findings)
    except RunError as error:
        raise RunError(f"{archive_name}: {error}") from error
    for path in unpacked.parts.glob("*/*.parquet"):
        if path not in marked_paths:
            path.unlink()  # of no part
    if damaged := unpacked.damaged():
        raise RunError(f"{damaged[0]} in {archive_name} is not the file that was stored. Get the archive again.")


def _refuse_packed(unpacked: RunFolder, archive_name: str) -> None:
    if files.read_json(unpacked.path / "progress.json").get("source") == SOURCE:
        raise RunError(
            f"{archive_name} was exported from the runs that come with the explorer and lacks some of its rows, as "
            "left_out.txt in it says, so that it cannot become a run here. Look at it among the precomputed runs."
        )


def _complete_stored_run(stored: RunFolder, unpacked: RunFolder) -> RunFolder:
    if len(stored.finished()) and stored.progress().status == "complete":
        return stored
    if why := stored.kept_from_us() or sharing.kept_within(stored.path):
        raise RunError(f"The run {stored.run_id} is here already, and {why}")
    raise RunError(
        f"The run {stored.run_id} is here already, with {stored.progress().done:,} instances done, and the archive "
        f"holds {unpacked.progress().done:,}. Resume the one here, or delete it and import again."
    )


def _mark_as_elsewhere(unpacked: RunFolder, path: Path) -> None:
    """Writes into the run's progress that it was done elsewhere, and by which archive it came."""
    progress = files.read_json(unpacked.path / "progress.json")
    status = str(progress.get("status", "complete"))
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    version = str(unpacked.environment.get("lexiscope", "unknown"))
    words = str(progress.get("imported") or f"Lexiscope {version[:40]}, file {path.name[:200]}, SHA-256 {digest[:12]}")
    fields = {name: progress[name] for name in PROGRESS if name in progress}
    status = status if status in ("complete", "failed", "cancelled") else "interrupted"
    message = f"Imported: {words}" if status == "complete" else str(progress.get("message") or "")
    files.write_json(
        unpacked.path / "progress.json", {**fields, "status": status, "message": message, "imported": words}
    )


def as_bytes(folder: Run, settings: Settings) -> bytes:
    """The archive in memory, for a download."""
    file = io.BytesIO()
    pack_archive(folder, file, settings)
    return file.getvalue()
