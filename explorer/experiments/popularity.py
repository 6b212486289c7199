"""Popularity: which n-grams of an instance does the corpus hold, and are popular instances answered better?

Load, count the n-grams of every option over the whole selection (the reference set of the deciles), rate each
instance, score it, save. Source: Ruzzetti, Zanzotto and Caselli, Lexical Popularity, sections 3 and 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from explorer.errors import UsageError
from explorer.experiments import accuracy, popularity_findings, selection
from explorer.experiments.study import Progress, Setting, Study
from explorer.popularity import measure
from explorer.popularity.ips import Edges
from explorer.records import Instance, RunSpec
from explorer.runs.folder import RunFolder

if TYPE_CHECKING:
    from explorer.resources import Resources
    from explorer.runs.folder import Tables

COUNTING = {
    "index": Setting("demo", "n-gram index: demo, a public index, mini:NAME, a folder, or http://host:port#name"),
    "n": Setting(7, "tokens in an n-gram, 1 to 10"),
    "initial": Setting("running", "also count the form without a leading blank", ("running", "both")),
    "edges_from": Setting("", "a run of this study whose decile edges are used; empty = this selection's own"),
    "rows": Setting(True, "store a row for every n-gram"),
}


def edges_of(spec: RunSpec, resources: Resources, progress: Progress | None = None) -> Edges:
    """The decile edges of a run: another run's, or those over all n-grams of the run's own selection."""
    named = str(spec.settings["edges_from"])
    if named:
        folder = RunFolder.find(resources.settings.runs, named)
        return Edges.from_rows(folder.read("findings").to_dict("records"))
    counter = resources.counter(str(spec.settings["index"]))
    n, initial = int(spec.settings["n"]), spec.settings["initial"]
    if not 1 <= n <= 10:
        raise UsageError(f"The setting n is {n}, expected 1 to 10.")
    chosen = selection.select(spec, resources)
    reference = f"all options of {len(chosen):,} instances of {spec.benchmark}"
    if spec.suites:
        reference += f" ({', '.join(spec.suites)})"
    return resources.once(
        ("edges", spec.benchmark, spec.suites, spec.limit, spec.seed, str(sorted(spec.settings.items()))),
        lambda: measure.survey(counter, chosen, reference=reference, n=n, initial=initial, progress=progress),
    )


def do(spec: RunSpec, resources: Resources, instances: Sequence[Instance], progress: Progress) -> Tables:
    scored = accuracy.do(spec, resources, instances, progress)
    counter = resources.counter(str(spec.settings["index"]))
    rated, counts = measure.measure(counter, instances, edges_of(spec, resources, progress))
    rows = measure.rows(rated, counts)
    kept = {"counts": rows["counts"]} if spec.settings["rows"] else {}
    return {**scored, "measures": [*scored["measures"], *rows["measures"]], **kept}


STUDY = Study(
    name="popularity",
    title="Lexical popularity",
    question="Are instances whose n-grams are frequent in the corpus answered better?",
    version=1,
    settings={**COUNTING, **accuracy.SCORING, **selection.SELECTION},
    kinds=("pair", "choice", "cloze"),
    select=selection.select,
    do=do,
    conclude=popularity_findings.conclude,
)
