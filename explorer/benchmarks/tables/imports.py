"""Tables that were imported: kept in a folder with a manifest, and from then on a benchmark for every process."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from explorer import leftovers, sharing
from explorer.benchmarks.core.benchmark import Benchmark, Parsed, SourceFile
from explorer.benchmarks.tables import (
    roles as table_roles,
)
from explorer.benchmarks.tables.guessing import labels_beside
from explorer.benchmarks.tables.parsing import PREFIX, read_file
from explorer.benchmarks.tables.reading import Reading
from explorer.errors import BenchmarkError, UsageError
from explorer.settings import Settings

MANIFEST = "import.json"


def store_import(
    path: Path, name: str, settings: Settings, reading: Reading, title: str = "", labels: Path | None = None
) -> Benchmark:
    """The benchmark `imported_<name>`, kept under the cache with a copy of the file; an older one is replaced.

    It is titled as the file is called, unless `title` says otherwise.
    """
    name = clean_name(name)
    labels = (labels or labels_beside(path)) if reading.labels else None
    read_file(path, reading, name, labels)  # what cannot be read is not kept
    target = settings.imports / name
    try:
        settings.imports.mkdir(parents=True, exist_ok=True)
        with leftovers.scratch(settings.cache, settings.imports, f".{name}.") as draft:
            file = f"table{path.suffix.lower()}"
            shutil.copyfile(path, draft / file)
            manifest = {"version": 2, "title": title or path.name, "file": file, "reading": dataclasses.asdict(reading)}
            if labels:
                manifest["labels"] = f"labels{labels.suffix.lower()}"
                shutil.copyfile(labels, draft / str(manifest["labels"]))
            text = json.dumps(manifest, ensure_ascii=False, indent=2)
            (draft / MANIFEST).write_bytes(text.encode("utf-8", "backslashreplace"))
            with sharing.hold(settings.cache / ".imports.lock"):  # two may import under one name at once
                if why := sharing.kept_within(target, writing=True):
                    raise BenchmarkError(why)
                if target.exists():
                    os.replace(target, draft / leftovers.REPLACED)
                os.replace(draft, target)
            shutil.rmtree(target / leftovers.REPLACED, ignore_errors=True)
    except OSError as error:
        raise BenchmarkError(f"{target} cannot be written ({error.strerror or error}). Check the cache.") from error
    return imported_benchmark(name, settings)


def _read_manifest(folder: Path, settings: Settings) -> str:
    """What stands in an import's manifest; FileNotFoundError where there is none, also once nobody is replacing it."""
    try:
        return (folder / MANIFEST).read_text("utf-8")
    except FileNotFoundError:
        if not settings.imports.is_dir():
            raise
    with sharing.hold(settings.cache / ".imports.lock"):
        return (folder / MANIFEST).read_text("utf-8")


def imported_benchmark(name: str, settings: Settings) -> Benchmark:
    """The benchmark that `store_import` kept under this name."""
    name = clean_name(name)
    folder = settings.imports / name
    try:
        manifest = json.loads(_read_manifest(folder, settings))
        reading = _reading(manifest["reading"])
        title, file, labels = str(manifest["title"]), str(manifest["file"]), str(manifest.get("labels", ""))
        if reading.kind not in table_roles.ROLES or not isinstance(reading.columns, dict):
            raise ValueError(f"it holds no reading of a {reading.kind!r}")
        for filename in (file, *([labels] if labels else [])):
            if Path(filename).name != filename:
                raise ValueError(f"it names {filename[:80]!r}, expected a file beside it")
    except FileNotFoundError as error:
        others = ", ".join(imported_names(settings)) or "none yet"
        raise UsageError(f"Nothing was imported as {name!r}; imported were {others}.") from error
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise BenchmarkError(f"{folder / MANIFEST} is damaged ({error}). Import the file again.") from error
    return Benchmark(
        name=PREFIX + name,
        title=title,
        kind=reading.instance_kind,
        load=partial(_load, name, file, labels, reading),
        files=(SourceFile(file), *([SourceFile(labels)] if labels else [])),
        splits=("all",),
        default_splits=("all",),
        folder=folder,
        language=reading.language,
    )


def imported_names(settings: Settings) -> list[str]:
    """The names of all imports, with the prefix."""
    manifests = settings.imports.glob(f"*/{MANIFEST}") if settings.imports.is_dir() else ()
    return sorted(PREFIX + path.parent.name for path in manifests if _is_name(path.parent.name))


def clean_name(name: str) -> str:
    """The name without the prefix; UsageError unless it is made of small letters, digits, - and _."""
    bare = name.removeprefix(PREFIX)
    if not _is_name(bare):
        raise UsageError(
            f"{name[:80]!r} is no name for an import: use small letters, digits, - and _ (at most 64), and none that "
            "Windows keeps for devices (con, nul, com1 ...)."
        )
    return bare


def _is_name(text: str) -> bool:
    # A cache may lie on a disk that Windows reads too, where no folder can be called like a device.
    device = r"con|prn|aux|nul|com[0-9]|lpt[0-9]"
    return bool(re.fullmatch(rf"(?!(?:{device})$)[a-z0-9][a-z0-9_-]{{0,63}}", text))


def _reading(stored: Mapping[str, Any]) -> Reading:
    """The reading of a manifest, in which tuples are lists."""
    lists = {name: tuple(value) for name, value in stored.items() if isinstance(value, list)}
    return Reading(**{**stored, "names": tuple(stored["names"]), **lists})


def _load(
    name: str, file: str, labels: str, reading: Reading, paths: Mapping[str, Path], splits: Sequence[str]
) -> Parsed:
    return read_file(paths[file], reading, name, paths[labels] if labels else None)
