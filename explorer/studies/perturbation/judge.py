"""The judge of a perturbation run: a sample of instances whose swaps a chat model calls the same or different.

Source: Ruzzetti, Zanzotto and Caselli, Lexical Popularity, appendix A.3 and Table B.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from explorer import prompts
from explorer.records import Factor, Instance, RunSpec
from explorer.rows.builders import Row, generation_row, thought_rows
from explorer.runs import spec as specs
from explorer.scoring.model import Generator
from explorer.similarity import judge
from explorer.studies import selection
from explorer.variants.perturb import PerturbedInstance

if TYPE_CHECKING:
    from explorer.resources import Resources

ROLE = "judge"
# Tried on pairs of tests/variants/data/shipped_reading.jsonl (NV, seed 0), on equal texts and on unrelated ones.
EMBEDDED = (
    "None of the included models can be this judge. SmolLM2 135M Instruct answered none of 103 pairs with one of the "
    "two words. BERTScore with MiniLM tells swapped from unrelated texts without a mistake, but not the 102 pairs that "
    "two readers called the same from the 23 that both called badly changed (AUC 0.48, where 0.5 is chance). Name a "
    "larger chat model as judge."
)

Perturb = Callable[[Sequence[Instance]], list[PerturbedInstance]]


def judged_setting(settings: Sequence[str]) -> str:
    """Which part-of-speech setting of a run is judged: both where it is among them, as the paper did, else the last."""
    return "NV" if "NV" in settings else settings[-1]


def texts(old: Instance, new: PerturbedInstance) -> tuple[str, str] | None:
    """The right option's text before and after; none where nothing was swapped in it or it has no right option."""
    if new.instance is None or old.gold is None or old.kind == "regions":
        return None
    before, after = (prompts.option_texts(version)[old.gold] for version in (old, new.instance))
    return (before, after) if before != after else None


def group_of(instance: Instance) -> str:
    """What a sample is drawn from: a paradigm of minimal pairs, the whole of any other benchmark."""
    return instance.group if instance.kind == "pair" else instance.benchmark


def sample(spec: RunSpec, resources: Resources, perturb: Perturb) -> frozenset[str]:
    """Ids of `judge_sample` instances of each group, drawn by seed and id among those that were changed."""
    return resources.once(
        ("judge sample", specs.run_id(spec)),
        lambda: sample_judged(
            selection.select(spec, resources), perturb, int(spec.settings["judge_sample"]), spec.seed
        ),
    )


def sample_judged(instances: Sequence[Instance], perturb: Perturb, size: int, seed: int) -> frozenset[str]:
    """At most `size` ids of each group; only as many are perturbed as it takes to find them."""

    # By a hash of seed and id: every part of a run finds the same sample, whatever it has seen of the others.
    def rank(instance: Instance) -> bytes:
        return hashlib.sha256(f"{seed}\x1f{instance.id}".encode()).digest()

    waiting: dict[str, list[Instance]] = {}
    for instance in instances:
        waiting.setdefault(group_of(instance), []).append(instance)
    for members in waiting.values():
        members.sort(key=rank, reverse=True)
    sampled: dict[str, list[str]] = {group: [] for group in waiting}
    while True:
        # Perturbing is what costs: only as many as are still wanted are tried, then as many again for those without a
        # swap.
        batch = [
            members.pop()
            for group, members in waiting.items()
            for _ in range(min(size - len(sampled[group]), len(members)))
        ]
        if not batch:
            return frozenset(name for names in sampled.values() for name in names)
        for old, new in zip(batch, perturb(batch), strict=True):
            if texts(old, new) is not None:
                sampled[group_of(old)].append(old.id)


def rows(
    olds: Sequence[Instance],
    news: Sequence[PerturbedInstance],
    wanted: Collection[str],
    generator: Generator,
    pos: str,
    seed: int,
) -> dict[str, list[Row]]:
    """Rows of `generations`: what the judge answered about each wanted instance, `verdict` being what that means.

    And of `measures`: how much it thought before, where it is a model that does.
    """
    pairs = {
        old.id: pair for old, new in zip(olds, news, strict=True) if old.id in wanted and (pair := texts(old, new))
    }
    requests = [
        dataclasses.replace(request, role=ROLE, factors={"condition": "perturbed", "setting": pos})
        for request in judge.judge_requests(list(pairs.values()), list(pairs))
    ]
    answers = generator.generate(requests, max_new_tokens=judge.TOKENS, seed=seed) if requests else []
    factors: dict[str, Factor] = {"condition": "perturbed", "setting": pos}
    return {
        "generations": [
            generation_row(answer, 0, verdict="" if answer.reason else judge.parse_verdict(answer.text))
            for answer in answers
        ],
        "measures": thought_rows(answers, factors, "judge_thought_chars"),
    }
