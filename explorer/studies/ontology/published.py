"""The figures that Bombieri, Fiorini, Ponzetto and Rospocher 2024 ("Do LLMs dream of ontologies?") print."""

from __future__ import annotations

from collections.abc import Mapping

from explorer.studies import published_figures
from explorer.studies.published_figures import Printed

PAPER, RELEASED = "ontologies", "released"  # the paper, and what follows from the files that its authors released
MODELS = ("Pythia-12B", "GPT-3.5", "GPT-4")
SIGNIFICANT = 0.05  # a star: p of a permutation test is not above it
INVARIANCE = "spearman_invariance"
TITLES: Mapping[str, str] = {
    "accuracy": "Accuracy",
    "jaccard_wrong": "Label overlap of wrong answers (Jaccard)",
    "levenshtein_wrong": "Edits between wrong and right ID (Levenshtein)",
    "distinct_predictions": "Distinct predicted IDs",
    "spearman_buckets": "Spearman, popularity and accuracy over buckets",
    "spearman_items": "Spearman, popularity and accuracy over concepts",
    "spearman_jaccard": "Spearman, popularity and label overlap over buckets",
    "spearman_levenshtein": "Spearman, popularity and edits over buckets",
    "spearman_repeated": "Spearman, bucket and share among the 500 most repeated IDs",
}


def figures_of(benchmark: str) -> dict[str, dict[str, Printed]]:
    """By finding, then by model, what the paper prints for an ontology."""
    figures: dict[str, dict[str, Printed]] = {}
    for one in published_figures.select(PAPER, subject=benchmark):
        if one.metric in TITLES:
            figures.setdefault(one.metric, {})[one.model] = one
    return figures


def mark(printed: Printed) -> str:
    """The paper's star, "" where it prints none."""
    return "*" if printed.p else ""


def invariance() -> dict[str, float]:
    """Section 5.3: by way of asking, Spearman between average invariance and accuracy over buckets (GPT-3.5, GO)."""
    return {one.setting: one.value for one in published_figures.select(PAPER, metric=INVARIANCE)}


def size(benchmark: str) -> int:
    """How many concepts of an ontology were asked about."""
    return round(published_figures.figure(RELEASED, subject=benchmark, metric="concepts").value)
