"""The flags of `run` and `resume` that say where the work is done."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from explorer.runs.compute_target import ComputeTarget


def add(parser: argparse.ArgumentParser) -> None:
    """--cluster and what goes with it."""
    group = parser.add_argument_group("on several GPUs or a cluster (docs/SCALING.md)")
    group.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="all GPUs: auto (those of the running Ray cluster, else of this machine), or those of host:6379 or "
        "ray://host:10001; here = none",
    )
    group.add_argument(
        "--shard",
        choices=("auto", "none"),
        help="auto: one model over all GPUs of this machine, for one that is too large for a single card",
    )
    group.add_argument("--to", metavar="URL", default="", help="send the parts to a bucket, s3://bucket/prefix")
    group.add_argument("--workers", type=int, default=0, metavar="N", help="at most N at once (default: one a GPU)")
    group.add_argument("--cpus", type=int, default=0, metavar="N", help="processors of a worker without a GPU (4)")


def place_from(args: argparse.Namespace) -> ComputeTarget | None:
    """The place that the flags name, checked; none where no flag was given."""
    from explorer.runs.compute_target import ComputeTarget, checked_target

    if args.cluster is None and args.shard is None and not (args.to or args.workers or args.cpus):
        return None
    cluster = args.cluster if args.cluster not in (None, "here") else ""
    return checked_target(ComputeTarget(cluster, args.to, args.workers, args.cpus, args.shard == "auto"))
