"""How a run counts, and the decile edges of its counts: its own selection's, or those of another run."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from explorer.errors import UsageError
from explorer.popularity import indexes, measure, ngrams
from explorer.popularity.ips import DecileEdges
from explorer.records import RunSpec
from explorer.runs.folder import RunFolder
from explorer.studies import selection
from explorer.studies.study import Progress, Setting

if TYPE_CHECKING:
    from explorer.resources import Resources

COUNTING = {
    "index": Setting(
        indexes.GLASSBOX, "n-gram index: glassbox, a public index, mini:NAME, a folder, or http://host:port#name"
    ),
    "n": Setting(
        0,
        f"tokens in an n-gram, 1 to {ngrams.LONGEST_N}; 0 = {ngrams.DEFAULT_N}, "
        f"or {indexes.SMALL[indexes.GLASSBOX]} in the index of the glass box, which is too small for more",
    ),
    "initial": Setting("running", "also count the form without a leading blank", ("running", "both")),
    "edges_from": Setting("", "a run of this study whose decile edges are used; empty = this selection's own"),
    "rows": Setting(True, "store a row for every n-gram"),
}


def length_of(settings: Mapping[str, Any]) -> int:
    """How many tokens an n-gram of a run has; UsageError for a length that is not counted."""
    n = int(settings["n"])
    if n == 0:
        return indexes.default_length(str(settings["index"]), ngrams.DEFAULT_N)
    if not 1 <= n <= ngrams.LONGEST_N:
        raise UsageError(f"The setting n is {n}, expected 1 to {ngrams.LONGEST_N}, or 0 for the default.")
    return n


def edges_of(spec: RunSpec, resources: Resources, progress: Progress | None = None) -> DecileEdges:
    """The decile edges of a run: another run's, or those over all n-grams of the run's own selection."""
    make = _stored_edges if spec.settings["edges_from"] else _own_edges
    return resources.once(_key(spec), lambda: make(spec, resources, progress))


def edges_for_parts(spec: RunSpec, resources: Resources, progress: Progress) -> dict[tuple[Any, ...], DecileEdges]:
    """The same as `Study.for_parts`: to have them, the n-grams of the whole selection are counted."""
    return {_key(spec): edges_of(spec, resources, progress)}


def counts_here(settings: Mapping[str, Any]) -> bool:
    """Whether a run counts in an index on this machine, which several processes may ask at once."""
    return not indexes.is_remote(str(settings["index"]).strip())


def _key(spec: RunSpec) -> tuple[Any, ...]:
    """What the edges of a run depend on."""
    counting = tuple((name, spec.settings[name]) for name in COUNTING)
    selection = (spec.benchmark, spec.suites, spec.limit, spec.seed, spec.settings["per_group"], spec.settings["split"])
    return ("edges", selection, counting)


def _stored_edges(spec: RunSpec, resources: Resources, progress: Progress | None) -> DecileEdges:
    folder = RunFolder.find(resources.settings.runs, str(spec.settings["edges_from"]))
    edges = DecileEdges.from_rows(folder.read("findings").to_dict("records"))
    counter = resources.counter(str(spec.settings["index"]))
    edges.check_fits(counter.index, int(spec.settings["n"]) or edges.n, spec.settings["initial"])
    return dataclasses.replace(edges, reference=f"{edges.reference}, edges of {folder.run_id}")


def _own_edges(spec: RunSpec, resources: Resources, progress: Progress | None) -> DecileEdges:
    chosen = selection.select(spec, resources)
    reference = f"all options of {len(chosen):,} instances of {spec.benchmark}"
    if spec.suites:
        reference += f" ({', '.join(spec.suites)})"
    return measure.survey_edges(
        resources.counter(str(spec.settings["index"])),
        chosen,
        reference=reference,
        n=length_of(spec.settings),
        initial=spec.settings["initial"],
        progress=progress,
    )
