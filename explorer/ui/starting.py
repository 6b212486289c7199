"""A run that a page starts, by the rule for whoever looks at it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer import admission
from explorer.errors import UsageError
from explorer.runs import compute_target as places
from explorer.runs import queue, request
from explorer.runs.compute_target import THIS_MACHINE, ComputeTarget
from explorer.ui import resources, visitor


def submit(study: str, model: str, benchmark: str, where: ComputeTarget = THIS_MACHINE, **settings: Any) -> str:
    """The id of the run, queued; an ExplorerError where it cannot be, or not by this visitor."""
    trusted = visitor.is_trusted()
    check(model, settings.get("settings") or {})
    if not trusted and (where != THIS_MACHINE):
        raise UsageError("Only the owner of the app may name a cluster or a bucket. Leave the place of the run empty.")
    spec = request.make_spec(resources.resources(), study=study, model=model, benchmark=benchmark, **settings)
    return queue.submit(resources.settings(), spec, where, confined=not trusted)


def resume(run_id: str) -> None:
    """Goes on with a run; a visitor may not where its place was none of this machine."""
    settings = resources.settings()
    folder = queue.RunFolder.find(settings.runs, run_id)
    if not visitor.is_trusted():
        check(folder.spec.model, folder.spec.settings)
        if places.read_target(folder).cluster:
            raise UsageError("Only the owner of the app may go on with a run on a cluster.")
    queue.resume(settings, run_id)


def check(model: str, settings: Mapping[str, Any]) -> None:
    """An error where a name in a request may not be used by whoever looks, or was not said yes to."""
    visitor.admit(model)
    for value in settings.values():
        for name in str(value).split(",") if isinstance(value, str) else ():
            if admission.is_address(name.strip()) or "/" in name or "\\" in name:
                visitor.admit(name.strip())
