"""Runs that were not done here say so wherever they are shown: whose answers they are, and the hash of the file."""

from __future__ import annotations

import dataclasses
import json

from explorer.records import RunSpec
from explorer.runs import files
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


def source(folder: RunFolder) -> str:
    """Where an imported run came from, in words; "" for a run that was done here."""
    told = files.read_json(folder.path / "progress.json").get("imported")
    return str(told) if told else ""


def remarks(folder: RunFolder) -> list[str]:
    """What a reader of an imported run should know: how epochs became one verdict, what the log left out."""
    told = folder.environment.get("imported")
    listed = told.get("remarks") if isinstance(told, dict) else None
    return [str(one) for one in listed] if isinstance(listed, list) else []


def named(name: str, spec: RunSpec | str) -> str:
    """The name of a run or its model, with the mark where it is imported."""
    mark = label(spec)
    return f"{name} ({mark})" if mark else name
