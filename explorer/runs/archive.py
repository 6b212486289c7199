"""A run as one zip file, and back: what was asked, where it was done, every row, what was found, and whom to cite.

README.md  CITATION.bib           what this is and whom to cite
spec.json  environment.json  progress.json  reviews.jsonl
parts/...                         the rows as Parquet, exactly as in the run's folder
tables/<table>.csv                the same rows, a file a table; by_instance.csv has a row an instance
findings.csv                      what the study concluded

A run that came with the explorer has no folder: its archive has tables/<table>.parquet in place of parts/, and
left_out.txt says what the precomputed file lacks. It is for readers, and is no run to be imported.

An archive comes from anywhere, so it is unpacked with care: only these names, no links, no more than its limits, and
each Parquet file is read before the run counts as here.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import stat
import time
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from explorer import __version__, citations, sharing
from explorer.errors import RunError
from explorer.records import RunSpec
from explorer.results import formats
from explorer.results.packed_run import SOURCE, PackedRun, Run
from explorer.results.schema import TABLES
from explorer.runs import files, imported
from explorer.runs import spec as specs
from explorer.runs.folder import RunFolder
from explorer.settings import Settings

MOST_FILES = 200_000
MOST_BYTES = 16 * 2**30  # unpacked
COPY = 2**20

_TABLE = "|".join(TABLES)
# Names that belong to a run; everything else in an archive is for readers and stays there.
_OURS = re.compile(
    rf"spec\.json|environment\.json|environments/[0-9a-f]{{1,64}}\.json|progress\.json|reviews\.jsonl|left_out\.jsonl"
    rf"|parts/\d{{9}}-\d{{9}}\.done"
    rf"|parts/(?:{_TABLE})/(?:\d{{9}}-\d{{9}}|all)\.parquet"
)
# What a progress file says of the machine stays on the machine.
_PROGRESS = ("status", "total", "done", "created", "updated", "message", "imported")


def pack(folder: Run, out: BinaryIO, settings: Settings) -> list[str]:
    """Writes the run's archive and gives the names in it; RunError where a key of the settings stands in the run."""
    if isinstance(folder, RunFolder) and folder.is_being_worked():
        raise RunError(f"{folder.run_id} is being worked on. Wait until it has ended, or cancel it, then export it.")
    keys = [key.encode() for key in settings.keys]
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
        for name, write in (_packed(folder) if isinstance(folder, PackedRun) else _contents(folder)).items():
            with archive.open(_entry(name), "w", force_zip64=True) as file:
                write(_Watched(file, keys, name))  # type: ignore[arg-type]
        return archive.namelist()


def is_run(path: Path) -> bool:
    """Whether the file is a zip with a run's spec in it."""
    try:
        with zipfile.ZipFile(path) as found:
            return "spec.json" in found.namelist()
    except (OSError, zipfile.BadZipFile, NotImplementedError):
        return False


def unpack(path: Path, settings: Settings) -> tuple[RunFolder, bool]:
    """The run in an archive, put among the runs here, and whether it is new; RunError where it is not in order."""
    settings.runs.mkdir(parents=True, exist_ok=True)
    work = sharing.new_folder(settings.cache, "unpacking-")
    try:
        with _opened(path) as archive:
            _extract(archive, path.name, work)
        made = RunFolder(work)
        if not (work / "spec.json").exists():
            raise RunError(f"{path.name} holds no spec.json, so it is no exported run. Export the run again as zip.")
        target = settings.runs / specs.run_id(_spec(made, path.name))
        _refuse_packed(made, path.name)
        _check(made, path.name)
        if target.exists():
            return _known(RunFolder(target), made), False
        _sign(made, path)
        os.replace(work, target)
        return RunFolder(target), True
    except OSError as error:
        raise RunError(
            f"{path.name} could not be unpacked ({error.strerror or error}). Make room in {settings.cache}, then try "
            "again."
        ) from error
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _spec(made: RunFolder, name: str) -> RunSpec:
    try:
        return made.spec
    except RunError as error:
        raise RunError(
            f"The spec.json in {name} is not a run's spec, or of another version. Export the run again as zip."
        ) from error


# --- writing


Write = Callable[[BinaryIO], Any]


def _text(words: str) -> Write:
    return lambda file: file.write(words.encode("utf-8", "replace"))


def _json(value: Any) -> Write:
    return _text(json.dumps(value, ensure_ascii=False, indent=1, default=str))


def _copy_of(path: Path) -> Write:
    return lambda file: file.write(path.read_bytes())


def _frame(read: Callable[[], pd.DataFrame], format: str = "csv") -> Write:
    return lambda file: file.write(formats.as_bytes(read(), format, spreadsheet_safe=True))


