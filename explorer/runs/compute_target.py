"""Where a run is done: on this machine, or on a Ray cluster. It stands in the run's where.json, not in its id."""

from __future__ import annotations

import dataclasses
import importlib.util
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from explorer.errors import UsageError
from explorer.runs import bucket, files
from explorer.runs.folder import RunFolder
from explorer.runs.own_cards import AUTO, cards_of_auto

RAY = "2.60.0"  # the version in requirements-cluster.txt


@dataclass(frozen=True, slots=True)
class ComputeTarget:
    """The place of a run's work; all but `cluster` matter on a cluster only."""

    cluster: str = ""  # "" = this machine, auto, or an address: host:6379, ray://host:10001
    to: str = ""  # a bucket for the parts, s3://bucket/prefix; "" = the run's folder, on a disk that all nodes share
    workers: int = 0  # at most that many at once; 0 = as many as there is room for
    cpus: int = 0  # processors of a worker where there is no GPU; 0 = 4, or as many as the largest node has
    shard: bool = False  # one model over all GPUs of this machine

    @property
    def in_words(self) -> str:
        """The place as a list or a log names it."""
        if not self.cluster:
            return "this machine, one model over its GPUs" if self.shard else "this machine"
        into = f", parts to {self.to}" if self.to else ""
        return f"the Ray cluster {self.cluster}{into}"


THIS_MACHINE = ComputeTarget()


def checked_target(where: ComputeTarget) -> ComputeTarget:
    """The place itself; UsageError where it cannot be meant or its packages are missing."""
    if not where.cluster:
        if dataclasses.replace(where, shard=False) != THIS_MACHINE:
            raise UsageError(
                "--to, --workers and --cpus are for a run on a cluster. Give --cluster auto or an address."
            )
        return where
    if where.shard:
        raise UsageError("--shard spreads one model over the GPUs of this machine. Leave --cluster out.")
    if not re.fullmatch(r"auto|(ray://)?[\w.-]+:\d{1,5}", where.cluster):
        raise UsageError(
            f"--cluster is {where.cluster!r}, expected auto, here, or an address like 10.0.0.1:6379 or "
            "ray://head:10001."
        )
    for name in ("workers", "cpus"):
        if getattr(where, name) < 0:
            raise UsageError(f"--{name} is {getattr(where, name)}, expected a positive number, or 0 for the default.")
    if where.to or where.cluster != AUTO or not cards_of_auto(where.workers):
        require_ray()
    if where.to:
        bucket.check_url(where.to)
    return where


def require_ray() -> None:
    """UsageError where the package is missing."""
    if importlib.util.find_spec("ray") is None:
        raise UsageError(
            f"A run on a cluster needs the package ray, which is not installed. `pip install ray=={RAY}`, "
            "or leave --cluster out."
        )


def set_up_ray() -> None:
    """What Ray reads when it is imported: no report to its makers, and its token where there is one."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    token = os.environ.get("RAY_AUTH_TOKEN") or os.environ.get("RAY_AUTH_TOKEN_PATH")
    if token or (Path.home() / ".ray" / "auth_token").exists():
        os.environ.setdefault("RAY_AUTH_MODE", "token")


def save_target(folder: RunFolder, where: ComputeTarget) -> None:
    """Says in the run's folder where its next worker shall do it."""
    files.write_json(folder.path / "where.json", dataclasses.asdict(where))


def read_target(folder: RunFolder) -> ComputeTarget:
    """Where a run is to be done; on this machine where nothing else was said."""
    fields = files.read_json(folder.path / "where.json")
    return ComputeTarget(
        cluster=_text(fields.get("cluster")),
        to=_text(fields.get("to")),
        workers=_whole_number(fields.get("workers")),
        cpus=_whole_number(fields.get("cpus")),
        shard=fields.get("shard") is True,
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _whole_number(value: Any) -> int:
    return value if isinstance(value, int) else 0
