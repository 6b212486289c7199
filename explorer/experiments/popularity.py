"""Popularity: which n-grams of an instance does the corpus hold, and are popular instances answered better?

Load, count the n-grams of every option over the whole selection (the reference set of the deciles), rate each
instance, score it, save. Source: Ruzzetti, Zanzotto and Caselli, Lexical Popularity, sections 3 and 4.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from explorer.errors import UsageError
from explorer.experiments import accuracy, popularity_findings, selection
from explorer.experiments.study import Progress, Setting, Study
from explorer.popularity import indexes, measure, ngrams
from explorer.popularity.ips import Edges
from explorer.records import Instance, RunSpec
from explorer.runs.folder import RunFolder

if TYPE_CHECKING:
    from explorer.resources import Resources
    from explorer.runs.folder import Tables

COUNTING = {
    "index": Setting("demo", "n-gram index: demo, a public index, mini:NAME, a folder, or http://host:port#name"),
    "n": Setting(
        0,
        f"tokens in an n-gram, 1 to {ngrams.LONGEST_N}; 0 = {ngrams.DEFAULT_N}, "
        f"or {indexes.DEMO_N} in the demonstration index, which is too small for more",
    ),
    "initial": Setting("running", "also count the form without a leading blank", ("running", "both")),
    "edges_from": Setting("", "a run of this study whose decile edges are used; empty = this selection's own"),
    "rows": Setting(True, "store a row for every n-gram"),
}


def length_of(settings: Mapping[str, Any]) -> int:
    """How many tokens an n-gram of a run has; UsageError for a length that is not counted."""
    n = int(settings["n"])
    if n == 0:
        return indexes.DEMO_N if settings["index"] == indexes.DEMO else ngrams.DEFAULT_N
    if not 1 <= n <= ngrams.LONGEST_N:
        raise UsageError(f"The setting n is {n}, expected 1 to {ngrams.LONGEST_N}, or 0 for the default.")
    return n


def edges_of(spec: RunSpec, resources: Resources, progress: Progress | None = None) -> Edges:
    """The decile edges of a run: another run's, or those over all n-grams of the run's own selection."""
    make = _stored_edges if spec.settings["edges_from"] else _own_edges
    counting = tuple((name, spec.settings[name]) for name in COUNTING)
    drawn = (spec.benchmark, spec.suites, spec.limit, spec.seed, spec.settings["per_group"], spec.settings["split"])
    return resources.once(("edges", drawn, counting), lambda: make(spec, resources, progress))


def _stored_edges(spec: RunSpec, resources: Resources, progress: Progress | None) -> Edges:
    folder = RunFolder.find(resources.settings.runs, str(spec.settings["edges_from"]))
    edges = Edges.from_rows(folder.read("findings").to_dict("records"))
    counter = resources.counter(str(spec.settings["index"]))
    edges.check_fits(counter.index, int(spec.settings["n"]) or edges.n, spec.settings["initial"])
    return dataclasses.replace(edges, reference=f"{edges.reference}, edges of {folder.run_id}")


def _own_edges(spec: RunSpec, resources: Resources, progress: Progress | None) -> Edges:
    chosen = selection.select(spec, resources)
    reference = f"all options of {len(chosen):,} instances of {spec.benchmark}"
    if spec.suites:
        reference += f" ({', '.join(spec.suites)})"
    return measure.survey(
        resources.counter(str(spec.settings["index"])),
        chosen,
        reference=reference,
        n=length_of(spec.settings),
        initial=spec.settings["initial"],
        progress=progress,
    )


def rate(
    spec: RunSpec,
    resources: Resources,
    instances: Sequence[Instance],
    progress: Progress | None = None,
    factors: Mapping[str, Any] | None = None,
) -> Tables:
    """Rows of `measures` and `counts` about the instances; raises while counts are missing because of an outage."""
    edges = edges_of(spec, resources, progress)
    rated, counts = measure.measure(resources.counter(str(spec.settings["index"])), instances, edges)
    ngrams.require_answers(counts)
    rows = measure.rows(rated, counts, factors)
    return rows if spec.settings["rows"] else {"measures": rows["measures"]}


def do(spec: RunSpec, resources: Resources, instances: Sequence[Instance], progress: Progress) -> Tables:
    popular = rate(spec, resources, instances, progress)
    scored = accuracy.do(spec, resources, instances, progress)
    return {**scored, **popular, "measures": [*scored["measures"], *popular["measures"]]}


STUDY = Study(
    name="popularity",
    title="Lexical popularity",
    question="Are instances whose n-grams are frequent in the corpus answered better?",
    version=2,
    settings={**COUNTING, **accuracy.SCORING, **selection.SELECTION},
    kinds=("pair", "choice", "cloze"),
    select=selection.select,
    do=do,
    conclude=popularity_findings.conclude,
)