def _packed(run: PackedRun) -> dict[str, Write]:
    """Name → what writes that file, of a run that came with the explorer."""
    from explorer.results.export import by_instance

    found = {
        "README.md": _text(_readme(run)),
        "CITATION.bib": _text(citations.bibtex(run.spec)),
        "left_out.txt": _text(f"{run.left_out}\n"),
        "spec.json": _text(specs.to_json(run.spec)),
        "environment.json": _json(run.environment),
        "progress.json": _json(
            {"status": "complete", "total": run.total, "done": run.total, "created": run.created, "source": SOURCE}
        ),
        "findings.csv": _frame(lambda: run.read("findings")),
    }
    if run.reviews.exists():
        found["reviews.jsonl"] = _copy_of(run.reviews)
    for table in TABLES:
        frame = run.read(table)
        if len(frame):
            found[f"tables/{table}.parquet"] = _frame(lambda frame=frame: frame, "parquet")  # type: ignore[misc]
            if table != "findings":
                found[f"tables/{table}.csv"] = _frame(lambda frame=frame: frame)  # type: ignore[misc]
    found["tables/by_instance.csv"] = _frame(lambda: by_instance(run))
    return found


def _contents(folder: RunFolder) -> dict[str, Write]:
    """Name → what writes that file."""
    from explorer.results.export import by_instance

    spec = folder.spec
    told = files.read_json(folder.path / "progress.json")
    progress = {**{name: told[name] for name in _PROGRESS if name in told}, "status": folder.progress().status}
    found: dict[str, Write] = {
        "README.md": _text(_readme(folder)),
        "CITATION.bib": _text(citations.bibtex(spec)),
        "spec.json": _copy_of(folder.path / "spec.json"),
        "environment.json": _json(folder.environment),
        "progress.json": _json(progress),
        "findings.csv": _frame(lambda: folder.read("findings")),
    }
    for name in ("reviews.jsonl", "left_out.jsonl"):
        if (folder.path / name).exists():
            found[name] = _copy_of(folder.path / name)
    for path in sorted(folder.path.glob("environments/*.json")):
        found[f"environments/{path.name}"] = _copy_of(path)
    for first, last in folder.finished():
        name = f"parts/{first:09d}-{last:09d}.done"
        found[name] = _copy_of(folder.path / name)
    for table in TABLES:
        paths = folder.part_files(table)
        found |= {f"parts/{table}/{path.name}": _copy_of(path) for path in paths}
        if paths and table != "findings":
            found[f"tables/{table}.csv"] = _frame(lambda table=table: folder.read(table))  # type: ignore[misc]
    if folder.finished():
        found["tables/by_instance.csv"] = _frame(lambda: by_instance(folder))
    return found


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, time.localtime()[:6])
    entry.compress_type = zipfile.ZIP_STORED if name.endswith(".parquet") else zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry


class _Watched:
    """A file that lets no key through."""

    def __init__(self, file: Any, keys: list[bytes], name: str) -> None:
        self.file, self.keys, self.name = file, keys, name

    def write(self, data: bytes) -> int:
        if any(key in data for key in self.keys):
            raise RunError(
                f"{self.name} of this run holds one of the keys in your environment, expected none. Delete the run, "
                "and give keys in the environment alone."
            )
        return int(self.file.write(data))


_FILES = """- `parts/<table>/`: the same rows as Parquet; `pandas.read_parquet("parts/scores")` reads a table whole.
- `python -m explorer import-run FILE.zip` makes this a run of another machine."""
_PACKED_FILES = """- `tables/*.parquet`: the same rows as Parquet.
- `left_out.txt`: what the file with the precomputed runs lacks, so that this is no run to be imported."""


def _readme(folder: Run) -> str:
    spec, progress = folder.spec, folder.progress()
    packed = isinstance(folder, PackedRun)
    settings = "\n".join(
        f"- {name}: `{json.dumps(value, ensure_ascii=False)}`" for name, value in spec.settings.items()
    )
    cited = "\n".join(f"- {work.sentence}" for work in citations.works(spec))
    facts = {
        "Study": f"{spec.study}, version {spec.version}",
        "Model": " ".join(filter(None, [spec.model, spec.revision and f"revision {spec.revision}"])) or "none",
        "Weights": spec.weights,
        "Benchmark": f"{spec.benchmark}, data {spec.data_hash}",
        "Groups": ", ".join(spec.suites),
        "Limit": "" if spec.limit is None else f"the first {spec.limit:,}",
        "Seed": str(spec.seed),
        "Instances": f"{progress.done:,} of {progress.total:,} ({progress.status})",
        "Imported from": "" if isinstance(folder, PackedRun) else imported.source(folder),
        "Precomputed": "it came with Lexiscope, and left_out.txt says what of it did not" if packed else "",
    }
    told = "\n".join(f"- {name}: {value}" for name, value in facts.items() if value)
    return f"""# Run {folder.run_id}

Made with Lexiscope {folder.environment.get("lexiscope", __version__)}, exported with {__version__}.

{told}

Settings:

{settings or "- none"}

## Files

- `spec.json`: what was asked; the run's id is its hash. `environment.json`: where it was done.
- `findings.csv`: what the study concluded. `tables/*.csv`: every row, a file a table; `by_instance.csv` has a row an
  instance. In them a text that a spreadsheet would take for a formula has a ' in front.
{_PACKED_FILES if packed else _FILES}
- `reviews.jsonl`, where it is there: people's verdicts.

Log-probabilities are natural logarithms. An empty value has its reason in the column `reason`.

## Citation

{cited}

`CITATION.bib` has the entries.
"""


