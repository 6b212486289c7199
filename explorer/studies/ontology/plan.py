"""What a run of the ontology study will ask of an endpoint at most, told before it asks anything."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from explorer.errors import UsageError
from explorer.ontologies.prompts import PROMPTS, best
from explorer.records import Instance, RunSpec
from explorer.scoring.http_cost import Planned, estimate
from explorer.studies.ontology import gold
from explorer.studies.ontology.asking import Asking, auto, development_sample, trial, trials_made, with_prompt
from explorer.studies.ontology.context import RunOntology, ontology_of_run

if TYPE_CHECKING:
    from explorer.resources import Resources


def plan(spec: RunSpec, resources: Resources, instances: Sequence[Instance]) -> list[Planned]:
    """The questions about these concepts, with prompt=best also the comparison, and the scores of right ids."""
    ontology = ontology_of_run(spec, resources)
    name = str(spec.settings["prompt"])
    if name == "auto":
        name = auto(spec, resources)
    if name != "best":
        return _requests_of(spec, with_prompt(spec, ontology, PROMPTS[name]), instances)
    if trial_requests := trials_made(spec, resources):
        return _requests_of(spec, with_prompt(spec, ontology, PROMPTS[best(trial_requests).prompt]), instances)
    # Which prompt will be the best is not known yet: the one that would cost most is reckoned with.
    plans = []
    for prompt in PROMPTS.values():
        with contextlib.suppress(UsageError):  # one that has no text in a language asked for would end the run
            plans.append(_requests_of(spec, with_prompt(spec, ontology, prompt), instances))
    return [
        *_compared(spec, resources, ontology),
        *max(plans, key=lambda planned: estimate(planned).prompt_tokens, default=[]),
    ]


def _compared(spec: RunSpec, resources: Resources, ontology: RunOntology) -> list[Planned]:
    sample = development_sample(spec, resources, ontology)
    puts = [trial(spec, ontology, prompt) for prompt in PROMPTS.values()]
    return [Planned([put.requests(instance)[0] for instance in sample], put.new_tokens) for put in puts]


def _requests_of(spec: RunSpec, put: Asking, instances: Sequence[Instance]) -> list[Planned]:
    planned = [Planned([request for instance in instances for request in put.requests(instance)], put.new_tokens)]
    if not spec.settings["gold"] or put.prompt.kind == "chat" or not instances:
        return planned
    mains = [(instance, put.requests(instance)[0]) for instance in instances]
    targets = [gold.target(put, question, instance.options[0]) for instance, question in mains]
    scored = 1 + int(spec.settings["others"]) + put.samples
    priors = min(len(put.ontology.ids), scored * len(instances))
    return [*planned, Planned(targets, 1, scored), Planned(targets[:1], 1, priors)]
