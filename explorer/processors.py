"""How many processors this process may use."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

CPU_QUOTA = Path("/sys/fs/cgroup/cpu.max")  # of a container


def usable_processors() -> int:
    """How many processors this process may use, by its affinity and its container's quota; at least 1."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with contextlib.suppress(OSError, ValueError):
        quota, period = CPU_QUOTA.read_text().split()
        if quota != "max":  # microseconds of processor time in each period
            count = min(count, int(quota) // int(period))
    return max(1, count)
