"""Ontologies: does the model know the ID of a concept?

Load the concepts, ask for the id of each label, judge the answers, score the right id, count how popular the concept
is, save. Source: Bombieri, Fiorini, Ponzetto and Rospocher 2024, "Do LLMs dream of ontologies?".
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from explorer.errors import UsageError
from explorer.ontologies import analysis, web_counts
from explorer.ontologies.as_benchmark import concept_of
from explorer.ontologies.buckets import BUCKETS, fill
from explorer.ontologies.invariance_requests import PER_BUCKET, WAYS
from explorer.ontologies.prompts import LANGUAGES, PROMPTS
from explorer.ontologies.web_counts import TogetherCounter, WebCount
from explorer.popularity import indexes
from explorer.records import Concept, Generation, Instance, Request, RunSpec
from explorer.rows.builders import Row, generation_row, measure_row, thought_rows
from explorer.scoring import http
from explorer.scoring.engine.contract import MAX_SHORT_ANSWER
from explorer.studies import QUESTIONS
from explorer.studies.ontology import findings, gold, plan
from explorer.studies.ontology.asking import Asking, answer_requests, asking
from explorer.studies.ontology.context import select
from explorer.studies.ontology.rows import item_measures
from explorer.studies.selection import SELECTION
from explorer.studies.study import Progress, Setting, Stages, Study

if TYPE_CHECKING:
    from explorer.resources import Resources
    from explorer.runs.parts import Tables

SETTINGS = {
    "prompt": Setting(
        "auto",
        "how the id is asked for; auto: chat where the model has a chat form or other languages are asked for, else "
        "completion; "
        "best: the most accurate on 100 concepts",
        ("auto", "best", *PROMPTS),
    ),
    "form": Setting(
        "corrected", "the authors' white space and number of new tokens, or ours", ("corrected", "released")
    ),
    "languages": Setting(("en",), "of the prompt; the first gives the answers that count", LANGUAGES),
    "max_new_tokens": Setting(0, "tokens an answer may have; 0 = 10, as released 5 for GO completions"),
    "samples": Setting(0, "answers a concept drawn at temperature 1 beside the greedy one"),
    "gold": Setting(True, "also the log-probability of the right id"),
    "others": Setting(9, "other ids of the ontology, drawn at random, among which the right one is ranked"),
    "invariance": Setting(
        (), "repeat the question: as it is (PI-1), warmer (PI-2), in five languages (PI-3)", tuple(WAYS)
    ),
    "again_per_bucket": Setting(PER_BUCKET, "concepts a bucket whose question is repeated"),
    "buckets": Setting(BUCKETS, "buckets of equally many distinct counts"),
    "per_bucket": Setting(0, "that many concepts of each bucket, drawn with the seed; 0 = all"),
    "counts": Setting(
        "file",
        f"where a concept's popularity is counted; google closes on {web_counts.CLOSES}: index or europe-pmc instead",
        tuple(web_counts.SOURCES),
    ),
    "index": Setting(indexes.GLASSBOX, "n-gram index, for counts=index"),
}


@dataclass(frozen=True, slots=True)
class PreparedPart:
    """Concepts, the questions about each, and the ids to score after the main ones, where no answer adds to these."""

    put: Asking
    instances: Sequence[Instance]
    questions: Sequence[Sequence[Request]]
    ids: gold.IdScores | None


@dataclass(frozen=True, slots=True)
class AnsweredPart:
    """Concepts, the answers about each, and the scores of their ids where these are wanted."""

    put: Asking
    instances: Sequence[Instance]
    answers: Sequence[Sequence[Generation]]
    ids: gold.IdScores | None


def prepare(
    spec: RunSpec, resources: Resources, instances: Sequence[Instance], progress: Progress, ahead: bool
) -> PreparedPart:
    """The questions about a part's concepts."""
    put = asking(spec, resources)
    questions = [put.requests(instance) for instance in instances]
    ids = None
    if spec.settings["gold"] and not put.samples:
        ids = ids_to_score(spec, resources, put, instances, questions)
        if ahead and ids.batch:
            ids.batch.prepare()
    return PreparedPart(put, instances, questions, ids)


def ids_to_score(
    spec: RunSpec,
    resources: Resources,
    put: Asking,
    instances: Sequence[Instance],
    questions: Sequence[Sequence[Request]],
    sampled: Sequence[Sequence[str]] = (),
) -> gold.IdScores:
    """The right id of each concept, some others of the ontology, and those that were sampled from the model."""
    others = int(spec.settings["others"])
    wanted = [
        gold.candidates(put, of_concept[0], instance, others, samples, spec.seed)
        for instance, of_concept, samples in zip(instances, questions, sampled or [()] * len(instances), strict=True)
    ]
    return gold.of_run(spec, resources, put, wanted)


