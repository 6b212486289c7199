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
from explorer.studies.popularity.deciles import COUNTING, counts_here, edges_for_parts, edges_of
from explorer.studies.study import Progress, Stages, Study

if TYPE_CHECKING:
    from explorer.resources import Resources
    from explorer.runs.parts import Tables


def rate(
    spec: RunSpec,
    resources: Resources,
    instances: Sequence[Instance],
    progress: Progress | None = None,
    factors: Mapping[str, Any] | None = None,
) -> Tables:
    """Rows of `measures` and `counts` about the instances; raises while counts are missing because of an outage."""
    edges = edges_of(spec, resources, progress)
    rated, counts = measure.measure_instances(resources.counter(str(spec.settings["index"])), instances, edges)
    ngrams.require_answers(counts)
    rows = measure.popularity_rows(rated, counts, factors)
    return rows if spec.settings["rows"] else {"measures": rows["measures"]}


def prepare(
    spec: RunSpec, resources: Resources, instances: Sequence[Instance], progress: Progress, ahead: bool
) -> tuple[Tables, accuracy_study.PreparedPart]:
    """The popularity of a part's instances, and what is asked about them."""
    popular = rate(spec, resources, instances, progress)
    return popular, accuracy_study.prepare(spec, resources, instances, progress, ahead)


def score(
    spec: RunSpec, resources: Resources, prepared: tuple[Tables, accuracy_study.PreparedPart], progress: Progress
) -> tuple[Tables, accuracy_study.PreparedPart]:
    """The same, scored."""
    popular, batch = prepared
    return popular, accuracy_study.score(spec, resources, batch, progress)


def tables(spec: RunSpec, resources: Resources, scored: tuple[Tables, accuracy_study.PreparedPart]) -> Tables:
    """Rows of all tables."""
    popular, batch = scored
    judged = accuracy_study.tables(spec, resources, batch)
    return {**judged, **popular, "measures": joined("measures", [judged["measures"], popular["measures"]])}


STAGES = Stages(prepare, score, tables, accuracy_study.is_on_this_machine)
run_part = STAGES.run


STUDY = Study(
    name="popularity",
    title="Lexical popularity",
    question=QUESTIONS["popularity"],
    version=2,
    settings={**COUNTING, **accuracy_study.SCORING, **selection.SELECTION},
    kinds=("pair", "choice", "cloze"),
    select=selection.select,
    run_part=run_part,
    stages=STAGES,
    may_be_apart=counts_here,
    for_parts=edges_for_parts,
    summarize=findings.summarize,
)
