"""Do two measures order the items alike?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from explorer.stats.bootstrap import bootstrap, percentile_interval, resample_weights
from explorer.stats.gaps import drop_gaps, numbers
from explorer.stats.permutation import PERMUTATIONS, pairing_p, standard

_CELLS = 2_000_000  # numbers held at once while permuting


@dataclass(frozen=True, slots=True)
class RankCorrelation:
    """Spearman's rho with its bootstrap interval and permutation p; `groups` is how many groups it is an average of."""

    rho: float
    low: float
    high: float
    p: float
    n: int
    groups: int = 1
    left_out: int = 0
    reason: str = ""


def spearman(
    x: ArrayLike, y: ArrayLike, *, permutations: int = PERMUTATIONS, resamples: int = 1_000, seed: int = 0
) -> RankCorrelation:
    """Spearman's rho with average ranks, its percentile interval over items and its two-sided permutation p.

    The p is exact for up to 8 pairs, else (b + 1) / (N + 1) over `permutations` random ones; with `permutations=0`
    it is that of scipy's t distribution, which is the same to three digits from some hundred pairs on. With
    `resamples=0` there is no interval. Both are quicker on tens of thousands of rows.
    """
    from scipy.stats import spearmanr

    (a, b), left_out = drop_gaps(numbers(x), numbers(y))
    problem = _problem(a, b)
    if problem:
        return RankCorrelation(math.nan, math.nan, math.nan, math.nan, a.size, 1, left_out, problem)
    low, high, reason = math.nan, math.nan, ""
    if resamples:
        low, high, reason = percentile_interval(_resampled(a, b, resamples, seed), 0.95)
    found = spearmanr(a, b)
    p = pairing_p(_ranks(a), _ranks(b), permutations=permutations, seed=seed) if permutations else float(found.pvalue)
    return RankCorrelation(float(found.statistic), low, high, p, a.size, 1, left_out, reason)


def spearman_within(
    x: ArrayLike,
    y: ArrayLike,
    groups: ArrayLike,
    *,
    permutations: int = PERMUTATIONS,
    resamples: int = 1_000,
    seed: int = 0,
) -> RankCorrelation:
    """The mean of the groups' own rhos, each weighted by its items, so that differences between groups play no part.

    The interval is over groups; the p comes from permuting within every group at once. Groups in which a measure is
    constant or that have fewer than 3 items are left out with their items.
    """
    (a, b, names), left_out = drop_gaps(numbers(x), numbers(y), groups)
    parts = [(a[names == name], b[names == name]) for name in np.unique(names)]
    usable = [part for part in parts if not _problem(*part)]
    n = sum(part[0].size for part in usable)
    left_out += a.size - n
    if not usable:
        return RankCorrelation(math.nan, math.nan, math.nan, math.nan, n, 0, left_out, "no group in which both vary")
    sizes = np.array([part[0].size for part in usable], dtype=float)
    ranked = [(standard(_ranks(first)), standard(_ranks(second))) for first, second in usable]
    rhos = np.array([float(first @ second) for first, second in ranked])
    value = float(sizes @ rhos / n)
    low, high = math.nan, math.nan
    if resamples and len(usable) > 1:
        interval = bootstrap(lambda r, w: float(w @ r / w.sum()), rhos, sizes, resamples=resamples, seed=seed)
        low, high = interval.low, interval.high
    rng = np.random.default_rng(seed)
    drawn = np.zeros(permutations)
    for size, (first, second) in zip(sizes, ranked):
        drawn += size * _redrawn(first, second, permutations, rng)
    beyond = int((np.abs(drawn / n) >= abs(value) - 1e-12).sum())
    p = (beyond + 1) / (permutations + 1)
    reason = "" if len(usable) > 1 else "one group has no interval over groups"
    return RankCorrelation(value, low, high, p, n, len(usable), left_out, reason)


def _redrawn(first: np.ndarray, second: np.ndarray, permutations: int, rng: np.random.Generator) -> np.ndarray:
    """The correlation of each random pairing of two standard columns."""
    rows = max(1, _CELLS // first.size)
    parts = [min(rows, permutations - start) for start in range(0, permutations, rows)]
    return np.concatenate([rng.permuted(np.tile(first, (part, 1)), axis=1) @ second for part in parts])


def _problem(a: np.ndarray, b: np.ndarray) -> str:
    if a.size < 3:
        return f"{a.size} pairs, at least 3 are needed"
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return "a constant measure has no correlation"
    return ""


def _resampled(a: np.ndarray, b: np.ndarray, resamples: int, seed: int) -> np.ndarray:
    """The rho of each resample, from weighted average ranks; nan where a resample has one value only."""
    levels = [np.unique(values, return_inverse=True)[1] for values in (a, b)]
    found = np.empty(resamples)
    for i, weights in enumerate(resample_weights(np.arange(a.size), resamples, seed)):
        first, second = (_weighted_ranks(places, weights) for places in levels)
        spread = math.sqrt((weights @ first**2) * (weights @ second**2))
        found[i] = (weights * first) @ second / spread if spread > 0 else math.nan
    return found


def _weighted_ranks(places: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Average ranks of a sample in which row i occurs weights[i] times, less their mean."""
    sizes = np.bincount(places, weights)
    ranks = (np.cumsum(sizes) - sizes / 2)[places]
    return ranks - weights @ ranks / weights.sum()


def _ranks(values: np.ndarray) -> np.ndarray:
    from scipy.stats import rankdata

    return rankdata(values)
