"""Families of models that differ in one thing: how far they were trained, how large they are, or their seed.

A checkpoint is a model's id and a revision, `EleutherAI/pythia-160m@step512`. Figures: the Pythia paper (Biderman et
al. 2023, section 2) and the glass box's own schedule (`explorer/glassbox/sizes.py`). Steps and tokens are those of the
training run; a model without a revision is the end of its run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from explorer.scoring.catalog import MODELS


@dataclass(frozen=True, slots=True)
class Suite:
    """Models that were trained alike.

    sizes       id → parameters
    steps       after which weights were kept, in order; () where they differ in size alone
    batch       tokens of one step
    untold      why it is not known how many tokens a model of it has read, as an end of "2 runs are on no line: 2 ..."
    """

    title: str
    sizes: Mapping[str, int]
    steps: tuple[int, ...]
    batch: int
    untold: str = ""


@dataclass(frozen=True, slots=True)
class Training:
    """How far a model of a suite was trained, and how large it is."""

    suite: str
    parameters: int
    step: int
    tokens: int


# Whose end comes along and whose checkpoints are of a second training by the same plan, on another card.
ENDS_APART = ("glassbox-m",)
PYTHIA_STEPS = (0, *(2**power for power in range(10)), *range(1_000, 143_001, 1_000))  # 154 checkpoints
GLASSBOX_STEPS = (0, *(2**power for power in range(11)), 1_399)


def _sizes(pattern: str) -> dict[str, int]:
    """The known models whose whole id has this pattern → parameters, the smallest first."""
    sizes = {known.id: known.parameters for known in MODELS.values() if re.fullmatch(pattern, known.id)}
    return dict(sorted(sizes.items(), key=lambda size: size[1]))


# Zhang et al. 2022 (sections 2.2 and 2.3) tell the size of the corpus and over how many tokens the learning rate falls;
# how many tokens each size read in all, of which steps were kept, they do not. Radford et al. 2019 tell 40 GB of text.
OPT_UNTOLD = (
    "of OPT, whose paper tells the size of its corpus (180 billion tokens) and of its schedule (300 billion) and not "
    "how many tokens each model read"
)
GPT_2_UNTOLD = "of GPT-2, of which was never published how many tokens it read"
OLMO_UNTOLD = "of OLMo without a revision that tells its step and tokens (like @step1000-tokens4B)"

SUITES = {
    "pythia": Suite("Pythia", _sizes(r"EleutherAI/pythia-[\d.]+[mb]"), PYTHIA_STEPS, 2_097_152),
    "pythia-deduped": Suite(
        "Pythia, deduplicated data", _sizes(r"EleutherAI/pythia-[\d.]+[mb]-deduped"), PYTHIA_STEPS, 2_097_152
    ),
    "glassbox": Suite("Glass box", _sizes(r"glassbox-(xs|[sml])"), GLASSBOX_STEPS, 16_384),
    # Of these, no schedule of kept steps is told here: OLMo's revisions say their step and tokens themselves.
    "olmo": Suite("OLMo", _sizes(r"allenai/OLMo-\d+B-hf"), (), 0, OLMO_UNTOLD),
    "olmo-2": Suite("OLMo 2", _sizes(r"allenai/OLMo-2-\d+-\d+B"), (), 0, OLMO_UNTOLD),
    "opt": Suite("OPT", _sizes(r"facebook/opt-[\d.]+[mb]"), (), 0, OPT_UNTOLD),
    "gpt-2": Suite("GPT-2", _sizes(r"openai-community/gpt2(-\w+)?"), (), 0, GPT_2_UNTOLD),
}
_STEP = re.compile(r"step(\d{1,9})")


def training_of(model: str) -> Training | None:
    """How far this model was trained; none where it is of no known suite, or its revision is no step."""
    name, _, revision = model.partition("@")
    for key, suite in SUITES.items():
        if name in suite.sizes and suite.steps:
            if not revision or revision == "main":
                step = suite.steps[-1]
            elif match := _STEP.fullmatch(revision):
                step = int(match[1])
            else:
                return None
            return Training(key, suite.sizes[name], step, step * suite.batch)
    return None


def is_checkpoint(model: str) -> bool:
    """Whether this is a model of a suite on its way: what the page Trajectories is about, and no model of its own."""
    return "@" in model and training_of(model) is not None


def steps_of(model: str) -> tuple[int, ...]:
    """The steps after which weights of this model were kept, () where none are known."""
    name = model.partition("@")[0]
    return next((suite.steps for suite in SUITES.values() if name in suite.sizes), ())
