"""What a completion and the labels of an item are judged to be, the same in a full run and in the lab."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from explorer import prompts_icl
from explorer.records import Factor, Generation, Instance, Score
from explorer.scoring.policy import PRESETS, Normalization, ScoringPolicy
from explorer.similarity import replication, rouge
from explorer.similarity.replication import Match, Rule, Thresholds
from explorer.studies import verdicts
from explorer.variants.demonstrations import Pieces

if TYPE_CHECKING:
    from explorer.resources import Resources
    from explorer.rows.builders import Row


class Judge(Protocol):
    """A rule, here or in a process of its own."""

    def judge(self, references: Sequence[str], candidates: Sequence[str]) -> list[Match]: ...


def rule_of(
    resources: Resources,
    rouge: float = replication.ROUGE,
    cosine: float = replication.COSINE,
    *,
    names: bool = True,
) -> Rule:
    """The rule that judges completions, with what a near-exact one must reach; made once.

    `names` is False for texts that are not English, in which the tagger would take many a word for a name. The encoder
    is left out then, too, since it knows few of their words.
    """
    return resources.once(
        ("replication rule", rouge, cosine, *([] if names else ["no names"])),
        lambda: Rule(
            resources.encoder() if names else None, resources.tagger() if names else None, Thresholds(rouge, cosine)
        ),
    )


def load(rule: Rule) -> None:
    """Has all that the rule judges by in memory, whose packages take seconds to import."""
    rouge.load()
    rule.load()


def judge_completions(rule: Judge, items: Sequence[Pieces], answers: Sequence[Generation]) -> list[Match]:
    """How like the second piece of each item what the model wrote is, cut where a completion ends."""
    return rule.judge([pieces.second for pieces in items], [prompts_icl.completion(answer.text) for answer in answers])


def policy_of(normalization: Normalization = "sum") -> ScoringPolicy:
    """The policy that labels are scored under."""
    return dataclasses.replace(PRESETS["natural"], normalization=normalization)


def judge_labels(
    item: Instance,
    scores: Sequence[Score],
    policy: ScoringPolicy,
    dtype: str,
    factors: Mapping[str, Factor] | None = None,
) -> list[Row]:
    """Rows of `measures` of an item's scored labels: correct, margin, chosen."""
    return verdicts.judge(item, scores, policy, dtype, factors)
