"""Files and locks that several accounts of one machine may use: rights from the umask, the group from the folder.

A new file or folder gets what the umask allows and, in a folder with the set-group-ID bit, the folder's group; a lock
gets the rights of its folder, so that whoever may put files there may wait there, too. What another account made and
did not share is never called damaged, nor replaced.
"""

from __future__ import annotations

import contextlib
import math
import os
import secrets
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from explorer import stopping
from explorer.errors import ExplorerError

try:
    import pwd
except ImportError:  # Windows
    pwd = None  # type: ignore[assignment]


def beside(path: Path, suffix: str = ".tmp") -> Path:
    """A new hidden name beside `path`, for a file that is renamed to `path` once it is whole."""
    return path.with_name(f".{path.name}.{secrets.token_hex(6)}{suffix}")


def new_folder(parent: Path, prefix: str) -> Path:
    """A new folder in `parent` with a name of its own, which others may read as the umask lets them."""
    path = new_name(parent, prefix)
    path.mkdir()
    return path


def new_name(parent: Path, prefix: str) -> Path:
    """A name in `parent` that nothing has."""
    return parent / f"{prefix}{secrets.token_hex(6)}"


def new_file(path: Path) -> None:
    """An empty file where there is none: programs that make their own would leave the umask out of account."""
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))


def share_files(folder: Path) -> None:
    """`share` for every file of a folder; safetensors makes its files private."""
    for file in folder.iterdir():
        share(file)


def share(path: Path) -> None:
    """Gives a file that some library made for its owner alone the rights of a new file there."""
    probe = beside(path)
    new_file(probe)
    try:
        path.chmod(stat.S_IMODE(probe.stat().st_mode))
    finally:
        probe.unlink()


def lock_at(path: Path) -> FileLock:
    """A lock between processes, which every account can hold that may write into its folder."""
    with contextlib.suppress(FileNotFoundError):  # the folder is missing; taking the lock says so
        new_lock(path)
    return FileLock(path)


def new_lock(path: Path) -> None:
    """An empty file to lock where there is none, with the rights of its folder."""
    with contextlib.suppress(FileExistsError, PermissionError):
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
        if hasattr(os, "fchmod"):
            os.fchmod(handle, stat.S_IMODE(path.parent.stat().st_mode) & 0o666)
        os.close(handle)


@contextlib.contextmanager
def hold(path: Path, waiting: Callable[[], None] | None = None, longest: float = math.inf) -> Iterator[None]:
    """Holds the lock at `path` once it is free; `waiting` is called once where it is not.

    TimeoutError where it is not free within `longest` seconds.
    """
    # The operating system's own lock on an open file: it ends with the process that holds it, however that ends, so a
    # lock file that lies there says nothing.
    lock = lock_at(path)
    latest = time.monotonic() + longest
    while True:
        stopping.look()
        try:
            lock.acquire(timeout=stopping.SLICE)
            break
        except Timeout:
            if time.monotonic() >= latest:
                raise
            if waiting:
                waiting()
                waiting = None
        except PermissionError as error:
            raise ExplorerError(kept_from_us(path, writing=True) or f"{path} cannot be locked ({error}).") from error
    try:
        yield
    finally:
        lock.release()


def kept_from_us(path: Path, *, writing: bool = False) -> str:
    """A sentence where `path` is there but another account keeps it from being read (or written) by ours, else ""."""
    if _is_open_to_us(path, writing):
        return ""
    for place in (*reversed(path.parents), path):
        try:
            status = place.stat()
        except OSError:
            return ""  # it is not there
        folder = stat.S_ISDIR(status.st_mode)
        needed = [(os.X_OK if folder and place != path else os.R_OK | (os.X_OK if folder else 0), "read")]
        # What is ours and marked as read-only may be replaced by us; another's may not.
        if writing and place == path and status.st_uid != _ourselves():
            needed.append((os.W_OK, "changed"))
        for mode, what in needed:
            if not os.access(place, mode):
                return (
                    f"{place} belongs to {_name(status.st_uid)} and cannot be {what} by this account. It is left as it "
                    "is; ask for the rights (chmod -R g+rwX, where both accounts are in its group)."
                )
    return ""


def _is_open_to_us(path: Path, writing: bool) -> bool:
    """Whether nothing keeps us from `path`, at one glance at it: what can be read lies in folders that can be entered.

    A list of runs asks of dozens of files, each of which lies in the same ten folders.
    """
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return os.access(path.parent, os.X_OK)  # it is not there; else a folder above may hide it
    except OSError:
        return False
    readable = os.access(path, os.R_OK | (os.X_OK if stat.S_ISDIR(status.st_mode) else 0))
    return readable and (not writing or status.st_uid == _ourselves() or os.access(path, os.W_OK))


def kept_within(folder: Path, *, writing: bool = False) -> str:
    """As `kept_from_us`, of the first thing in a folder, itself included, of which it holds."""
    if why := kept_from_us(folder, writing=writing):
        return why
    for place, folders, names in os.walk(folder):
        for name in (*folders, *names):
            if why := kept_from_us(Path(place) / name, writing=writing):
                return why
    return ""


def _ourselves() -> int:
    return os.geteuid() if hasattr(os, "geteuid") else 0


def _name(uid: int) -> str:
    if pwd is not None:
        with contextlib.suppress(KeyError):
            return pwd.getpwuid(uid).pw_name
    return f"the account {uid}"
