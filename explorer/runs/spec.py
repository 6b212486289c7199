"""A run's spec as canonical JSON, and the id that follows from it."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from explorer.errors import RunError
from explorer.records import RunSpec


def to_json(spec: RunSpec) -> str:
    """The spec as canonical JSON: sorted keys, no blanks."""
    return json.dumps(dataclasses.asdict(spec), sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def from_json(text: str) -> RunSpec:
    """The spec that `to_json` wrote; RunError where the text is something else."""
    try:
        fields: Mapping[str, Any] = json.loads(text)
        known = {field.name for field in dataclasses.fields(RunSpec)}
        if not isinstance(fields, dict) or set(fields) - known:
            raise ValueError("unknown fields " + ", ".join(sorted(set(fields) - known)))
        wrong = [name for name, value in fields.items() if not _fits(name, value)]
        if wrong:
            raise ValueError(f"{wrong[0]} is {str(fields[wrong[0]])[:40]!r}")
        return RunSpec(**{**fields, "suites": tuple(fields["suites"]), "uses": tuple(fields["uses"])})
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise RunError(
            f"This spec.json is not a run's spec ({error}). Start the same run again: what it finished is kept."
        ) from error


def _fits(name: str, value: Any) -> bool:
    if name in ("suites", "uses"):
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    return isinstance(value, _KINDS.get(name, str))


_KINDS: Mapping[str, Any] = {"version": int, "seed": int, "limit": int | None, "settings": dict}


def run_id(spec: RunSpec) -> str:
    """The study's name and the first 12 hex digits of the spec's SHA-256: the same request has the same id."""
    return f"{spec.study}-{hashlib.sha256(to_json(spec).encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"