def score(spec: RunSpec, resources: Resources, prepared: PreparedPart, progress: Progress) -> AnsweredPart:
    """The model's answers, and how likely it finds the right ids and others."""
    put, ids = prepared.put, prepared.ids
    flat = [request for requests in prepared.questions for request in requests]
    scored_too = bool(spec.settings["gold"])
    # Told in questions: first those that are answered, then as many again while the right ids are scored.
    total = len(flat) * (2 if scored_too else 1)
    answer_stream = iter(answer_requests(spec, resources, put, flat, lambda done, _: progress(done, total)))
    answers = [[next(answer_stream) for _ in requests] for requests in prepared.questions]
    if not scored_too:
        return AnsweredPart(put, prepared.instances, answers, None)

    def second(done: int, of: int) -> None:
        progress(len(flat) + len(flat) * done // max(of, 1), total)

    if ids is None:
        sampled = [
            [put.parse(answer.text).id for answer in of_concept if answer.request.role == "sample"]
            for of_concept in answers
        ]
        ids = ids_to_score(spec, resources, put, prepared.instances, prepared.questions, sampled)
    return AnsweredPart(put, prepared.instances, answers, gold.score_known(spec, resources, ids, second))


def tables(spec: RunSpec, resources: Resources, answered: AnsweredPart) -> Tables:
    """Rows of `generations`, `measures` and `scores`."""
    put, answers, parse = answered.put, answered.answers, answered.put.parse
    counted = count(spec, resources, [concept_of(instance) for instance in answered.instances])
    rows: dict[str, list[Row]] = {"generations": [], "measures": [], "scores": []}
    for of_concept in answers:
        rows["generations"] += [
            generation_row(answer, number, verdict="" if answer.reason else parse(answer.text).kind)
            for number, answer in enumerate(of_concept)
        ]
    rows["measures"] += judge(put, answered.instances, answers, counted)
    rows["measures"] += thought_rows([thought for of_concept in answers for thought in of_concept])
    for table, of_ids in (answered.ids.rows() if answered.ids else {}).items():
        rows[table] += of_ids
    return rows


def may_overlap(spec: RunSpec, resources: Resources) -> bool:
    """Whether the model runs here, and nobody is asked for counts over a network."""
    return not http.is_endpoint(spec.model) and str(spec.settings["counts"]) in ("file", "index")


def asks_only_for_short_answers(settings: Mapping[str, Any]) -> bool:
    """Whether a run with these settings asks its model for scores and short greedy answers alone."""
    drawn = int(settings["samples"]) or settings["invariance"] or settings["prompt"] == "best"
    return not drawn and int(settings["max_new_tokens"]) <= MAX_SHORT_ANSWER


STAGES = Stages(prepare, score, tables, may_overlap)
run_part = STAGES.run


def judge(
    put: Asking,
    instances: Sequence[Instance],
    answers: Sequence[Sequence[Generation]],
    counted: Mapping[str, WebCount],
) -> list[Row]:
    """Rows of `measures`: of the main answers as for imported predictions, of other languages, of samples."""
    parse, ontology = put.parse, put.ontology
    counts = [counted[instance.options[0]] for instance in instances]
    concepts = [
        dataclasses.replace(concept_of(instance), web_count=web_count.count)
        for instance, web_count in zip(instances, counts, strict=True)
    ]
    buckets = fill(ontology.ranges, [web_count.count for web_count in counts])
    items = analysis.judge(concepts, [replies[0].text for replies in answers], parse, ontology.labels, buckets)
    rows = []
    for instance, item, web_count, of_concept in zip(instances, items, counts, answers, strict=True):
        measures = item_measures(instance.id, item)
        if why := of_concept[0].reason:  # nothing was answered, which is neither right nor wrong
            measures = [row for row in measures if row["measure"] in ("web_count", "bucket")]
            measures.insert(0, measure_row(instance.id, "correct", math.nan, reason=why))
        for row in measures:
            if row["measure"] == "web_count":
                row["reason"] = web_count.reason
        rows += measures
        samples = []
        for reply in of_concept[1:]:
            right = math.nan if reply.reason else float(put.is_right(instance, reply))
            if reply.request.role == "sample":
                samples += [] if reply.reason else [right]
            elif reply.request.role == "prompt":
                factors = {"language": reply.request.factors["language"]}
                rows.append(measure_row(instance.id, "correct", right, reason=reply.reason, factors=factors))
        if samples:
            rows.append(measure_row(instance.id, "sampled_correct", sum(samples) / len(samples)))
    return rows


def count(spec: RunSpec, resources: Resources, concepts: Sequence[Concept]) -> Mapping[str, WebCount]:
    """How popular each concept is, by its id, from the source that the spec names."""
    source = str(spec.settings["counts"])
    settings = resources.settings
    if source == "index":
        counter = resources.counter(str(spec.settings["index"]))
        if not hasattr(counter, "count_together"):
            raise UsageError(f"{counter.index} cannot count two things that stand together. Choose another index.")
        web_counts_found = web_counts.cooccurrences(concepts, cast(TogetherCounter, counter))
    elif source == "google":
        web_counts_found = web_counts.google(concepts, settings)
    elif source == "europe-pmc":
        web_counts_found = web_counts.europe_pmc(concepts, settings)
    else:
        web_counts_found = [
            WebCount(
                concept.id, concept.web_count, reason="no count in the file" if math.isnan(concept.web_count) else ""
            )
            for concept in concepts
        ]
    return {web_count.id: web_count for web_count in web_counts_found}


STUDY = Study(
    name="ontology",
    title="Ontologies",
    question=QUESTIONS["ontology"],
    version=2,
    settings={**SETTINGS, **SELECTION},
    kinds=("concept",),
    select=select,
    run_part=run_part,
    stages=STAGES,
    may_be_apart=asks_only_for_short_answers,
    summarize=findings.summarize,
    plan=plan.plan,
)
