"""What is on this machine: benchmarks with their files, models with their weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from explorer import benchmarks as registry
from explorer.benchmarks import sources
from explorer.errors import BenchmarkError
from explorer.scoring import catalog, embedded
from explorer.settings import Settings
from explorer.ui import resources

KINDS = {
    "pair": "minimal pairs",
    "choice": "choices",
    "cloze": "last words",
    "labelled": "labeled texts",
    "rating": "rated sentences",
    "regions": "regions of sentences",
    "concept": "concepts",
    "text": "texts",
}
FIELDS = {"formal": "formal (grammar)", "functional": "functional (meaning)"}


@dataclass(frozen=True, slots=True)
class KnownBenchmark:
    """A benchmark and how many of its files are on this machine."""

    name: str
    title: str
    kind: str
    field: str
    license: str
    note: str
    files: int
    missing: int

    @property
    def here(self) -> bool:
        return not self.missing


@dataclass(frozen=True, slots=True)
class ModelHere:
    """A model of the catalog and whether its weights are on this machine."""

    id: str
    title: str
    parameters: int
    license: str
    corpus: str
    ready: bool
    embedded: bool


def benchmarks() -> list[KnownBenchmark]:
    """Every benchmark with the state of its files."""
    return _benchmarks(resources.settings())


# Files come and go while the app runs; the look itself takes some milliseconds a benchmark.
@st.cache_data(ttl=20, max_entries=4, show_spinner=False)
def _benchmarks(settings: Settings) -> list[KnownBenchmark]:
    rows = []
    for name in registry.names(settings):
        try:
            benchmark = registry.find(name, settings)
        except BenchmarkError:  # an import whose folder is damaged
            continue
        rows.append(
            KnownBenchmark(
                name=name,
                title=benchmark.title,
                kind=benchmark.kind,
                field=benchmark.field,
                license=benchmark.license,
                note=benchmark.note,
                files=len(sources.needed(benchmark, benchmark.default_splits)),
                missing=len(registry.missing(benchmark, settings)),
            )
        )
    return rows


def benchmark_table(known: Sequence[KnownBenchmark]) -> pd.DataFrame:
    """The benchmarks as a table in plain words."""
    return pd.DataFrame(
        {
            "name": [row.name for row in known],
            "title": [row.title for row in known],
            "kind": [KINDS[row.kind] for row in known],
            "field": [FIELDS.get(row.field, "") for row in known],
            "state": [_state(row) for row in known],
            "license": [row.license for row in known],
            "note": [row.note for row in known],
        }
    )


def models() -> list[ModelHere]:
    """The catalog's causal models, the embedded ones first."""
    settings = resources.settings()
    return [
        ModelHere(
            id=model.id,
            title=model.title,
            parameters=model.parameters,
            license=model.license,
            corpus=model.corpus,
            ready=model.embedded is not None and embedded.is_ready(model.id, settings),
            embedded=model.embedded is not None,
        )
        for model in catalog.MODELS.values()
        if model.kind == "causal"
    ]


def _state(row: KnownBenchmark) -> str:
    if row.here:
        return "on this machine"
    if row.missing < row.files:
        return f"{row.missing} of {row.files} files missing"
    return "downloaded when first used"
