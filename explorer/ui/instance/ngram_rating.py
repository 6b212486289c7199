"""Texts rated now by a stored run's decile edges, through the counter that the run used."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import streamlit as st

from explorer.errors import CountError, ExplorerError
from explorer.popularity import counters, indexes, ips, measure, ngrams
from explorer.popularity import manifest as manifests
from explorer.popularity.counter import Document, TextNotEncoded
from explorer.popularity.ips import IPS, DecileEdges
from explorer.popularity.ngrams import Ngram, TextNgrams
from explorer.records import Count
from explorer.settings import Settings
from explorer.studies.popularity import queries as popularity_queries
from explorer.ui import layout, resources, run_names, texts

T = TypeVar("T")
MOST_SMALL = 3000  # instances whose n-grams are counted while a visitor waits
OWN_TEXTS = "starter_pairs"  # whose deciles rate a text of the visitor's own where no stored ones fit
REMEMBERED = 600.0  # seconds


@dataclass(frozen=True, slots=True)
class Source:
    """Decile edges and the name of the index in which their counts, and so ours, are made."""

    index: str  # as a study's setting names it
    edges: DecileEdges

    @property
    def place(self) -> str:
        """What the corpus is called."""
        return indexes.title_of(self.index)

    @property
    def title(self) -> str:
        """What a reader chooses by: first what tells several apart, since the rest may be cut."""
        reference = run_names.reference_title(self.edges.reference).removeprefix("all options of ")
        return f"{reference} · {self.edges.n}-grams in {self.place}"


@dataclass(frozen=True, slots=True)
class RatedNgram:
    """An n-gram as text and ids, its count (nan with a reason) and its popularity from 1 to 10."""

    text: str
    ids: Ngram
    start: int
    count: float
    popularity: float
    reason: str


@dataclass(frozen=True, slots=True)
class Rated:
    """A text in the index's tokens, the popularity of each token (nan where none), its n-grams, and its IPS."""

    text: str
    tokens: tuple[str, ...]
    popularity: tuple[float, ...]
    ngrams: tuple[RatedNgram, ...]
    n: int
    ips: IPS

    def covering(self, place: int) -> list[RatedNgram]:
        """The n-grams that cover a token, from left to right."""
        return [ngram for ngram in self.ngrams if ngram.start <= place < ngram.start + self.n]


@dataclass(frozen=True, slots=True)
class Stored:
    """The decile edges of stored runs that fit the indexes as they are here, by run, and why others do not."""

    sources: Mapping[str, Source]
    unfit: str = ""


def stored(benchmark: str, model: str) -> Stored:
    """The decile edges of this benchmark's runs (of all, for ""), those of the model's own first.

    Runs with the same index and the same edges stand once. Of a model whose training text is here, those that were
    counted in another text are left out.
    """
    runs = resources.ask_store(popularity_queries.runs)
    if benchmark:
        runs = runs[runs["benchmark"] == benchmark]
    runs = runs.assign(own=runs["model"] == model).sort_values("own", ascending=False, kind="stable")
    sources: dict[str, Source] = {}
    unfit: list[str] = []
    for run in runs.drop_duplicates(["index_name", "edges"]).to_dict("records"):
        try:
            source = Source(str(run["index_name"]), DecileEdges.from_json(run["edges"]))
            key = counters.known_key(source.index, resources.settings())
        except ExplorerError as error:  # damaged edges, or an index that is not on this machine
            unfit.append(str(error))
            continue
        if key in ("", source.edges.index):
            sources[str(run["run_id"])] = source
        else:
            unfit.append(f"stored runs were counted in {source.edges.index}, and the index here is {key}.")
    if indexes.is_planted(indexes.training_corpus(model) or ""):
        elsewhere = len(sources)
        sources = {run: source for run, source in sources.items() if indexes.is_pretraining_data(source.index, model)}
        if elsewhere and not sources:
            unfit = ["stored runs were counted in an index that is not this model's training text."]
    return Stored(sources, unfit[0] if unfit and not sources else "")


def can_count(benchmark: str) -> bool:
    """Whether a benchmark is small enough, and here, for its n-grams to be counted while a visitor waits."""
    return benchmark.startswith("starter_") or (
        texts.are_here(benchmark) and len(resources.instances(benchmark).instances) <= MOST_SMALL
    )


def is_built(index: str) -> bool:
    """Whether the cache has an index of this name."""
    return (resources.settings().indexes / index / manifests.FILE).is_file()


def own_source(benchmark: str) -> Source:
    """The edges of a whole benchmark in the corpus of the glass box, counted now; of the starter pairs, for ""."""
    return patiently(indexes.GLASSBOX, lambda: _own_source(benchmark or OWN_TEXTS, resources.settings()))


