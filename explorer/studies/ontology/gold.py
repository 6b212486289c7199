"""What a model knows beyond its answer: how likely the right id is, and whether the label speaks for it.

Some ids are likelier than others after any label (many begin with 000). So the right id is compared with other ids of
the ontology twice: by its log-probability, and by how much the label adds to it, against a prompt whose label is
content-free (Zhao et al. 2021, "Calibrate before use").
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from explorer.errors import ScoringError
from explorer.records import Instance, Request, RunSpec, Score
from explorer.rows.builders import Row, measure_row, score_row
from explorer.runs import response_cache
from explorer.runs import spec as specs
from explorer.scoring import http, reduce
from explorer.scoring.generate import chat_text
from explorer.scoring.model import Progress, Scorer
from explorer.scoring.policy import PRESETS
from explorer.scoring.score import Batch
from explorer.studies.ontology.asking import Asking
from explorer.writing import joined

if TYPE_CHECKING:
    from explorer.resources import Resources

CHAT = "a chat endpoint gives no log-probabilities"
CONTENT_FREE = "N/A"
TARGET, OTHER, SAMPLED, PRIOR = "target", "other id", "sampled id", "unconditional"


@dataclass(frozen=True, slots=True)
class Candidates:
    """The ids that are scored after a concept's prompt; the first is the right one."""

    instance: Instance
    scored_ids: tuple[tuple[str, str], ...]  # role and id
    asked: Request  # the main question


def candidates(
    put: Asking, question: Request, instance: Instance, others: int, sampled: Sequence[str], seed: int
) -> Candidates:
    """The right id, `others` ids of the ontology drawn at random, and those that were sampled from the model."""
    gold, ids = instance.options[0], put.ontology.ids
    # By seed and id, so that a concept meets the same rivals in every run, part and model.
    chance = random.Random(f"{seed}/{instance.id}")
    sampled_curies = [curie for curie in chance.sample(ids, min(others + 1, len(ids))) if curie != gold][:others]
    wrong = [curie for curie in dict.fromkeys(sampled) if curie and curie != gold]
    scored_ids = [(TARGET, gold), *((OTHER, curie) for curie in sampled_curies), *((SAMPLED, curie) for curie in wrong)]
    return Candidates(instance, tuple(scored_ids), question)


@dataclass(slots=True)
class IdScores:
    """The scores of concepts' ids, one concept after another, on their way, or why there are none.

    Several may be on their way; `rows` is asked for in the order in which they were made.
    """

    wanted: Sequence[Candidates]
    fresh: Sequence[str] = ()  # ids whose log-probability after the content-free label is asked for here
    batch: Batch | None = None
    priors: dict[str, float] = field(default_factory=dict)  # log-probability of each id after that label, nats
    reason: str = ""

    def run(self, progress: Progress | None = None) -> None:
        """Has them scored; ScoringError where the model gives no log-probabilities."""
        if self.batch:
            try:
                self.batch.run(progress)
            except BaseException:
                for curie in self.fresh:  # so that who asks next asks anew
                    self.priors.pop(curie, None)
                raise

    def rows(self) -> dict[str, list[Row]]:
        """Rows of `scores` and `measures` of these concepts."""
        if self.batch is None:
            return unknown(self.wanted, self.reason)
        scores = iter(self.batch.scores())
        self.priors.update((curie, next(scores).sum) for curie in self.fresh)
        tables: dict[str, list[Row]] = {"scores": [], "measures": []}
        for concept in self.wanted:
            of_concept = [next(scores) for _ in concept.scored_ids]
            tables["scores"] += [
                score_row(score, number, tokens=not number, context=not number)
                for number, score in enumerate(of_concept)
            ]
            tables["measures"] += _measures(concept, of_concept, self.priors)
        return tables


def of_run(spec: RunSpec, resources: Resources, put: Asking, wanted: Sequence[Candidates]) -> IdScores:
    """The ids of these concepts, to be scored in a run."""
    is_remote_chat = http.is_endpoint(spec.model) and put.prompt.kind == "chat"
    if refused := [CHAT] if is_remote_chat else _refused(spec, resources):
        return IdScores(wanted, reason=refused[0])
    return to_score(spec, resources, response_cache.scorer(spec, resources), put, wanted)


def score_known(spec: RunSpec, resources: Resources, ids: IdScores, progress: Progress) -> IdScores:
    """The same, scored, or with the reason why a server does not score them."""
    try:
        ids.run(progress)
    except ScoringError as error:
        if not http.is_endpoint(spec.model):
            raise
        _refused(spec, resources).append(str(error))
        return IdScores(ids.wanted, reason=str(error))
    return ids


