"""Accuracy: how often does the model prefer what the benchmark calls right?

Load the instances, ask for every option, score, compare, save.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from explorer import prompts, prompts_chat
from explorer.records import Instance, Request, RunSpec
from explorer.rows.columns import score_table
from explorer.runs import response_cache
from explorer.scoring.http_cost import Planned
from explorer.scoring.policy import PRESETS, ScoringPolicy
from explorer.scoring.score import Batch, ModelScorer
from explorer.studies import QUESTIONS, chat, selection, verdicts
from explorer.studies.accuracy import findings
from explorer.studies.study import Progress, Setting, Stages, Study

if TYPE_CHECKING:
    from explorer.resources import Resources
    from explorer.runs.parts import Tables

SCORING = {
    "preset": Setting(
        "natural",
        "conventions of prompts, BOS, split, reduction and ties; pll: for masked models; seq2seq, decoder: for "
        "encoder-decoder models",
        tuple(PRESETS),
    ),
    "bos": Setting("preset", "token before the context", ("preset", "auto", "always", "never")),
    "normalization": Setting(
        "preset",
        "what is compared between options",
        ("preset", "sum", "mean_token", "per_char", "per_byte", "pmi"),
    ),
    "tokens": Setting(True, "store each token's log-probability"),
    **chat.CHAT,
    **chat.JUDGING,
}


def policy_of(spec: RunSpec) -> ScoringPolicy:
    """The scoring policy that a spec's settings name."""
    policy = PRESETS[str(spec.settings["preset"])]
    changes = {name: spec.settings[name] for name in ("bos", "normalization") if spec.settings[name] != "preset"}
    return chat.in_policy(dataclasses.replace(policy, **changes), spec.settings)


def build_requests(instance: Instance, policy: ScoringPolicy) -> list[Request]:
    """All requests of an instance; with PMI also each option after nothing, with ask=judge a question a sentence."""
    if policy.ask == "judge":
        return prompts_chat.judgments(instance, chat=policy.chat, system=policy.system)
    requests = prompts.requests(instance, preset=policy.preset)
    if policy.chat:
        return prompts_chat.all_as_chat(requests, policy.system)
    if policy.normalization == "pmi" and instance.kind in verdicts.CHOOSING:
        # An option that stands after nothing as it is has no second probability that could be taken away.
        requests += [
            dataclasses.replace(request, context="", role="unconditional") for request in requests if request.context
        ]
    return requests


@dataclass(frozen=True, slots=True)
class PreparedPart:
    """Instances, how many requests each has, and the requests."""

    instances: Sequence[Instance]
    sizes: Sequence[int]
    batch: Batch


def prepare(
    spec: RunSpec, resources: Resources, instances: Sequence[Instance], progress: Progress, ahead: bool
) -> PreparedPart:
    """The requests of a part, encoded and packed already where `ahead`."""
    policy = policy_of(spec)
    by_instance = [build_requests(instance, policy) for instance in instances]
    flat = [request for requests in by_instance for request in requests]
    batch = Batch(response_cache.scorer(spec, resources), flat, policy)
    if ahead:
        batch.prepare()
    return PreparedPart(instances, [len(requests) for requests in by_instance], batch)


def score(spec: RunSpec, resources: Resources, prepared: PreparedPart, progress: Progress) -> PreparedPart:
    """The same, scored."""
    prepared.batch.run(progress)
    return prepared


def tables(spec: RunSpec, resources: Resources, scored: PreparedPart) -> Tables:
    """Rows of `scores` and `measures`."""
    scores = scored.batch.scores()
    dtype = str(resources.model_record(spec.model, spec.dtype).get("dtype", ""))  # a server does not tell its own
    rest = iter(scores)
    judged = [
        (instance, [next(rest) for _ in range(size)])
        for instance, size in zip(scored.instances, scored.sizes, strict=True)
    ]
    numbers = [number for size in scored.sizes for number in range(size)]
    return {
        "scores": score_table(scores, numbers, tokens=bool(spec.settings["tokens"])),
        "measures": verdicts.judge_all(judged, policy_of(spec), dtype).table(),
    }


def is_on_this_machine(spec: RunSpec, resources: Resources) -> bool:
    """Whether the scored model runs here, so that encoding and scoring are steps of their own."""
    return isinstance(resources.scorer(spec.model, spec.dtype), ModelScorer)


STAGES = Stages(prepare, score, tables, is_on_this_machine)
run_part = STAGES.run


def plan(spec: RunSpec, resources: Resources, instances: Sequence[Instance]) -> list[Planned]:
    """What an endpoint will be asked: every option once, with a new token that some servers insist on writing."""
    policy = policy_of(spec)
    return [Planned([request for instance in instances for request in build_requests(instance, policy)], 1)]


STUDY = Study(
    name="accuracy",
    title="Accuracy",
    question=QUESTIONS["accuracy"],
    version=2,
    settings={**SCORING, **selection.SELECTION},
    kinds=("pair", "choice", "cloze", "regions", "labelled", "rating"),
    select=selection.select,
    run_part=run_part,
    stages=STAGES,
    may_be_apart=lambda settings: True,
    summarize=findings.summarize,
    plan=plan,
)
