"""Unpacked bytes with a bound, so that a small file that stands for an endless one takes no memory.

What a file says of its own size is not believed: the bytes are counted as they come.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Protocol


class Readable(Protocol):
    """What gives its next bytes."""

    def read(self, size: int, /) -> bytes: ...


RATIO = 100  # times its packed size; text seldom packs to a twentieth
SMALL = 64 << 20  # bytes that any file may unpack to
PIECE = 1 << 20


def is_plain(path: Path) -> bool:
    """Whether the path leads to a file, not to a device or a pipe, which may never end; OSError where to nothing."""
    return stat.S_ISREG(os.stat(path).st_mode)


def most(packed: int, limit: int) -> int:
    """Bytes that a packed file of this size may unpack to: `limit`, or less where the file is small."""
    return min(limit, max(SMALL, RATIO * packed))


def bounded(file: Readable, limit: int) -> bytes | None:
    """All that can be read from here, or none where it is more than `limit`."""
    data = up_to(file, limit + 1)
    return data if len(data) <= limit else None


def up_to(file: Readable, size: int) -> bytes:
    """The next `size` bytes, or what is left; memory is taken as they come."""
    pieces = []
    while size > 0 and (piece := file.read(min(PIECE, size))):
        size -= len(piece)
        pieces.append(piece)
    return b"".join(pieces)
