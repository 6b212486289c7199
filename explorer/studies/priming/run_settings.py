"""What a spec's settings mean for a run: its scoring policy, and what its contexts are drawn from."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from explorer.records import RunSpec
from explorer.scoring.policy import ScoringPolicy
from explorer.studies import chat
from explorer.studies.priming import context, requests
from explorer.studies.priming.context import ContextSource
from explorer.studies.selection import splits_of

if TYPE_CHECKING:
    from explorer.resources import Resources


def policy_of(spec: RunSpec) -> ScoringPolicy:
    """The scoring policy that a spec's settings name."""
    return chat.in_policy(requests.policy_of(str(spec.settings["preset"]), str(spec.settings["bos"])), spec.settings)


def context_source_of(spec: RunSpec, resources: Resources) -> ContextSource:
    """What a run's contexts are drawn from."""
    source = context.build(
        resources,
        spec.model,
        spec.dtype,
        spec.benchmark,
        splits_of(spec.settings),
        str(spec.settings["unrelated"]),
        policy_of(spec).bos,
    )
    # The paper's sentences stand bare where there is no context.
    return dataclasses.replace(source, opening="") if spec.settings["preset"] == "minicons" else source
