"""A run's folder in a bucket, `<url>/<run id>/`, by fsspec; keys come from the environment alone.

spec.json  environment.json  environments/  progress.json (at the end)  parts/ as in the run folder, with the .done
marks written last, each with the SHA-256 of its files.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from explorer import stopping
from explorer.addresses import split_address
from explorer.errors import RunError, UsageError
from explorer.runs import files, validation
from explorer.runs.folder import RunFolder

S3FS = "2026.9.0"  # the version in requirements-cluster.txt
TRIES = 3
MOST_BYTES = 1 << 30  # of a file
PAUSE = 1.0  # seconds before the second try, four times as long before the third

T = TypeVar("T")


class Bucket:
    """Files of one run, each there as a whole or not at all."""

    def __init__(self, url: str, run_id: str) -> None:
        self.url = f"{url.rstrip('/')}/{run_id}"
        self._system, self._root = _open(self.url)
        self._folders: set[str] = set()  # that are there: an object store is asked anew for each, a question a file

    def send(self, path: Path, name: str) -> str:
        """Uploads a file under a name and returns its SHA-256."""
        return self.write(name, path.read_bytes())

    def write(self, name: str, data: bytes) -> str:
        """Uploads bytes under a name and returns their SHA-256."""
        where = f"{self._root}/{name}"
        folder = where.rsplit("/", 1)[0]

        def put_file() -> None:
            if folder not in self._folders:
                self._system.makedirs(folder, exist_ok=True)
                self._folders.add(folder)
            try:
                self._system.pipe_file(where, data)
            except FileNotFoundError:  # somebody took the folder away
                self._system.makedirs(folder, exist_ok=True)
                self._system.pipe_file(where, data)

        self._try_again(put_file, f"{self.url}/{name} could not be written")
        return hashlib.sha256(data).hexdigest()

    def read(self, name: str) -> bytes:
        """The bytes under a name."""
        where, problem = f"{self._root}/{name}", f"{self.url}/{name} could not be read"
        size = self._try_again(lambda: self._system.size(where), problem)
        if isinstance(size, int) and size > MOST_BYTES:
            raise RunError(f"{self.url}/{name} has {size:,} bytes, expected at most {MOST_BYTES:,}. Take it away.")
        return self._try_again(lambda: self._system.cat_file(where), problem)

    def fetch(self, name: str, path: Path, sha256: str = "") -> None:
        """Downloads a file to `path`, whole or not at all; RunError where it is not the one that was sent."""
        data = self.read(name)
        if sha256 and hashlib.sha256(data).hexdigest() != sha256:
            raise RunError(f"{self.url}/{name} is damaged: its SHA-256 is not the one it was sent with.")
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write_atomically(path, lambda temporary: temporary.write_bytes(data))

    def mark(self, first: int, last: int, hashes: Mapping[str, str], environment: str) -> None:
        """Says that the part is complete: `hashes` are those of its tables."""
        done = {"environment": environment, "written": time.time(), "tables": list(hashes), "sha256": dict(hashes)}
        self.write(f"parts/{_name(first, last)}.done", json.dumps(done).encode())

    def unmark(self, name: str) -> None:
        """Takes back that the part `<first>-<last>` is complete."""
        where = f"{self._root}/parts/{name}.done"
        self._try_again(lambda: self._system.rm_file(where), f"{self.url}/parts/{name}.done could not be removed")

    def marks(self) -> dict[str, validation.MarkFields | None]:
        """The parts that are complete here, by name (`<first>-<last>`); none where the mark is damaged."""
        place = f"{self._root}/parts"

        def list_parts() -> list[str]:
            self._system.invalidate_cache()
            try:
                return [str(path) for path in self._system.ls(place, detail=False)]
            except FileNotFoundError:
                return []

        paths = self._try_again(list_parts, f"{self.url} could not be listed")
        names = sorted(path.rsplit("/", 1)[-1] for path in paths if path.endswith(".done"))
        return {name.removesuffix(".done"): self._mark(name) for name in names}

    def _mark(self, name: str) -> validation.MarkFields | None:
        try:
            value = json.loads(self.read(f"parts/{name}"))
        except (ValueError, RecursionError):
            return None
        return validation.mark(value) if isinstance(value, dict) else None

    def _try_again(self, step: Callable[[], T], problem: str) -> T:
        tries = 0
        while True:
            try:
                return step()
            except Exception as error:
                tries += 1
                if tries == TRIES or _is_final(error):
                    raise RunError(f"{problem} ({_error_text(error)}). {_advice(error)}") from error
                stopping.pause(PAUSE * 4 ** (tries - 1))


def pull(bucket: Bucket, folder: RunFolder) -> dict[str, str]:
    """Brings the bucket's complete parts into the folder; those that are damaged and left out, with a sentence each."""
    # Two runs of the same spec may have been cut at different places. Parts that overlap are sorted out by `finished`.
    have = {_name(first, last) for first, last in folder.finished()}
    damaged = {}
    for name, mark in bucket.marks().items():
        if name in have or not re.fullmatch(r"\d{9}-\d{9}", name):
            continue
        try:
            if mark is None or not mark.sha256 or set(mark.sha256) != set(mark.tables):
                raise RunError(f"The mark of the part {name} is damaged.")
            first, last = (int(number) for number in name.split("-"))
            download_part(bucket, folder, first, last, mark.sha256, mark.environment)
        except RunError as error:
            damaged[name] = str(error)
    return damaged


