"""How popular a concept is: counts from a file, from a pre-training index, or from a search service.

    from_file           the counts of a table
    cooccurrences       documents of an n-gram index in which label and id stand near each other (approximate)
    google              Google's estimate of pages with "label" and id, as Bombieri et al. 2024 counted (until 2027)
    europe_pmc          articles in Europe PMC with both

A count that could not be had is nan with a reason. Answers of services are kept on disk, so that a broken-off round
goes on where it stopped.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlencode

from explorer import fetch, numbers
from explorer.errors import CountError, OntologyError
from explorer.fetch import PATIENCE, Patience, WebError
from explorer.ontologies import table
from explorer.ontologies.contents import read_text
from explorer.records import Concept, Count
from explorer.settings import Settings

# Google closes this service then, and takes no new customers. What can be asked after it stands in INSTEAD.
CLOSES = "January 1, 2027"
INSTEAD = "counts in a file, in an n-gram index, or in Europe PMC"
GOOGLE = "https://www.googleapis.com/customsearch/v1"
EUROPE_PMC = "https://www.ebi.ac.uk/europepmc/webservices/rest/search"

# After these the next concept would fare no better: a bad key, a used-up quota, no network.
HOPELESS_STATUS = frozenset({400, 401, 403, 429})
HOPELESS_KIND = frozenset({"offline", "unreachable", "address"})

Progress = Callable[[int, int], None]  # concepts done, concepts in all


@dataclass(frozen=True, slots=True)
class WebCount:
    """How often a concept's label and id were found together; nan with a reason where that is not known."""

    id: str
    count: float
    approx: bool = False
    reason: str = ""


class TogetherCounter(Protocol):
    """What is asked of an n-gram index."""

    def encode(self, texts: Sequence[str]) -> list[tuple[int, ...]]: ...

    def count_together(self, clauses: Sequence[Sequence[tuple[int, ...]]]) -> Count:
        """In how many places an n-gram of each clause stands within the index's window (infini-gram's count_cnf)."""


def with_counts(concepts: Sequence[Concept], counts: Mapping[str, float]) -> list[Concept]:
    """The concepts with these web counts; nan for those that have none."""
    return [dataclasses.replace(concept, web_count=counts.get(concept.id, math.nan)) for concept in concepts]


def from_file(path: Path) -> dict[str, float]:
    """The web count of each id in a table: the column that its header names, the fourth, or the only number."""
    if not path.is_file():
        raise OntologyError(f"There is no file {path}, expected a table id;label;...;count. Check the path.")
    contents = table.read(read_text(path), path.name)
    counts = {concept.id: concept.web_count for concept in contents.concepts}
    if "web count" not in contents.columns and contents.columns[-1] == "annotations":
        counts = {concept.id: concept.annotations for concept in contents.concepts}
    if all(math.isnan(count) for count in counts.values()):
        raise OntologyError(
            f"{path.name} has no counts; its columns were read as {', '.join(contents.columns)}. "
            "Put a column of numbers behind the label, or name one web count in a header line."
        )
    return counts


def cooccurrences(
    concepts: Sequence[Concept], counter: TogetherCounter, progress: Progress | None = None
) -> list[WebCount]:
    """Places in an n-gram index where label and id stand near each other; large counts are sampled by the index."""
    labels = counter.encode([concept.label for concept in concepts])
    ids = counter.encode([concept.id for concept in concepts])
    made: list[WebCount] = []
    for concept, label, curie in zip(concepts, labels, ids, strict=True):
        try:
            counted = counter.count_together([[label], [curie]])
            made.append(WebCount(concept.id, counted.count, approx=True, reason=counted.reason))
        except CountError as error:
            made.append(WebCount(concept.id, math.nan, approx=True, reason=str(error)))
        if progress:
            progress(len(made), len(concepts))
    return made


