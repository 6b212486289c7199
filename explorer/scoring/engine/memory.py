"""How much memory is free on this machine, and how many processors this process may use."""

from __future__ import annotations

import contextlib
import os
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


def usable_processors() -> int:
    """How many processors this process may use, by its affinity and its container's quota; at least 1."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with contextlib.suppress(OSError, ValueError):
        quota, period = (CGROUP / "cpu.max").read_text().split()
        if quota != "max":  # microseconds of processor time in each period
            count = min(count, int(quota) // int(period))
    return max(1, count)