def push(bucket: Bucket, folder: RunFolder) -> None:
    """Sends the folder's complete parts that the bucket lacks: those that were made before there was a bucket."""
    marks = bucket.marks()
    for first, last in folder.finished():
        name = _name(first, last)
        if name in marks:
            continue
        mark = folder.mark(name)
        if mark is None:
            continue
        # Tables first and the mark last, as on disk: whoever lists the bucket meanwhile sees a whole part or none.
        paths = [folder.parts / table / f"{name}.parquet" for table in mark.tables]
        hashes = {path.parent.name: bucket.send(path, path.relative_to(folder.path).as_posix()) for path in paths}
        bucket.mark(first, last, hashes, mark.environment)


# What lies in a bucket may have been written by a node with other code, or by somebody else. Each file is compared with
# the hash in its mark, then the part as a whole is checked (its rows are those of its instances, in the columns of the
# schema), and only then is it marked here. If a check fails, its files go: without a mark they would not count, yet the
# next look for damage would find them.
def download_part(
    bucket: Bucket, folder: RunFolder, first: int, last: int, hashes: Mapping[str, str], environment: str
) -> None:
    """Brings one part from the bucket into the folder and marks it done there; RunError where it is damaged."""
    from explorer.runs import row_checks

    for table, sha256 in hashes.items():
        name = f"parts/{table}/{_name(first, last)}.parquet"
        bucket.fetch(name, folder.path / name, sha256)
    try:
        if "instances" in hashes:
            row_checks.check_part(folder.parts, _name(first, last), hashes, folder.spec.study)
        else:
            for table in hashes:
                validation.check_table(folder.parts / table / f"{_name(first, last)}.parquet", table, first, last)
    except RunError:
        for table in hashes:
            (folder.parts / table / f"{_name(first, last)}.parquet").unlink()
        raise
    folder.mark_done(first, last, hashes, environment)


def _name(first: int, last: int) -> str:
    return f"{first:09d}-{last:09d}"


def check_url(url: str) -> None:
    """UsageError where the URL names no place that fsspec can write, or holds a key."""
    parts = split_address(url)
    if not parts.scheme or not (parts.netloc or parts.path.strip("/")):
        raise UsageError(f"--to is {url!r}, expected an address like s3://bucket/prefix.")
    if parts.username or parts.password or parts.query:
        raise UsageError(
            f"--to names {parts.scheme}://... with a key or options in it, and it is written to disk. "
            "Put keys into the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY) and leave them out here."
        )
    if parts.scheme in ("http", "https"):
        raise UsageError(f"--to is {url!r}, which can only be read. Give an address like s3://bucket/prefix.")
    _open(url)


def _open(url: str) -> tuple[Any, str]:
    import fsspec

    try:
        system, root = fsspec.core.url_to_fs(url)
    except ImportError as error:
        package = f"s3fs=={S3FS}" if url.startswith("s3://") else "the package that fsspec names"
        raise UsageError(f"{url} cannot be opened ({_error_text(error)}). `pip install {package}`.") from error
    except Exception as error:
        raise UsageError(
            f"{url} cannot be opened ({_error_text(error)}). Give an address like s3://bucket/prefix."
        ) from error
    return system, str(root).rstrip("/")


def _is_final(error: BaseException) -> bool:
    """Whether trying again cannot help: the place is not there, or it does not know us."""
    return isinstance(error, PermissionError | FileNotFoundError) or "Credentials" in type(error).__name__


def _advice(error: BaseException) -> str:
    if isinstance(error, FileNotFoundError):
        return "Check that the bucket exists."
    if _is_final(error):
        return "Renew the keys in the environment of this machine and of the nodes, then resume the run."
    return "Check the network and the address, then resume the run."


def _error_text(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:200] if lines else type(error).__name__
