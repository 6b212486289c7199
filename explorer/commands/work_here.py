"""What a process that does runs shows and needs: progress lines of preparations, and parts made on a cluster."""

from __future__ import annotations

from typing import Any

from explorer.commands import common


def on_cluster(*work: Any) -> None:
    from explorer.runs.compute_target import set_up_ray

    set_up_ray()
    from explorer.cluster import ray_parts

    ray_parts.make_parts(*work)


def preparation_lines() -> Any:
    """A progress line for each part that has to be fetched, converted or loaded first."""
    lines: dict[str, common.ProgressLine] = {}

    def show_progress(part: str, done: int, total: int) -> None:
        lines.setdefault(part, common.ProgressLine(f"preparing {part}"))(done, total)

    return show_progress
