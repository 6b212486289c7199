"""Which of many measures go together over the same items?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from numpy.typing import ArrayLike

from explorer.stats.multiple_tests import correct_p_values
from explorer.stats.spearman import RankCorrelation, spearman, spearman_table, spearman_within


@dataclass(frozen=True, slots=True)
class MeasurePair:
    """The rank correlation of two measures, pooled over all items or within groups, and its adjusted p."""

    first: str
    second: str
    correlation: RankCorrelation
    adjusted_p: float


def correlation_table(
    measures: Mapping[str, ArrayLike],
    groups: ArrayLike | None = None,
    *,
    permutations: int = 10_000,
    resamples: int = 1_000,
    seed: int = 0,
) -> tuple[MeasurePair, ...]:
    """Every pair of measures once, pooled or within `groups`, Benjamini-Hochberg over the pairs that are defined.

    With `permutations=0` the p-values are those of the distributions that permutations tend to, which is quicker.
    """
    pairs = list(combinations(measures, 2))
    chance = {"permutations": permutations, "resamples": resamples, "seed": seed}
    if groups is not None:
        correlations = [spearman_within(measures[a], measures[b], groups, **chance) for a, b in pairs]
    elif permutations:
        correlations = [spearman(measures[a], measures[b], **chance) for a, b in pairs]
    else:
        table = spearman_table(measures, resamples=resamples, seed=seed)
        correlations = [table[pair] for pair in pairs]
    adjusted = correct_p_values([correlation.p for correlation in correlations], "benjamini-hochberg").p
    return tuple(
        MeasurePair(a, b, correlation, p) for (a, b), correlation, p in zip(pairs, correlations, adjusted, strict=True)
    )
