"""How much memory is free on this machine."""

from __future__ import annotations

import contextlib
from pathlib import Path

CGROUP = Path("/sys/fs/cgroup")


def free_ram() -> int | None:
    """Bytes of memory a process may still take, the container's own limit included; None where that is unknown."""
    try:
        import psutil
    except ImportError:
        return None
    free = int(psutil.virtual_memory().available)
    limit = _free_in_container()
    return free if limit is None else min(free, limit)


def _free_in_container() -> int | None:
    with contextlib.suppress(OSError, ValueError):
        limit = (CGROUP / "memory.max").read_text().strip()
        if limit != "max":
            used = int((CGROUP / "memory.current").read_text())
            # The page cache is counted as used but is given back when needed.
            stat = dict(line.split() for line in (CGROUP / "memory.stat").read_text().splitlines())
            return max(0, int(limit) - used + int(stat.get("inactive_file", 0)) + int(stat.get("active_file", 0)))
    return None
