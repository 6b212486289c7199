"""Runs that were not done here say so wherever they are shown: whose answers they are, and the hash of the file."""

from __future__ import annotations

import dataclasses
import json
import os

from explorer import display
from explorer.errors import RunError
from explorer.records import RunSpec
from explorer.runs import files, validation
from explorer.runs import spec as specs
from explorer.runs.folder import RunFolder


def label(spec: RunSpec | str) -> str:
    """A mark such as "imported: Inspect 0.3.1, SHA-256 1a2b3c4d" for a spec (or its JSON); "" for a run of our own."""
    fields = dataclasses.asdict(spec) if isinstance(spec, RunSpec) else json.loads(spec)
    settings, data = fields.get("settings") or {}, fields.get("data_hash") or ""
    source = settings.get("imported")
    if not source:
        return ""
    # Predictions for an ontology have the hash of their file in the data's place.
    digest = str(settings.get("log") or data)[:8]
    named = "" if source is True else f": {source}"
    return f"imported{named}, SHA-256 {digest}"


def short_label(spec: RunSpec | str) -> str:
    """The mark for a sentence or a figure's key: "imported", with the harness where one is known, without the hash."""
    return label(spec).partition(", SHA-256")[0]


def source(folder: RunFolder) -> str:
    """Where an imported run came from, in words; "" for a run that was done here."""
    return validation.progress(files.read_json(folder.path / "progress.json")).imported


def refuse_to_resume(folder: RunFolder) -> None:
    """RunError where going on with a run from elsewhere would read a file here or ask a server, on its maker's word.

    Who asks for the same run himself names the file or the server, and what was finished is kept.
    """
    spec = folder.spec
    if not (source(folder) or _is_of_another(folder)):
        return
    from explorer.runs import compute_target as places

    cluster = places.read_target(folder).cluster if _is_of_another(folder) else ""
    if named := specs.reads_or_asks(spec) or cluster.removeprefix(places.AUTO):
        raise RunError(
            f"{folder.run_id} was asked for elsewhere, and going on with it would read or ask {named[:200]!r}. If that "
            f"is meant, ask for it here: `python -m explorer run {spec.study}` with the same model and benchmark; what "
            "is finished is kept."
        )


def _is_of_another(folder: RunFolder) -> bool:
    """Whether another account of this machine wrote the spec."""
    return hasattr(os, "getuid") and (folder.path / "spec.json").stat().st_uid != os.getuid()


def remarks(folder: RunFolder) -> list[str]:
    """What a reader of an imported run should know: how epochs became one verdict, what the log left out."""
    origin = folder.environment.get("imported")
    listed = origin.get("remarks") if isinstance(origin, dict) else None
    return [str(remark) for remark in listed] if isinstance(listed, list) else []


def marked_name(name: str, spec: RunSpec | str) -> str:
    """The name of a run or its model, with the mark where it is imported."""
    return display.remarked(name, label(spec))