@st.cache_resource(max_entries=8, show_spinner="Counting the benchmark's n-grams in the corpus of the glass box")
def _own_source(benchmark: str, settings: Settings) -> Source:
    chosen = resources.instances(benchmark).instances
    reference = f"all options of {len(chosen):,} instances of {layout.benchmark_title(benchmark)}"
    counter = resources.resources().counter(indexes.GLASSBOX)
    n = indexes.SMALL[indexes.GLASSBOX]
    return Source(indexes.GLASSBOX, measure.survey_edges(counter, chosen, reference=reference, n=n))


def rate(texts: Sequence[str], source: Source) -> tuple[Rated, ...]:
    """The texts rated; CountError where the index cannot be asked."""
    question = (tuple(texts), source.index, source.edges.to_json(), resources.settings())
    return patiently(source.index, lambda: _rate(*question))


def patiently(index: str, ask: Callable[[], T]) -> T:
    """What `ask` gives; what is asked of an index that has failed fails at once, until `ask_again` or for a while.

    So a service that is away, or an index that cannot be built, does not hold up every click.
    """
    troubles = _troubles()
    since, why = troubles.get(index, (-math.inf, ""))
    if time.monotonic() - since < REMEMBERED:
        raise CountError(why)
    try:
        if index in _answered():
            return ask()
        with st.spinner("Opening the n-gram index; a small one is built the first time"):
            answered = ask()
    except CountError as error:
        if not isinstance(error, TextNotEncoded):  # which is the text's fault
            troubles[index] = (time.monotonic(), str(error))
        raise
    _answered().add(index)
    return answered


def ask_again() -> None:
    """Forgets which indexes have failed."""
    _troubles().clear()


@st.cache_resource(show_spinner=False)
def _troubles() -> dict[str, tuple[float, str]]:
    """Index → when it failed, and why."""
    return {}


@st.cache_resource(show_spinner=False)
def _answered() -> set[str]:
    """The indexes that have answered."""
    return set()


@st.cache_data(max_entries=256, show_spinner=False)
def _rate(texts: tuple[str, ...], index: str, edges_json: str, settings: Settings) -> tuple[Rated, ...]:
    edges = DecileEdges.from_json(edges_json)
    counter = resources.resources().counter(index)
    rated, counts = measure.rate_texts(counter, texts, edges)
    ngrams.require_answers(counts)  # an outage is told, and not remembered
    return tuple(
        _rated(text, ids_of_text, score, counts, edges, counter.decode(ids_of_text.ids))
        for text, (ids_of_text, score) in zip(texts, rated, strict=True)
    )


def _rated(
    text: str,
    ids_of_text: TextNgrams,
    score: IPS,
    counts: Mapping[Ngram, Count],
    edges: DecileEdges,
    tokens: tuple[str, ...],
) -> Rated:
    known = [counts[ngram] for ngram in ids_of_text.ngrams]
    ratings = ips.rate_counts([rated_ngram.count for rated_ngram in known], edges).tolist()
    # A repeated n-gram covers tokens at each of its places, so places are walked, not distinct n-grams.
    by_ids = {
        ngram: (rated_ngram, rating)
        for ngram, rated_ngram, rating in zip(ids_of_text.ngrams, known, ratings, strict=True)
    }
    placed = []
    for start in range(len(ids_of_text.ids) - ids_of_text.n + 1):
        ids = ids_of_text.ids[start : start + ids_of_text.n]
        count, rating = by_ids[ids]
        words = "".join(tokens[start : start + ids_of_text.n])
        placed.append(RatedNgram(words, ids, start, count.count, rating, count.reason))
    return Rated(
        text=text,
        tokens=tokens,
        popularity=ips.token_popularity(ids_of_text, counts, edges),
        ngrams=tuple(placed),
        n=edges.n,
        ips=score,
    )


def documents(index: str, ids: Sequence[int], limit: int = 3) -> list[Document]:
    """The first places of the corpus that hold the n-gram."""
    return _documents(index, tuple(ids), limit, resources.settings())


@st.cache_data(max_entries=64, show_spinner="Looking the n-gram up in the corpus")
def _documents(index: str, ids: tuple[int, ...], limit: int, settings: Settings) -> list[Document]:
    counter = resources.resources().counter(index)
    return list(counter.documents(ids, limit))  # type: ignore[attr-defined]


def shown_count(value: float) -> str:
    """A count with its thousands marked, or "unknown"."""
    return "unknown" if math.isnan(value) else f"{value:,.0f}"
