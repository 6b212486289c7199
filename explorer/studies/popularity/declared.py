"""What a popularity run finds beside accuracy."""

from __future__ import annotations

from collections.abc import Mapping

from explorer.finding import Finding, split_by

EDGE = Finding(
    "popularity_edge",
    "Decile edge of the counts",
    "count",
    "n-gram",
    "The count at or below which `part` tenths of the n-grams of the reference set lie.",
)
SPLIT = split_by("popularity", "popularity score")
INDEX_IS_PRETRAINING_DATA = Finding(
    "index_is_pretraining_data",
    "Index is the model's data",
    "yes or no",
    "item",
    "1 where the counted index is known to be what the model was trained on, 0 where it is known not to be.",
)
FINDINGS = (EDGE, *SPLIT.every, INDEX_IS_PRETRAINING_DATA)
# Name → the findings whose tests are looked at together, and whose p-values are adjusted together.
FAMILIES: Mapping[str, tuple[Finding, ...]] = {
    "popularity and being right": (SPLIT.difference, SPLIT.difference_over_paradigms, SPLIT.slope, SPLIT.auc),
}
# Each measure of an instance → what it is computed from.
COMPUTED_FROM: Mapping[str, tuple[str, ...]] = {
    "ips": ("counts of the option's n-grams",),
    "relative_difference": ("counts of the option's n-grams",),
}
