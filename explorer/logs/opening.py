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

MOST_BYTES = 2**30  # of a log, unpacked
MOST_JSON = 2**29  # of a log that is one JSON value
MOST_VALUES = 20_000_000  # in one JSON value
LONGEST_LINE = 64 * 2**20


@dataclass(slots=True)
class Opened:
    """An open log; `path` has no .gz ending."""

    path: Path
    file: BinaryIO
    sha256: str
    folder: Path
    is_zip: bool = False
    most: int = MOST_BYTES
    _read: int = field(default=0)

    def peek(self, size: int = 65536) -> bytes:
        """The first bytes, which are read again afterwards."""
        start = self._bounded(size)
        self.file.seek(0)
        self._read = 0
        return start

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Every line with its number from 1, without its end."""
        number = 0
        try:
            while line := self.file.readline(LONGEST_LINE + 1):
                number += 1
                self._count(len(line))
                if len(line) > LONGEST_LINE:
                    raise LogError(
                        f"{self.path.name} line {number} has more than {LONGEST_LINE >> 20} MiB, which no sample has. "
                        "Take it out of the file."
                    )
                yield number, line.rstrip(b"\r\n")
        except (OSError, EOFError, zlib.error) as error:
            raise self._damaged(error) from error

    def as_json(self) -> Any:
        """The whole file as JSON."""
        data = self._bounded(min(self.most, MOST_JSON) + 1)
        if len(data) > MOST_JSON:
            raise LogError(f"{self.path.name} has more than {MOST_JSON >> 20} MiB of JSON. Cut it into pieces.")
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

    def _bounded(self, size: int) -> bytes:
        try:
            data = unpacking.up_to(self.file, size)
            self._count(len(data))
            return data
        except (OSError, EOFError, zlib.error) as error:
            raise self._damaged(error) from error

    def _count(self, size: int) -> None:
        self._read += size
        if self._read > self.most:
            raise LogError(
                f"{self.path.name} has more than {self.most >> 20:,} MiB unpacked, expected less. Cut it into pieces."
            )

    def _damaged(self, error: Exception) -> LogError:
        return LogError(f"{self.path.name} is damaged ({error}). Get it again.")


def check_values(data: bytes, name: str) -> None:
    """LogError where JSON holds more values than memory: an empty list is two bytes of it, and sixty in memory."""
    if data.count(b",") + data.count(b"[") + data.count(b"{") > MOST_VALUES:
        raise LogError(f"{name} holds more than {MOST_VALUES:,} values, expected fewer. Cut it into pieces.")


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Opened]:
    """The log at `path`, plain or gzipped."""
    try:
        with path.open("rb") as raw:
            size = os.fstat(raw.fileno()).st_size
            digest = hashlib.file_digest(raw, "sha256").hexdigest()
            raw.seek(0)
            start = raw.read(4)
            packed = start.startswith(b"\x1f\x8b")
            is_zip = start.startswith(b"PK") and zipfile.is_zipfile(raw)
            raw.seek(0)
            plain = path.with_suffix("") if packed and path.suffix == ".gz" else path
            if packed:
                with gzip.GzipFile(fileobj=raw) as file:
                    most = unpacking.most(size, MOST_BYTES)
                    yield Opened(plain, file, digest, path.parent, most=most)  # type: ignore[arg-type]
            else:
                yield Opened(plain, raw, digest, path.parent, is_zip)
    except FileNotFoundError as error:
        raise LogError(f"There is no file {path}, expected a log. Check the path.") from error
    except OSError as error:
        raise LogError(f"{path} cannot be read ({error.strerror or error}). Check the file.") from error
