"""One Parquet file of a part: written, read, and compared with what it was when it was written."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from explorer import sharing
from explorer.errors import RunError
from explorer.rows.columns import Table, as_arrow

if TYPE_CHECKING:
    import pyarrow as pa

MOST_KEPT = 100_000  # files whose hashes are remembered
_SOUND: dict[tuple[str, int, int, int], str] = {}  # files that were hashed in this process, as they stood then


def as_parquet(table: str, rows: Table) -> bytes:
    """The rows as the bytes of a file, each page with a checksum."""
    import pyarrow.parquet as pq

    data = io.BytesIO()
    pq.write_table(as_arrow(table, rows), data, compression="zstd", write_page_checksum=True)
    return data.getvalue()


def read_parquet(path: Path, columns: Sequence[str], sha256: str = "") -> pa.Table:
    """A part's columns; RunError where the file is damaged, or is not the one with this hash."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        if sha256 and not _is_sound(path, sha256):
            raise OSError("it is not as it was written")
        # Not by read_table, which makes a dataset of each of many small files.
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            names = file.schema_arrow.names
            if odd := [name for name in columns if names.count(name) != 1]:
                raise OSError(f"it has {names.count(odd[0])} columns {odd[0]}, expected one")
            return file.read(list(columns), use_threads=False).select(list(columns))
    except PermissionError as error:
        raise RunError(sharing.kept_from_us(path) or f"{path} cannot be read ({error}).") from error
    except (pa.ArrowException, OSError) as error:
        raise RunError(
            f"{path} is damaged ({str(error).splitlines()[0]}). `python -m explorer resume {path.parents[2].name}` "
            "makes this part again and keeps the others."
        ) from error


def opens(path: Path) -> bool:
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


def sha256_of(path: Path) -> str:
    """The file's SHA-256; "" where it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def is_whole(path: Path, sha256: str) -> bool:
    """Whether the file is there, and the one with this hash."""
    return sha256_of(path) == sha256


def _is_sound(path: Path, sha256: str) -> bool:
    """Whether the file has this hash; one that has not been written since is hashed once a process."""
    stat = os.stat(path)
    key = (str(path), stat.st_ino, stat.st_size, stat.st_mtime_ns)
    if _SOUND.get(key) != sha256:
        with path.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != sha256:
                return False
        if len(_SOUND) > MOST_KEPT:
            _SOUND.clear()
        _SOUND[key] = sha256
    return True
