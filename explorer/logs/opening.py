"""A log file opened with care: gzip undone, sizes bounded, the SHA-256 of the bytes on disk."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import os
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from explorer import plain_json, unpacking
from explorer.errors import LogError

MAX_BYTES = 2**30  # of a log, unpacked
MAX_JSON = 2**29  # of a log that is one JSON value
MAX_VALUES = 20_000_000  # in one JSON value
MAX_LINE = 64 * 2**20


@dataclass(slots=True)
class LogFile:
    """An open log; `path` has no .gz ending."""

    path: Path
    stream: BinaryIO
    sha256: str
    folder: Path
    is_zip: bool = False
    max_bytes: int = MAX_BYTES
    _read: int = field(default=0)

    def peek(self, size: int = 65536) -> bytes:
        """The first bytes, which are read again afterwards."""
        start = self._read_at_most(size)
        self.stream.seek(0)
        self._read = 0
        return start

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Every line with its number from 1, without its end."""
        number = 0
        try:
            while line := self.stream.readline(MAX_LINE + 1):
                number += 1
                self._count_bytes(len(line))
                if len(line) > MAX_LINE:
                    raise LogError(
                        f"{self.path.name} line {number} has more than {MAX_LINE >> 20} MiB, which no sample has. "
                        "Take it out of the file."
                    )
                yield number, line.rstrip(b"\r\n")
        except (OSError, EOFError, zlib.error) as error:
            raise self._damage(error) from error

    def read_json(self) -> Any:
        """The whole file as JSON."""
        data = self._read_at_most(min(self.max_bytes, MAX_JSON) + 1)
        if len(data) > MAX_JSON:
            raise LogError(f"{self.path.name} has more than {MAX_JSON >> 20} MiB of JSON. Cut it into pieces.")
        check_values(data, self.path.name)
        try:
            return plain_json.read(data.decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            raise LogError(
                f"{self.path.name} is no log (byte {error.start} is not UTF-8), expected JSON, JSON Lines or an .eval "
                "file. Get it again."
            ) from error
        except ValueError as error:
            raise LogError(
                f"{self.path.name} is no JSON ({error}); a log that was cut short cannot be read. Get it again."
            ) from error

    def _read_at_most(self, size: int) -> bytes:
        try:
            data = unpacking.up_to(self.stream, size)
            self._count_bytes(len(data))
            return data
        except (OSError, EOFError, zlib.error) as error:
            raise self._damage(error) from error

    def _count_bytes(self, size: int) -> None:
        self._read += size
        if self._read > self.max_bytes:
            raise LogError(
                f"{self.path.name} has more than {self.max_bytes >> 20:,} MiB unpacked, expected less. Cut it into "
                "pieces."
            )

    def _damage(self, error: Exception) -> LogError:
        return LogError(f"{self.path.name} is damaged ({error}). Get it again.")


def check_values(data: bytes, name: str) -> None:
    """LogError where JSON holds more values than memory: an empty list is two bytes of it, and sixty in memory."""
    if data.count(b",") + data.count(b"[") + data.count(b"{") > MAX_VALUES:
        raise LogError(f"{name} holds more than {MAX_VALUES:,} values, expected fewer. Cut it into pieces.")


@contextlib.contextmanager
def open_log(path: Path) -> Iterator[LogFile]:
    """The log at `path`, plain or gzipped."""
    try:
        if not unpacking.is_plain(path):
            raise LogError(f"{path} cannot be read as a log, since it is no plain file. Give a file.")
        with path.open("rb") as raw:
            size = os.fstat(raw.fileno()).st_size
            digest = hashlib.file_digest(raw, "sha256").hexdigest()
            raw.seek(0)
            start = raw.read(4)
            is_gzip = start.startswith(b"\x1f\x8b")
            is_zip = start.startswith(b"PK") and zipfile.is_zipfile(raw)
            raw.seek(0)
            unzipped = path.with_suffix("") if is_gzip and path.suffix == ".gz" else path
            if is_gzip:
                with gzip.GzipFile(fileobj=raw) as file:
                    max_bytes = unpacking.most(size, MAX_BYTES)
                    yield LogFile(unzipped, file, digest, path.parent, max_bytes=max_bytes)  # type: ignore[arg-type]
            else:
                yield LogFile(unzipped, raw, digest, path.parent, is_zip)
    except FileNotFoundError as error:
        raise LogError(f"There is no file {path}, expected a log. Check the path.") from error
    except OSError as error:
        raise LogError(f"{path} cannot be read ({error.strerror or error}). Check the file.") from error