# --- reading


def _opened(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except FileNotFoundError as error:
        raise RunError(f"There is no file {path}, expected a run's zip file. Check the path.") from error
    except (OSError, zipfile.BadZipFile, NotImplementedError) as error:
        raise RunError(f"{path.name} is no readable zip file ({error}). Export the run again.") from error


def _extract(archive: zipfile.ZipFile, archive_name: str, target: Path) -> None:
    entries = archive.infolist()
    if len(entries) > MOST_FILES:
        raise RunError(
            f"{archive_name} holds {len(entries):,} files, expected at most {MOST_FILES:,}. Unpack it by hand."
        )
    seen: set[str] = set()
    left = MOST_BYTES
    for entry in entries:
        _refuse_hostile(entry, archive_name)
        if entry.is_dir() or not _OURS.fullmatch(entry.filename):
            continue
        if entry.filename in seen:
            raise RunError(f"{archive_name} holds {entry.filename} twice, expected each file once. Export it again.")
        seen.add(entry.filename)
        path = target / entry.filename
        path.parent.mkdir(parents=True, exist_ok=True)
        left -= _copy(archive, entry, path, archive_name, left)


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


def _copy(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, path: Path, archive_name: str, left: int) -> int:
    """Bytes written; what an archive says of its sizes is not believed."""
    written = 0
    try:
        with archive.open(entry) as source, path.open("wb") as file:
            while piece := source.read(COPY):
                written += len(piece)
                if written > left:
                    raise RunError(
                        f"{archive_name} unpacks to more than {MOST_BYTES / 2**30:.0f} GiB, which no run here is. "
                        "Do not use it."
                    )
                file.write(piece)
    except (zipfile.BadZipFile, NotImplementedError, EOFError, zlib.error) as error:
        raise RunError(f"{archive_name} is damaged at {entry.filename} ({error}). Get it again.") from error
    return written


def _check(made: RunFolder, archive_name: str) -> None:
    """Every Parquet file can be read and has its table's columns."""
    for path in sorted(made.parts.glob("*/*.parquet")):
        try:
            names = set(pq.read_table(path).schema.names)
        except (pa.ArrowException, OSError) as error:
            raise RunError(
                f"{path.parent.name}/{path.name} in {archive_name} is no readable Parquet file "
                f"({str(error).splitlines()[0]}). Get the archive again."
            ) from error
        lacking = set(TABLES[path.parent.name]) - names
        if lacking:
            raise RunError(
                f"{path.parent.name}/{path.name} in {archive_name} lacks the column {min(lacking)}, so it was made by "
                "another version. Export it again with this one."
            )


def _refuse_packed(made: RunFolder, archive_name: str) -> None:
    if files.read_json(made.path / "progress.json").get("source") == SOURCE:
        raise RunError(
            f"{archive_name} was exported from the runs that come with the explorer and lacks some of its rows, as "
            "left_out.txt in it says, so that it cannot become a run here. Look at it among the precomputed runs."
        )


def _known(here: RunFolder, made: RunFolder) -> RunFolder:
    if len(here.finished()) and here.progress().status == "complete":
        return here
    raise RunError(
        f"The run {here.run_id} is here already, with {here.progress().done:,} instances done, and the archive holds "
        f"{made.progress().done:,}. Resume the one here, or delete it and import again."
    )


def _sign(made: RunFolder, path: Path) -> None:
    """Writes into the run's progress that it was done elsewhere, and by which archive it came."""
    told = files.read_json(made.path / "progress.json")
    status = str(told.get("status", "complete"))
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    version = str(made.environment.get("lexiscope", "unknown"))
    words = str(told.get("imported") or f"Lexiscope {version}, file {path.name}, SHA-256 {digest[:12]}")
    kept = {name: told[name] for name in _PROGRESS if name in told}
    status = status if status in ("complete", "failed", "cancelled") else "interrupted"
    message = f"Imported: {words}" if status == "complete" else str(told.get("message") or "")
    files.write_json(made.path / "progress.json", {**kept, "status": status, "message": message, "imported": words})


def as_bytes(folder: Run, settings: Settings) -> bytes:
    """The archive in memory, for a download."""
    file = io.BytesIO()
    pack(folder, file, settings)
    return file.getvalue()
