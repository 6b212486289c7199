"""Means and correlations of a sample that took more of some strata than of others, as they would be of the whole.

Of a bucket of 9,000 concepts and one of 200, 130 each may be drawn. Their plain mean is of no population; weighing each
by how many it stands for (the size of its stratum over what was drawn of it) gives the population's (Horvitz and
Thompson 1952). Intervals draw anew within every stratum, as the sample was drawn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from explorer.stats.bootstrap import RESAMPLES, Bootstrapped, percentile_interval
from explorer.stats.estimate import Estimate
from explorer.stats.gaps import drop_gaps, numbers, outcomes
from explorer.stats.permutation import PERMUTATIONS
from explorer.stats.proportion import Proportion, wilson

NO_WEIGHT = "all weights are 0: no row stands for any of the population"


@dataclass(frozen=True, slots=True)
class Strata:
    """For each row the stratum it was drawn from and how many members of the population it stands for."""

    names: np.ndarray
    weights: np.ndarray

    @classmethod
    def of(cls, names: Sequence[int], sizes: Mapping[int, int]) -> Strata:
        """From each row's stratum and how many members each stratum has in the population."""
        codes = np.asarray(names)
        sample_sizes = {name: int((codes == name).sum()) for name in set(codes.tolist())}
        weights = np.array(
            [sizes[name] / sample_sizes[name] if sizes.get(name) else math.nan for name in codes.tolist()]
        )
        return cls(codes, weights)

    def where(self, rows: np.ndarray) -> Strata:
        """Those of some of the rows."""
        return Strata(self.names[rows], self.weights[rows])


def weighted_mean(
    values: ArrayLike, strata: Strata, *, level: float = 0.95, resamples: int = RESAMPLES, seed: int = 0
) -> Bootstrapped:
    """The population's mean, with its interval from rows drawn anew within their strata."""
    (known_values, weights, names), left_out = drop_gaps(numbers(values), strata.weights, strata.names)
    if not known_values.size:
        return Bootstrapped.point(math.nan, left_out=left_out, reason="no values", units=0)
    if not weights.any():
        return Bootstrapped.point(
            math.nan, known_values.size, left_out=left_out, reason=NO_WEIGHT, units=known_values.size
        )
    low, high, reason = math.nan, math.nan, "one item or group has no interval"
    if known_values.size > 1:
        means = np.array(
            [
                float((weights * times) @ known_values / (weights @ times))
                for times in _redrawn_counts(names, resamples, seed)
            ]
        )
        low, high, reason = percentile_interval(means, level, known_values.size)
    value = float(weights @ known_values / weights.sum())
    return Bootstrapped(value, low, high, known_values.size, left_out=left_out, reason=reason, units=known_values.size)


def weighted_share(right: ArrayLike, strata: Strata, *, level: float = 0.95) -> Proportion:
    """The population's share of right outcomes, with Wilson's interval at Kish's effective number of them.

    A bootstrap of zeros has no width; weights w count as (sum w)² / sum w² equal ones (Kish 1965).
    """
    (known_values, weights, _), left_out = drop_gaps(outcomes(right), strata.weights, strata.names)
    if not known_values.size:
        return Proportion.point(math.nan, left_out=left_out, reason="no outcomes")
    if not weights.any():
        return Proportion.point(math.nan, known_values.size, left_out=left_out, reason=NO_WEIGHT)
    value = float(weights @ known_values / weights.sum())
    effective = float(weights.sum() ** 2 / (weights @ weights))
    low, high = wilson(value * effective, effective, level)
    return Proportion(value, low, high, known_values.size, left_out=left_out, ties=int((known_values == 0.5).sum()))


def weighted_spearman(
    x: ArrayLike, y: ArrayLike, strata: Strata, *, permutations: int = PERMUTATIONS, resamples: int = 0, seed: int = 0
) -> Estimate:
    """Spearman's rho as of the population: Pearson's of weighted average ranks, p from permuting y over the rows.

    Which rows were drawn depends on x, not on y, so that without a relation any pairing is as likely as another.
    """
    (a, b, weights, names), left_out = drop_gaps(numbers(x), numbers(y), strata.weights, strata.names)
    if a.size < 3 or np.ptp(a) == 0 or np.ptp(b) == 0:
        reason = "fewer than 3 pairs" if a.size < 3 else "a measure is constant"
        return Estimate.point(math.nan, a.size, left_out=left_out, reason=reason)
    if not weights.any():
        return Estimate.point(math.nan, a.size, left_out=left_out, reason=NO_WEIGHT)
    value = _weighted_rho(a, b, weights)
    low = high = math.nan
    if resamples:
        resampled = [_weighted_rho(a, b, weights * times) for times in _redrawn_counts(names, resamples, seed)]
        low, high, _ = percentile_interval(np.array(resampled), 0.95, a.size)
    p = math.nan
    if permutations:
        chance = np.random.default_rng(seed)
        reached = sum(
            abs(_weighted_rho(a, chance.permutation(b), weights)) >= abs(value) - 1e-12 for _ in range(permutations)
        )
        p = (reached + 1) / (permutations + 1)
    return Estimate(value, low, high, a.size, p, left_out)


# A value's average rank is the mean of the places its copies take: behind all smaller ones, m of them, w copies take
# the places m + 1 ... m + w, whose mean is m + (w + 1) / 2.
#
#     values   1  5  5  9        weights  2  1  3  1
#     places   1-2   3-6   7     ranks    1.5  4.5  4.5  7
def weighted_ranks(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Average ranks of the population in which each value stands `weights` times; of weights of 1 the usual ones."""
    order = np.argsort(values, kind="stable")
    ordered, mass = values[order], weights[order]
    starts = np.flatnonzero(np.append(True, np.diff(ordered) > 0))
    of_value = np.add.reduceat(mass, starts)
    middle = np.cumsum(of_value) - of_value + (of_value + 1) / 2
    ranks = np.empty(values.size)
    ranks[order] = np.repeat(middle, np.diff(np.append(starts, values.size)))
    return ranks


def _weighted_rho(a: np.ndarray, b: np.ndarray, weights: np.ndarray) -> float:
    share = weights / weights.sum()
    first, second = weighted_ranks(a, weights), weighted_ranks(b, weights)
    first, second = first - share @ first, second - share @ second
    scale = math.sqrt(float(share @ first**2) * float(share @ second**2))
    return float(share @ (first * second)) / scale if scale else math.nan


def _redrawn_counts(names: np.ndarray, resamples: int, seed: int):  # type: ignore[no-untyped-def]
    """For each resample how often each row was drawn, every stratum drawn anew with as many rows."""
    # Counts rather than rows: they multiply the weights, and nothing else of a statistic has to be made anew.
    chance = np.random.default_rng(seed)
    members = [np.flatnonzero(names == name) for name in np.unique(names)]
    for _ in range(resamples):
        times = np.zeros(names.size)
        for rows in members:
            times[rows] = np.bincount(chance.integers(0, rows.size, rows.size), minlength=rows.size)
        yield times
