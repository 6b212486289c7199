"""The figures that Bombieri, Fiorini, Ponzetto and Rospocher 2024 ("Do LLMs dream of ontologies?") print."""

from __future__ import annotations

from explorer.studies import published_figures
from explorer.studies.ontology import declared
from explorer.studies.published_figures import Printed

PAPER, RELEASED = "ontologies", "released"  # the paper, and what follows from the files that its authors released
MODELS = ("Pythia-12B", "GPT-3.5", "GPT-4")
SIGNIFICANT = 0.05  # a star: p of a permutation test is not above it
INVARIANCE = declared.SPEARMAN_INVARIANCE
# What stands beside the paper's figures, in the order shown.
BESIDE = (
    declared.ACCURACY, declared.JACCARD_WRONG, declared.LEVENSHTEIN_WRONG, declared.DISTINCT_PREDICTIONS,
    declared.SPEARMAN_BUCKETS, declared.SPEARMAN_ITEMS, declared.SPEARMAN_JACCARD, declared.SPEARMAN_LEVENSHTEIN,
    declared.SPEARMAN_REPEATED,
)  # fmt: skip


def figures_of(benchmark: str) -> dict[str, dict[str, Printed]]:
    """By finding, then by model, what the paper prints for an ontology."""
    figures: dict[str, dict[str, Printed]] = {}
    for printed in published_figures.select(PAPER, subject=benchmark):
        if printed.metric in {finding.name for finding in BESIDE}:
            figures.setdefault(printed.metric, {})[printed.model] = printed
    return figures


def mark(printed: Printed) -> str:
    """The paper's star, "" where it prints none."""
    return "*" if printed.p else ""


def invariance() -> dict[str, float]:
    """Section 5.3: by way of asking, Spearman between average invariance and accuracy over buckets (GPT-3.5, GO)."""
    return {printed.setting: printed.value for printed in published_figures.select(PAPER, metric=INVARIANCE.name)}


def size(benchmark: str) -> int:
    """How many concepts of an ontology were asked about."""
    return round(published_figures.figure(RELEASED, subject=benchmark, metric="concepts").value)
