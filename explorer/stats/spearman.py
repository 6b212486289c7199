"""Do two measures order the items alike?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from explorer.stats.bootstrap import bootstrap
from explorer.stats.gaps import drop_gaps, numbers
from explorer.stats.permutation import PERMUTATIONS, pairing_p


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

    The p is exact for up to 8 pairs, else (b + 1) / (N + 1) over `permutations` random ones. With `resamples=0`
    there is no interval, which is quicker on tens of thousands of rows.
    """
    (a, b), left_out = drop_gaps(numbers(x), numbers(y))
    problem = _problem(a, b)
    if problem:
        return RankCorrelation(math.nan, math.nan, math.nan, math.nan, a.size, 1, left_out, problem)
    low, high = math.nan, math.nan
    if resamples:
        interval = bootstrap(_rho, a, b, resamples=resamples, seed=seed)
        low, high = interval.low, interval.high
    p = pairing_p(_ranks(a), _ranks(b), permutations=permutations, seed=seed)
    return RankCorrelation(_rho(a, b), low, high, p, a.size, 1, left_out)


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
    ranked = [(_standard(_ranks(first)), _standard(_ranks(second))) for first, second in usable]
    rhos = np.array([float(first @ second) for first, second in ranked])
    value = float(sizes @ rhos / n)
    low, high = math.nan, math.nan
    if resamples and len(usable) > 1:
        interval = bootstrap(lambda r, w: float(w @ r / w.sum()), rhos, sizes, resamples=resamples, seed=seed)
        low, high = interval.low, interval.high
    rng = np.random.default_rng(seed)
    drawn = np.zeros(permutations)
    for size, (first, second) in zip(sizes, ranked):
        drawn += size * np.array([rng.permutation(first) @ second for _ in range(permutations)])
    beyond = int((np.abs(drawn / n) >= abs(value) - 1e-12).sum())
    p = (beyond + 1) / (permutations + 1)
    reason = "" if len(usable) > 1 else "one group has no interval over groups"
    return RankCorrelation(value, low, high, p, n, len(usable), left_out, reason)


def _problem(a: np.ndarray, b: np.ndarray) -> str:
    if a.size < 3:
        return f"{a.size} pairs, at least 3 are needed"
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return "a constant measure has no correlation"
    return ""


def _rho(a: np.ndarray, b: np.ndarray) -> float:
    from scipy.stats import spearmanr

    if np.ptp(a) == 0 or np.ptp(b) == 0:  # a resample of one value
        return math.nan
    return float(spearmanr(a, b).statistic)


def _ranks(values: np.ndarray) -> np.ndarray:
    from scipy.stats import rankdata

    return rankdata(values)


def _standard(values: np.ndarray) -> np.ndarray:
    centered = values - values.mean()
    return centered / np.linalg.norm(centered)
