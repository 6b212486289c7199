"""Finds a benchmark's files: in the user's folder, else in the cache, else at the published address."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from explorer import fetch
from explorer.benchmarks.core.benchmark import Benchmark, SourceFile
from explorer.errors import BenchmarkError
from explorer.settings import Settings

Progress = Callable[[int, int], None]  # bytes downloaded, bytes in all

# Someone waits for these files: a busy server is asked again, but not for long.
PATIENCE = fetch.Patience(tries=4, longest_delay=30.0)


@dataclass(frozen=True, slots=True)
class LocatedFiles:
    """Files on this machine by their path in a data folder, with a sentence saying where they came from."""

    paths: Mapping[str, Path]
    source: str
    data_hash: str


def find_or_download(
    benchmark: Benchmark, settings: Settings, splits: Sequence[str], progress: Progress | None = None
) -> LocatedFiles:
    """The benchmark's files for these splits, downloaded where they are not on this machine."""
    files = needed_files(benchmark, splits)
    local = local_files(benchmark, settings, splits)
    absent = [file for file in files if file.path not in local]
    if absent and benchmark.folder:
        absent_path = benchmark.folder / absent[0].path
        raise BenchmarkError(
            f"{absent_path} is gone, a part of {benchmark.title}. Restore it, or import or install it again."
        )
    fetched = _download(benchmark.title, absent, settings, progress) if absent else {}
    located = {**local, **fetched}
    paths = {file.path: located[file.path] for file in files}  # in the benchmark's order, wherever each came from
    hashes = {path: _hash(path_on_disk) for path, path_on_disk in paths.items()}
    data_hash = hashlib.sha256("\n".join(f"{hashes[path]} {path}" for path in sorted(hashes)).encode()).hexdigest()
    return LocatedFiles(paths, _describe_sources(benchmark, local, fetched, hashes, settings), data_hash)


def needed_files(benchmark: Benchmark, splits: Sequence[str]) -> list[SourceFile]:
    """The files that these splits are read from."""
    return [file for file in benchmark.files if not file.splits or set(file.splits) & set(splits)]


def local_files(benchmark: Benchmark, settings: Settings, splits: Sequence[str]) -> dict[str, Path]:
    """Those of the needed files that are on this machine already.

    A file in the user's own folder is taken as it is; one in the cache only if it is undamaged.
    """
    candidates = (
        (file.path, _find_local(file, settings, benchmark.folder)) for file in needed_files(benchmark, splits)
    )
    return {path: candidate for path, candidate in candidates if candidate}


def find_file(title: str, file: SourceFile, settings: Settings, progress: Progress | None = None) -> Path:
    """One file that belongs to no benchmark, found as a benchmark's files are."""
    return _find_local(file, settings) or _download(title, [file], settings, progress)[file.path]


def where_to_put(title: str, files: Sequence[SourceFile], settings: Settings) -> str:
    """What a user without a network does, in one sentence."""
    first = files[0]
    and_more = f" and {len(files) - 1} more file{'s' if len(files) > 2 else ''}" if len(files) > 1 else ""
    folder = settings.data or "the folder that --data or EXPLORER_DATA names"
    return (
        f"{title} needs {first.path}{and_more}: put {'them' if and_more else 'it'} into {folder} or "
        f"{settings.datasets} under the same name{'s' if and_more else ''}"
        + (f" (published at {first.urls[0]})" if first.urls else " (not published in this form)")
        + "; docs/DATA.md lists every file."
    )


def _find_local(file: SourceFile, settings: Settings, folder: Path | None = None) -> Path | None:
    if folder:
        return folder / file.path if (folder / file.path).is_file() else None
    if settings.data and (settings.data / file.path).is_file():
        return settings.data / file.path
    cached = settings.datasets / file.path
    return cached if cached.is_file() and file.sha256 in ("", _hash(cached)) else None


def _hash(path: Path) -> str:
    try:
        return fetch.file_hash(path)
    except OSError as error:
        raise BenchmarkError(f"{path} cannot be read ({error.strerror or error}). Check its permissions.") from error


def _download(
    title: str, files: Sequence[SourceFile], settings: Settings, progress: Progress | None
) -> dict[str, Path]:
    if settings.offline:
        raise BenchmarkError(f"The explorer was told to stay offline. {where_to_put(title, files, settings)}")
    total = sum(file.size for file in files)
    done = 0
    paths: dict[str, Path] = {}
    for file in files:
        if not file.urls:
            raise BenchmarkError(where_to_put(title, files, settings))
        before = done

        def tell(so_far: int, file_total: int, before: int = before) -> None:
            if progress:
                progress(min(before + so_far, total), total)

        try:
            paths[file.path] = _download_one(file, settings, tell)
        except fetch.WebError as error:
            missing = [later for later in files if later.path not in paths]
            raise BenchmarkError(f"{error} {where_to_put(title, missing, settings)}") from error
        done += file.size
    if progress:
        progress(total, total)
    return paths


def _download_one(file: SourceFile, settings: Settings, progress: Progress) -> Path:
    target = settings.datasets / file.path
    if not file.join:
        return fetch.download(
            file.urls[0], target, sha256=file.sha256, progress=progress, patience=PATIENCE, offline=settings.offline
        )
    pieces = [
        fetch.download(url, target.with_name(f"{target.name}.piece{n}"), patience=PATIENCE, offline=settings.offline)
        for n, url in enumerate(file.urls)
    ]
    joined = file.join(pieces)
    if hashlib.sha256(joined).hexdigest() != file.sha256:
        for piece in pieces:
            piece.unlink()
        raise fetch.WebError(f"The pieces of {file.path} do not make up the expected file.", kind="checksum")
    temporary = target.with_name(f"{target.name}.{os.getpid()}")
    temporary.write_bytes(joined)
    temporary.replace(target)
    for piece in pieces:
        piece.unlink(missing_ok=True)
    return target


def _describe_sources(
    benchmark: Benchmark,
    local: Mapping[str, Path],
    fetched: Mapping[str, Path],
    hashes: Mapping[str, str],
    settings: Settings,
) -> str:
    if benchmark.folder:
        return "imported" if settings.imports in benchmark.folder.parents else "part of Lexiscope"
    from_own_folder = sorted(
        path for path, local_path in local.items() if settings.data and settings.data in local_path.parents
    )
    from_cache = len(local) - len(from_own_folder)
    parts = [f"{len(from_own_folder)} from {settings.data}"] if from_own_folder else []
    parts += [f"{from_cache} from the cache"] if from_cache else []
    parts += [f"{len(fetched)} downloaded"] if fetched else []
    changed = [
        file.path for file in benchmark.files if file.path in from_own_folder and hashes[file.path] != file.sha256
    ]
    note = (
        f"; {len(changed)} not as published ({', '.join(changed[:3])}{' ...' if len(changed) > 3 else ''})"
        if changed
        else ""
    )
    return f"{len(hashes)} file{'s' if len(hashes) > 1 else ''}: {', '.join(parts)}{note}"
