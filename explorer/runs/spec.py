"""A run's spec as canonical JSON, and the id that follows from it."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from explorer import plain_json
from explorer.errors import RunError
from explorer.records import RunSpec
from explorer.runs import validation


def to_json(spec: RunSpec) -> str:
    """The spec as canonical JSON: sorted keys, no blanks."""
    return json.dumps(dataclasses.asdict(spec), sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def from_json(text: str) -> RunSpec:
    """The spec that `to_json` wrote; RunError where the text is something else."""
    try:
        fields = validation.spec_fields(plain_json.read(text))
        return RunSpec(**{**fields, "suites": tuple(fields["suites"]), "uses": tuple(fields["uses"])})
    except (ValueError, TypeError) as error:
        raise RunError(
            f"This spec.json is not a run's spec ({error}). Start the same run again: what it finished is kept."
        ) from error


def run_id(spec: RunSpec) -> str:
    """The study's name and the first 12 hex digits of the spec's SHA-256: the same request has the same id."""
    return f"{spec.study}-{hashlib.sha256(to_json(spec).encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def reads_or_asks(spec: RunSpec) -> str:
    """The file, own table or server that doing this run would read or ask, or ""; published names are none of them."""
    from explorer.benchmarks import BENCHMARKS
    from explorer.benchmarks.tables.table import PREFIX
    from explorer.ontologies.as_benchmark import NAMES
    from explorer.scoring import hf_source, http

    # What a person's own table holds must be known to who asks for it.
    imported = spec.benchmark.startswith(PREFIX) and len(spec.data_hash) == 64
    if not imported and spec.benchmark not in BENCHMARKS and spec.benchmark not in NAMES:
        return spec.benchmark
    # Weights of a folder are compared with what was asked before anything is made of them.
    is_weighed = hf_source.is_folder(spec.model) and bool(spec.weights)
    # A system prompt is said to the model, whatever it looks like.
    settings = {name: value for name, value in spec.settings.items() if name != "system"}
    for text in [*([] if is_weighed else [spec.model]), *_texts(settings)]:
        if http.is_endpoint(text) or "://" in text or text.startswith((".", "/", "~")) or "\\" in text:
            return text
    return spec.model if spec.model and not is_weighed and hf_source.is_folder(spec.model) else ""


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(item)
