"""What is on this machine: benchmarks with their files, models with their weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from explorer import benchmarks as registry
from explorer import languages
from explorer.benchmarks import sources
from explorer.errors import BenchmarkError
from explorer.figures.model_names import model_title
from explorer.scoring import catalog, hf_source, http, owner_models
from explorer.settings import Settings
from explorer.ui import resources, visitor

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
ADDED = "models:added"  # in the session's state: what a visitor added
FIELDS = {"formal": "formal (grammar)", "functional": "functional (meaning)"}


@dataclass(frozen=True, slots=True)
class KnownBenchmark:
    """A benchmark and how many of its files are on this machine."""

    name: str
    title: str
    kind: str
    field: str
    language: str
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
                language=benchmark.language,
                license=benchmark.license,
                note=benchmark.note,
                files=len(sources.needed_files(benchmark, benchmark.default_splits)),
                missing=len(registry.missing_files(benchmark, settings)),
            )
        )
    return rows


def benchmark_table(known: Sequence[KnownBenchmark]) -> pd.DataFrame:
    """The benchmarks as a table in plain words, those on this machine first."""
    known = sorted(known, key=lambda row: not row.here)
    return pd.DataFrame(
        {
            "name": [row.name for row in known],
            "title": [row.title for row in known],
            "kind": [KINDS[row.kind] for row in known],
            "field": [FIELDS.get(row.field, "") for row in known],
            "language": [languages.in_words(row.language) for row in known],
            "state": [_state(row) for row in known],
            "license": [row.license for row in known],
            "note": [row.note for row in known],
        }
    )


def models() -> list[ModelHere]:
    """The catalog's causal models: those on this machine first, the embedded ones before the others."""
    return _models(resources.settings())


@st.cache_data(ttl=20, max_entries=4, show_spinner=False)
def _models(settings: Settings) -> list[ModelHere]:
    rows = [
        ModelHere(
            id=model.id,
            title=model.title,
            parameters=model.parameters,
            license=model.license,
            corpus=model.corpus,
            ready=hf_source.is_here(model, settings),
            embedded=model.embedded is not None,
        )
        for model in catalog.MODELS.values()
        if model.kind == "causal"
    ]
    return sorted(rows, key=lambda row: not row.ready)


def added_models() -> list[str]:
    """The names added by hand: the owner's from the file, a visitor's from his own session.

    A visitor sees of the owner's those of the hub alone: an address or a folder is the owner's business.
    """
    owned = owner_models.read(resources.settings())
    if visitor.is_trusted():
        return owned
    public = [name for name in owned if not http.is_endpoint(name) and not hf_source.is_folder(name)]
    return list(dict.fromkeys([*public, *st.session_state.get(ADDED, ())]))


def add_model(name: str) -> None:
    """Puts a model on the list: the owner's for good, a visitor's for this session."""
    if visitor.is_trusted():
        owner_models.add(name, resources.settings())
    else:
        st.session_state[ADDED] = [*st.session_state.get(ADDED, ()), name]


def remove_model(name: str) -> None:
    """Takes a model that was added by hand off the list."""
    if visitor.is_trusted():
        owner_models.remove(name, resources.settings())
    st.session_state[ADDED] = [model_name for model_name in st.session_state.get(ADDED, ()) if model_name != name]


def model_names() -> list[str]:
    """The models that the picker offers: those here, those added by hand, then those that would be fetched first."""
    known = models()
    ready, absent = [row.id for row in known if row.ready], [row.id for row in known if not row.ready]
    return list(dict.fromkeys([*ready, *added_models(), *absent]))


def picker_titles(names: Sequence[str]) -> dict[str, str]:
    """What the picker calls these models, with a mark where one would have to be fetched."""
    absent = {row.id for row in models() if not row.ready}
    return {name: f"{model_title(name)} (not here)" if name in absent else model_title(name) for name in names}


def _state(row: KnownBenchmark) -> str:
    if row.here:
        return "on this machine"
    if row.missing < row.files:
        return f"{row.missing} of {row.files} files missing"
    return "not here: downloaded when first used"
