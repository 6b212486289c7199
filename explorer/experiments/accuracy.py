"""Accuracy: how often does the model prefer what the benchmark calls right?

Load the instances, ask for every option, score, compare, save.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from explorer import prompts
from explorer.experiments import accuracy_findings, selection, verdicts
from explorer.experiments.study import Progress, Setting, Study
from explorer.records import Instance, Request, RunSpec
from explorer.results.rows import score_row
from explorer.scoring.policy import PRESETS, ScoringPolicy

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


def do(spec: RunSpec, resources: Resources, instances: Sequence[Instance], progress: Progress) -> Tables:
    policy = policy_of(spec)
    model = resources.model(spec.model, spec.dtype)
    asked = [ask(instance, policy) for instance in instances]
    flat = [request for requests in asked for request in requests]
    scores = iter(resources.scorer(spec.model, spec.dtype).score(flat, policy, progress))
    tables: dict[str, list[dict[str, Any]]] = {"scores": [], "measures": []}
    for instance, requests in zip(instances, asked):
        own = [next(scores) for _ in requests]
        tables["scores"] += [score_row(score, i, tokens=bool(spec.settings["tokens"])) for i, score in enumerate(own)]
        tables["measures"] += verdicts.judge(instance, own, policy, str(model.record()["dtype"]))
    return tables


STUDY = Study(
    name="accuracy",
    title="Accuracy",
    question="How often does the model prefer what the benchmark calls right?",
    version=1,
    settings={**SCORING, **selection.SELECTION},
    kinds=("pair", "choice", "cloze", "regions", "labelled"),
    select=selection.select,
    do=do,
    conclude=accuracy_findings.conclude,
)