def _refused(spec: RunSpec, resources: Resources) -> list[str]:
    """Why a server scores nothing: one that has refused once is not asked again in every part of the run."""
    return resources.once(("ontology unscored", specs.run_id(spec)), list)  # type: ignore[no-any-return]


def unknown(wanted: Sequence[Candidates], reason: str) -> dict[str, list[Row]]:
    """The rows of concepts whose ids cannot be scored."""
    return {
        "measures": [measure_row(concept.instance.id, "gold_logprob", math.nan, reason=reason) for concept in wanted]
    }


def to_score(
    spec: RunSpec, resources: Resources, scorer: Scorer, put: Asking, wanted: Sequence[Candidates]
) -> IdScores:
    """The requests that score the ids of these concepts."""
    # An id's log-probability after the content-free label is the same for all concepts: asked once a run.
    priors: dict[str, float] = resources.once(("ontology priors", specs.run_id(spec)), dict)
    free = text_read(spec, resources, put.content_free(CONTENT_FREE))
    curies = dict.fromkeys(curie for concept in wanted for _, curie in concept.scored_ids)
    fresh = [curie for curie in curies if curie not in priors]
    priors.update(dict.fromkeys(fresh, math.nan))  # asked for, not yet known
    requests = [_request(put, wanted[0].asked, free, curie, 0, PRIOR) for curie in fresh]
    for concept in wanted:
        text = text_read(spec, resources, concept.asked)
        requests += [
            _request(put, concept.asked, text, curie, i, role) for i, (role, curie) in enumerate(concept.scored_ids)
        ]
    return IdScores(wanted, fresh, Batch(scorer, requests, PRESETS["natural"]), priors)


def _request(put: Asking, question: Request, text: str, curie: str, option: int, role: str) -> Request:
    factors = {"setting": put.prompt.name, "language": put.languages[0]}
    return Request(
        question.instance_id, option, text, continuation(put, question, text, curie), role=role, factors=factors
    )


def target(put: Asking, question: Request, curie: str) -> Request:
    """The request that scores an id after a question to an endpoint."""
    return _request(put, question, question.context, curie, 0, TARGET)


def continuation(put: Asking, question: Request, text: str, curie: str) -> str:
    """The id as it goes on from the prompt the model reads (`text`): its digits where that ends with the prefix."""
    if put.prompt.ends_with_prefix:
        return curie.partition(":")[2]
    # No blank is wanted after white space, or after the mark with which a chat template begins the answer.
    is_template = question.conversation is not None and text != question.context
    return curie if is_template or text[-1:].isspace() else joined(text, curie)[1]


def text_read(spec: RunSpec, resources: Resources, question: Request) -> str:
    """The prompt as the model reads it, marks of its chat template included."""
    if question.conversation is None or http.is_endpoint(spec.model):
        return question.context
    return chat_text(resources.reader(spec.model, spec.dtype).tokenizer, question.conversation)


def _measures(concept: Candidates, scores: Sequence[Score], priors: Mapping[str, float]) -> list[Row]:
    sums = [score.sum for score in scores]
    gains = [value - priors[curie] for value, (_, curie) in zip(sums, concept.scored_ids, strict=True)]
    others = [number for number, (role, _) in enumerate(concept.scored_ids) if role == OTHER]
    sampled = [number for number, (role, _) in enumerate(concept.scored_ids) if role == SAMPLED]

    near = reduce.TIE * max(score.scored for score in scores)
    why = scores[0].reason or next((score.reason for score in scores if score.reason), "an id has no score")

    def row(measure: str, value: float) -> Row:
        return measure_row(concept.instance.id, measure, value, reason=why if math.isnan(value) else "")

    rows = [row("gold_logprob", sums[0]), row("gold_gain", gains[0])]
    if others:
        among = [sums[number] for number in others]
        rows.append(row("gold_rank", rank(sums[0], among, near)))
        rows.append(row("gold_preferred", preferred(sums[0], among, near)))
        rows.append(row("gold_gain_preferred", preferred(gains[0], [gains[number] for number in others], near)))
    if sampled:
        rows.append(row("gold_rank_sampled", rank(sums[0], [sums[number] for number in sampled], near)))
    return rows


def rank(gold: float, others: Sequence[float], near: float = 0.0) -> float:
    """The place of the right id among the others, 1 for the highest; ties (within `near` nats) share a place.

    nan where one of them has no number.
    """
    gold_option = reduce.Option(gold, near)
    verdicts = [reduce.decide([gold_option, reduce.Option(other, near)], 0).correct for other in others]
    return 1 + math.fsum(1 - correct for correct in verdicts)


def preferred(gold: float, others: Sequence[float], near: float = 0.0) -> float:
    """The share of the others that come after the right id; 0.5 by chance."""
    return 1 - (rank(gold, others, near) - 1) / len(others)
