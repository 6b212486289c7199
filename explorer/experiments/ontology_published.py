"""The figures that Bombieri, Fiorini, Ponzetto and Rospocher 2024 ("Do LLMs dream of ontologies?") print, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

MODELS = ("Pythia-12B", "GPT-3.5", "GPT-4")
SIZES = {"go": 42_854, "uberon": 15_543}  # concepts
SIGNIFICANT = 0.05


@dataclass(frozen=True, slots=True)
class Published:
    """A printed number: where it stands, what it is called among our findings, and of whom it is."""

    table: str
    benchmark: str
    model: str
    finding: str
    value: float
    note: str = ""
    mark: str = ""  # the paper's star: p <= SIGNIFICANT in a permutation test


# Tables 2 and 4 do not follow from the files that the authors released (Pythia-12B on GO).
SETTING_DIFFERS = "does not follow from the released files"

_TABLES: Sequence[tuple[str, str, str, tuple[float, float, float], str]] = (
    ("Table 1", "go", "accuracy", (0.007, 0.061, 0.127), ""),
    ("Table 1", "uberon", "accuracy", (0.000, 0.003, 0.013), ""),
    ("Table 2", "go", "jaccard_wrong", (0.149, 0.301, 0.338), SETTING_DIFFERS),
    ("Table 2", "go", "levenshtein_wrong", (4.409, 3.964, 3.814), SETTING_DIFFERS),
    ("Table 2", "uberon", "jaccard_wrong", (0.001, 0.047, 0.033), SETTING_DIFFERS),
    ("Table 2", "uberon", "levenshtein_wrong", (6.570, 3.533, 4.580), SETTING_DIFFERS),
    ("Table 3", "go", "distinct_predictions", (1353, 7182, 12308), ""),
    ("Table 3", "uberon", "distinct_predictions", (30, 641, 2971), ""),
    ("Table 4", "go", "spearman_jaccard", (0.788, 0.590, 0.595), SETTING_DIFFERS),
    ("Table 4", "go", "spearman_levenshtein", (-0.714, -0.364, -0.208), SETTING_DIFFERS),
    ("Section 5.2", "go", "spearman_buckets", (0.85, 0.99, 0.98), ""),
)
NO_STARS = ("", "", "")
STARS: Mapping[str, tuple[str, str, str]] = {
    "spearman_buckets": ("*", "*", "*"),
    "spearman_jaccard": ("*", "*", "*"),
    "spearman_levenshtein": ("*", "*", ""),
}
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

PUBLISHED: Sequence[Published] = (
    *(
        Published(table, benchmark, model, finding, value, note, STARS.get(finding, NO_STARS)[MODELS.index(model)])
        for table, benchmark, finding, values, note in _TABLES
        for model, value in zip(MODELS, values)
    ),
    Published("Section 5.2", "go", "Pythia-12B", "spearman_repeated", 0.868, mark="*"),
    Published("Section 5.2", "go", "GPT-3.5", "spearman_repeated", 0.947, mark="*"),
)

# Section 5.3: Spearman between average invariance and accuracy over buckets, GPT-3.5 on the Gene Ontology.
INVARIANCE: Mapping[str, float] = {"PI-2": 0.95, "PI-3": 0.85}


def figures_of(benchmark: str) -> dict[str, dict[str, Published]]:
    """By finding, then by model, what the paper prints for an ontology."""
    found: dict[str, dict[str, Published]] = {}
    for one in PUBLISHED:
        if one.benchmark == benchmark:
            found.setdefault(one.finding, {})[one.model] = one
    return found
