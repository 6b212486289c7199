"""Popularity: which n-grams of an instance does the corpus hold, and are popular instances answered better?

Load, count the n-grams of every option over the whole selection (the reference set of the deciles), rate each
instance, score it, save. Source: Ruzzetti, Zanzotto and Caselli, Lexical Popularity, sections 3 and 4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from explorer.popularity import measure, ngrams
from explorer.records import Instance, RunSpec
from explorer.rows.columns import joined
from explorer.studies import QUESTIONS, selection
from explorer.studies.accuracy import study as accuracy_study
from explorer.studies.popularity import findings
from explorer.studies.popularity.deciles import COUNTING, edges_of
from explorer.studies.study import Progress, Study

if TYPE_CHECKING:
    from explorer.resources import Resources
    from explorer.runs.folder import Tables


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


def run_part(spec: RunSpec, resources: Resources, instances: Sequence[Instance], progress: Progress) -> Tables:
    popular = rate(spec, resources, instances, progress)
    scored = accuracy_study.run_part(spec, resources, instances, progress)
    return {**scored, **popular, "measures": joined("measures", [scored["measures"], popular["measures"]])}


STUDY = Study(
    name="popularity",
    title="Lexical popularity",
    question=QUESTIONS["popularity"],
    version=2,
    settings={**COUNTING, **accuracy_study.SCORING, **selection.SELECTION},
    kinds=("pair", "choice", "cloze"),
    select=selection.select,
    run_part=run_part,
    summarize=findings.summarize,
)