def google(
    concepts: Sequence[Concept],
    settings: Settings,
    *,
    url: str = GOOGLE,
    patience: Patience = PATIENCE,
    progress: Progress | None = None,
) -> list[WebCount]:
    """Google's estimated number of pages for "label" id, with the user's own key and search engine; until CLOSES."""
    if not settings.google_key or not settings.google_engine:
        raise OntologyError(
            "Google wants a key and the id of a Programmable Search Engine. Set EXPLORER_GOOGLE_KEY and "
            f"EXPLORER_GOOGLE_ENGINE; the service closes on {CLOSES}, so take {INSTEAD} (--set counts=file, index or "
            "europe-pmc) for what is to be done again later."
        )

    def address(concept: Concept) -> str:
        query = f'"{_unquoted(concept.label)}" {concept.id}'
        return f"{url}?{urlencode({'cx': settings.google_engine, 'num': 1, 'q': query})}"

    # In a header, not in the address, the key stays out of messages and out of the names of kept answers.
    headers = {"X-Goog-Api-Key": settings.google_key}
    counts = _ask_all(concepts, address, _google_total, headers, settings, patience, progress)
    return [dataclasses.replace(count, approx=True) for count in counts]


def europe_pmc(
    concepts: Sequence[Concept],
    settings: Settings,
    *,
    url: str = EUROPE_PMC,
    patience: Patience = PATIENCE,
    progress: Progress | None = None,
) -> list[WebCount]:
    """The number of articles in Europe PMC that hold both the label and the id, word for word."""

    def address(concept: Concept) -> str:
        query = f'"{_unquoted(concept.label)}" AND "{concept.id}"'
        parameters = {"query": query, "format": "json", "resultType": "idlist", "pageSize": 1, "synonym": "false"}
        return f"{url}?{urlencode(parameters)}"

    return _ask_all(concepts, address, lambda body: body["hitCount"], {}, settings, patience, progress)


# Source → what it counts; `python -m explorer` and the app list them.
SOURCES: Mapping[str, str] = {
    "file": "the counts of a table",
    "index": "label and id near each other in an n-gram index (approximate)",
    "google": f"pages that Google estimates for label and id; the service closes on {CLOSES}, take index or europe-pmc",
    "europe-pmc": "articles in Europe PMC with label and id",
}


def _ask_all(
    concepts: Sequence[Concept],
    address: Callable[[Concept], str],
    total: Callable[[Any], Any],
    headers: Mapping[str, str],
    settings: Settings,
    patience: Patience,
    progress: Progress | None,
) -> list[WebCount]:
    limit = fetch.RateLimit(settings.requests_per_second)
    made: list[WebCount] = []
    stopped = ""

    def ask(concept: Concept, cache: Path | None) -> float | None:
        answer = fetch.get(
            address(concept), headers=headers, patience=patience, limit=limit, cache=cache, offline=settings.offline
        )
        try:
            written = total(json.loads(answer.body))
        except (KeyError, TypeError, ValueError, RecursionError):
            return None
        count = numbers.whole(written) if isinstance(written, str) else numbers.number(written)  # Google writes text
        return None if count is None or not count >= 0 else float(count)

    for concept in concepts:
        count, reason = math.nan, stopped
        if not stopped:
            try:
                answer = ask(concept, settings.counts / "web")
                # What was kept may be the page of a proxy: asked once more, past the kept answer.
                answer = ask(concept, None) if answer is None else answer
                count, reason = (math.nan, "the answer holds no count") if answer is None else (answer, "")
            except WebError as error:
                reason = _without(str(error), headers)
                if error.kind in HOPELESS_KIND or error.status in HOPELESS_STATUS:
                    stopped = f"not asked, after: {reason}"
        made.append(WebCount(concept.id, count, reason=reason))
        if progress:
            progress(len(made), len(concepts))
    return made


def _without(text: str, headers: Mapping[str, str]) -> str:
    """The text without what headers keep secret."""
    for value in headers.values():
        text = text.replace(value, "[key]")
    return text


def _google_total(body: Any) -> Any:
    return body["searchInformation"]["totalResults"]


def _unquoted(label: str) -> str:
    """A label that can stand in quotes."""
    return label.replace('"', " ")
