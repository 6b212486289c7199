"""The figures that Golchin et al. 2024 print for GPT-4."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.studies import published_figures
from explorer.studies.published_figures import Printed

PAPER = "icl"
SOURCE = "Golchin et al. (2024)"


def figures_of(benchmark: str) -> Sequence[Printed]:
    """What the paper prints about a data set."""
    return published_figures.select(PAPER, subject=benchmark)


def model() -> str:
    """The edition of the paper's model, as OpenAI names it."""
    return published_figures.figures_of_paper(PAPER)[0].model_id.removeprefix("openai:")


def shots(printed: Printed) -> int:
    """The number of demonstrations of a figure, -1 where it is about all of them."""
    return int(printed.condition.removesuffix(" shots")) if printed.condition else -1
