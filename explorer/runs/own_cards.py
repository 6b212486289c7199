"""The GPUs of this machine on which a run with `--cluster auto` is done by processes of its own, without Ray.

Where a model may be in a process of its own (`Study.may_be_apart`), one process prepares and stores parts as on one
GPU, and each GPU has a process with the model (`scoring/model_cards.py`). Ray would start seconds later, and give each
GPU one process that does all.

This module imports next to nothing.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from explorer.scoring import own_process

if TYPE_CHECKING:
    from explorer.runs.compute_target import ComputeTarget

AUTO = "auto"  # the cluster that Ray finds, else this machine
PROCESSES = Path("/proc")
HEAD = "gcs_server"  # the process by which Ray knows that a cluster is running on this machine


def cards_of(where: ComputeTarget, model: str, *, may_be_apart: bool) -> tuple[str, ...]:
    """Those that a run for this place uses without Ray; () where it is for one GPU, or for Ray."""
    if where.cluster != AUTO or where.to or not may_be_apart or "://" in model:
        return ()
    return cards_of_auto(where.workers)


def cards_of_auto(workers: int = 0) -> tuple[str, ...]:
    """The GPUs of this machine, `workers` at most where it is given; () where there are not two, or Ray is running."""
    cards = own_process.cards()
    cards = cards[:workers] if workers else cards
    return cards if len(cards) > 1 and not _is_ray_running() else ()


def _is_ray_running() -> bool:
    return bool(os.environ.get("RAY_ADDRESS")) or any(map(_is_head, PROCESSES.glob("[0-9]*/comm")))


def _is_head(path: Path) -> bool:
    with contextlib.suppress(OSError):  # a process that has ended meanwhile
        return path.read_text(encoding="utf-8", errors="replace").strip() == HEAD
    return False
