"""Accuracy: how often does the model prefer what the benchmark calls right?

Load the instances, ask for every option, score, compare, save.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from explorer import prompts
from explorer.records import Instance, Request, RunSpec
from explorer.rows.columns import score_table
from explorer.runs import response_cache
from explorer.scoring.http_cost import Planned
from explorer.scoring.policy import PRESETS, ScoringPolicy
from explorer.studies import QUESTIONS, selection, verdicts
from explorer.studies.accuracy import findings
from explorer.studies.study import Progress, Setting, Study

if TYPE_CHECKING:
    from explorer.resources import Resources
    from explorer.runs.folder import Tables

SCORING = {
    "preset": Setting("natural", "conventions of prompts, BOS, split, reduction and ties", tuple(PRESETS)),
    "bos": Setting("preset", "token before the context", ("preset", "auto", "always", "never")),
    "normalization": Setting(
        "preset",
        "what is compared between options",
        ("preset", "sum", "mean_token", "per_char", "per_byte", "pmi"),
    ),
    "tokens": Setting(True, "store each token's log-probability"),
}


def policy_of(spec: RunSpec) -> ScoringPolicy:
    """The scoring policy that a spec's settings name."""
    policy = PRESETS[str(spec.settings["preset"])]
    changes = {name: spec.settings[name] for name in ("bos", "normalization") if spec.settings[name] != "preset"}
    return dataclasses.replace(policy, **changes)


def ask(instance: Instance, policy: ScoringPolicy) -> list[Request]:
    """All requests of an instance; with PMI also each option after nothing."""
    asked = prompts.requests(instance, preset=policy.preset)
    if policy.normalization == "pmi":
        asked += [dataclasses.replace(request, context="", role="unconditional") for request in asked]
    return asked


def run_part(spec: RunSpec, resources: Resources, instances: Sequence[Instance], progress: Progress) -> Tables:
    policy = policy_of(spec)
    scorer = response_cache.scorer(spec, resources)
    asked = [ask(instance, policy) for instance in instances]
    flat = [request for requests in asked for request in requests]
    scores = scorer.score(flat, policy, progress)
    dtype = str(resources.model_record(spec.model, spec.dtype).get("dtype", ""))  # a server does not tell its own
    rest = iter(scores)
    judged = [(one, [next(rest) for _ in requests]) for one, requests in zip(instances, asked, strict=True)]
    numbers = [number for requests in asked for number in range(len(requests))]
    return {
        "scores": score_table(scores, numbers, tokens=bool(spec.settings["tokens"])),
        "measures": verdicts.judge_all(judged, policy, dtype).table(),
    }


def plan(spec: RunSpec, resources: Resources, instances: Sequence[Instance]) -> list[Planned]:
    """What an endpoint will be asked: every option once, with a new token that some servers insist on writing."""
    policy = policy_of(spec)
    return [Planned([request for instance in instances for request in ask(instance, policy)], 1)]


STUDY = Study(
    name="accuracy",
    title="Accuracy",
    question=QUESTIONS["accuracy"],
    version=2,
    settings={**SCORING, **selection.SELECTION},
    kinds=("pair", "choice", "cloze", "regions", "labelled", "rating"),
    select=selection.select,
    run_part=run_part,
    summarize=findings.summarize,
    plan=plan,
)
