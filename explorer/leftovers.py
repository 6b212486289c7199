"""Work that a kill must not leave half done: a mark says what was begun, and the next start ends it.

    with begun(settings.cache, "delete-accuracy-0123456789ab") as mark:
        ...                       # killed here, the mark stays and nobody holds it
        mark.keep()               # what could not be ended now is left to the next start

A mark is a file in cache/unfinished/ that the process holds locked while it is alive; ended, it is taken away.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

from filelock import Timeout

from explorer import sharing

FOLDER = "unfinished"
REPLACED = "replaced"  # in a scratch folder `.NAME.<digits>`: what stood under NAME before
OLD = 3600.0  # seconds after which a hidden folder without a mark, of an earlier version, is taken for left behind


@dataclass(slots=True)
class Mark:
    """A piece of work that was begun."""

    path: Path
    kept: bool = False

    def keep(self) -> None:
        """Leaves the rest to the next start."""
        self.kept = True


def may_be_any(cache: Path) -> bool:
    """Whether there may be something that a kill left behind."""
    return any(True for pattern in (f"{FOLDER}/*", "unpacking-*", "store/*.building*") for _ in cache.glob(pattern))


@contextlib.contextmanager
def begun(cache: Path, name: str) -> Iterator[Mark]:
    """Within it the work called `name` is under way.

    An account that may not write marks here works without: what it leaves behind is not ended by the next start.
    """
    mark = Mark(cache / FOLDER / name)
    lock = sharing.lock_at(mark.path)
    with contextlib.suppress(PermissionError):
        mark.path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=60)
    try:
        yield mark
    finally:
        if lock.is_locked:
            if not mark.kept:
                mark.path.unlink(missing_ok=True)
            lock.release()


def abandoned(cache: Path) -> Iterator[Mark]:
    """What was begun and has nobody who goes on with it; each is held while it is looked at."""
    folder = cache / FOLDER
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        mark = Mark(path)
        try:
            lock = sharing.lock_at(path)
            with lock.acquire(timeout=0):
                if not path.exists():
                    continue
                yield mark
                if not mark.kept:
                    path.unlink(missing_ok=True)
        except (Timeout, OSError):
            continue  # somebody is at it, or it is another's


@contextlib.contextmanager
def scratch(cache: Path, parent: Path, prefix: str) -> Iterator[Path]:
    """A new folder that is gone afterwards, also after a kill; what was renamed out of it stays."""
    path = sharing.new_name(parent, prefix)
    with begun(cache, f"scratch-{quote(path.relative_to(cache).as_posix(), safe='')}"):
        try:
            path.mkdir()
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)


def remove_scratch(cache: Path, name: str) -> None:
    """Takes away the folder of an abandoned `scratch-NAME`; what it was to replace is put back where it is missing."""
    place = Path(unquote(name))
    if place.is_absolute() or ".." in place.parts:
        return
    path = cache / place
    target = path.with_name(place.name.lstrip(".").rpartition(".")[0] or place.name)
    if (path / REPLACED).is_dir() and not target.exists():
        os.replace(path / REPLACED, target)
    for left in (path, target / REPLACED):
        shutil.rmtree(left, ignore_errors=True)


def remove_old(*patterns: tuple[Path, str]) -> None:
    """Takes away folders of these patterns that nobody has touched for long."""
    for parent, pattern in patterns:
        for path in parent.glob(pattern) if parent.is_dir() else ():
            with contextlib.suppress(OSError):
                if path.is_dir() and not path.is_symlink() and time.time() - path.stat().st_mtime > OLD:
                    shutil.rmtree(path, ignore_errors=True)
