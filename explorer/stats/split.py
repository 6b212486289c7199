"""Are items with a high score answered better than items with a low one?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from explorer.stats.estimate import Estimate
from explorer.stats.fisher import fisher
from explorer.stats.gaps import drop_gaps, numbers, outcomes
from explorer.stats.proportion import Proportion, proportion

SMALLEST_HALF = 0.40  # below this share ties decide the split, and the rank split stands beside
TIE_BREAKS = 200


@dataclass(frozen=True, slots=True)
class RankSplit:
    """Accuracies of two equal halves by rank, ties broken at random: means over the seeds, and the
    difference with its 95% range over them."""

    low: float
    high: float
    difference: Estimate
    seeds: int


@dataclass(frozen=True, slots=True)
class LowHigh:
    """Accuracy of the items at or below the median score and of those above it, and the difference high - low."""

    median: float
    low: Proportion
    high: Proportion
    difference: Estimate
    rank_split: RankSplit | None  # where a half holds under 40% of the items
    n: int
    left_out: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Bin:
    """Accuracy of the items whose scores lie in one quantile range (lowest, highest and mean score given)."""

    lowest: float
    highest: float
    mean: float
    accuracy: Proportion


@dataclass(frozen=True, slots=True)
class QuantileCurve:
    """Accuracy per quantile range of the score; fewer bins than asked for where quantiles coincide."""

    bins: tuple[Bin, ...]
    asked: int
    n: int
    left_out: int = 0
    reason: str = ""


def median_split(scores: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Which rows lie at or below the median score and which above it; a row without a score is in neither."""
    values = numbers(scores)
    finite = np.isfinite(values)
    median = np.median(values[finite]) if finite.any() else math.nan
    return finite & (values <= median), finite & (values > median)


def low_high(scores: ArrayLike, right: ArrayLike, *, seed: int = 0) -> LowHigh:
    """Accuracy (ties of the model half) below and above the median score, ties of the score to the low half."""
    (score, outcome), left_out = drop_gaps(numbers(scores), outcomes(right))
    # Ties of the score go to the low half, as the paper has it. Where many items share the median score the halves are
    # then very unequal, which `rank_split` looks at another way.
    below, above = median_split(score)
    low, high = proportion(outcome[below]), proportion(outcome[above])
    small = score.size > 0 and min(below.sum(), above.sum()) < SMALLEST_HALF * score.size
    return LowHigh(
        median=float(np.median(score)) if score.size else math.nan,
        low=low,
        high=high,
        difference=fisher(outcome[above], outcome[below]),
        rank_split=rank_split(score, outcome, seed=seed) if small else None,
        n=score.size,
        left_out=left_out,
        reason=f"the halves hold {low.n} and {high.n} items, since scores tie at the median" if small else "",
    )


# Scores 1 1 1 1 1 1 2 3: the median is 1, so that "at or below" holds six items and "above" two. By rank both halves
# hold four, but which of the six equal items go up is a toss, made many times:
#
#     median split    1 1 1 1 1 1 | 2 3
#     rank split      1 1 1 1 | 1 1 2 3     another four of the six each time
def rank_split(scores: ArrayLike, right: ArrayLike, *, seeds: int = TIE_BREAKS, seed: int = 0) -> RankSplit:
    """Accuracy of the lower and upper half by rank, equal scores ordered at random anew for each of `seeds` splits."""
    (score, outcome), _ = drop_gaps(numbers(scores), outcomes(right))
    if score.size < 2:
        too_few = f"{score.size} scored, 2 or more are needed for halves by rank"
        return RankSplit(math.nan, math.nan, Estimate.point(math.nan, score.size, reason=too_few), 0)
    # Any order of tied items is as good as another, and a single one would be a choice: so the mean over many, and the
    # range that the choice makes. It says nothing about other items.
    rng = np.random.default_rng(seed)
    half = score.size // 2
    means = np.empty((seeds, 2))
    for i in range(seeds):
        order = np.lexsort((rng.random(score.size), score))
        means[i] = outcome[order[:half]].mean(), outcome[order[half:]].mean()
    low, high = map(float, means.mean(axis=0))
    ends = np.quantile(means[:, 1] - means[:, 0], (0.025, 0.975))
    difference = Estimate(high - low, float(ends[0]), float(ends[1]), score.size)
    return RankSplit(low, high, difference, seeds)


def quantile_curve(
    scores: ArrayLike, right: ArrayLike, groups: ArrayLike | None = None, *, bins: int = 10
) -> QuantileCurve:
    """Accuracy with intervals per quantile range: a score's bin is the number of edges strictly below it.

    Intervals are Wilson's over items, or over whole groups where `groups` names each item's.
    """
    columns = (numbers(scores), outcomes(right), *(() if groups is None else (groups,)))
    (score, outcome, *names), left_out = drop_gaps(*columns)
    if not score.size:
        return QuantileCurve((), bins, 0, left_out, "no items")
    # Quantiles that coincide make one bin, not two: an item cannot lie between equal edges.
    edges = np.quantile(score, np.arange(1, bins) / bins)
    index = np.searchsorted(edges, score, side="left")
    bins_made = []
    for number in np.unique(index):
        inside = score[index == number]
        accuracy = proportion(outcome[index == number], *(column[index == number] for column in names))
        bins_made.append(Bin(float(inside.min()), float(inside.max()), float(inside.mean()), accuracy))
    reason = "" if len(bins_made) == bins else f"{len(bins_made)} bins instead of {bins}: quantiles coincide"
    return QuantileCurve(tuple(bins_made), bins, score.size, left_out, reason)
