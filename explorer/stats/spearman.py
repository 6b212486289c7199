"""Do two measures order the items alike?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from explorer.stats.bootstrap import percentile_interval, resample_weights
from explorer.stats.estimate import FEWEST, Estimate, drawn_from_enough
from explorer.stats.gaps import drop_gaps, numbers
from explorer.stats.permutation import PERMUTATIONS, pairing_p, pairing_ps, standardize

_CELLS = 2_000_000  # numbers held at once while permuting


@dataclass(frozen=True, slots=True, kw_only=True)
class RankCorrelation(Estimate):
    """Spearman's rho with its bootstrap interval and permutation p.

    groups  how many groups it is an average of
    units   over how many groups its interval is, where whole groups were drawn anew; else none
    """

    groups: int = 1
    units: int | None = None


Table = Mapping[tuple[str, str], RankCorrelation]


def spearman(
    x: ArrayLike,
    y: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    permutations: int = PERMUTATIONS,
    resamples: int = 1_000,
    seed: int = 0,
) -> RankCorrelation:
    """Spearman's rho with average ranks, its percentile interval over items and its two-sided permutation p.

    With `groups` whole groups are drawn anew for the interval, since their items share material, and there is no p,
    which would take items as independent.
    The p is exact for up to 8 pairs, else (b + 1) / (N + 1) over `permutations` random ones; with `permutations=0`
    it is that of scipy's t distribution, which is the same to three digits from some hundred pairs on. With
    `resamples=0`, and of fewer than five items or groups, there is no interval. Both are quicker on tens of thousands
    of rows.
    """
    from scipy.stats import spearmanr

    first, second = numbers(x), numbers(y)
    (a, b, names), left_out = drop_gaps(first, second, np.arange(first.size) if groups is None else groups)
    units = np.unique(names, return_inverse=True)[1]
    unit_count = None if groups is None else int(units.max(initial=-1)) + 1
    problem = _why_no_correlation(a, b)
    if problem:
        return RankCorrelation.point(math.nan, a.size, left_out=left_out, reason=problem, units=unit_count)
    # The interval is from resampled items, since Fisher's is for normal data; the p is from permuted pairings, since
    # counts and shares have many ties, for which no table of rho holds.
    low, high, reason = math.nan, math.nan, ""
    if resamples:
        count = int(units.max()) + 1
        low, high, reason = percentile_interval(_resampled_rho(a, b, units, resamples, seed), 0.95, count)
        reason = reason if count >= FEWEST else ""  # of fewer there is no interval to tell of
    correlation = spearmanr(a, b)
    if groups is not None:
        rho = float(correlation.statistic)
        return drawn_from_enough(RankCorrelation(rho, low, high, a.size, math.nan, left_out, reason, units=unit_count))
    p = (
        pairing_p(_average_ranks(a), _average_ranks(b), permutations=permutations, seed=seed)
        if permutations
        else float(correlation.pvalue)
    )
    return drawn_from_enough(RankCorrelation(float(correlation.statistic), low, high, a.size, p, left_out, reason))


def spearman_with_all(
    x: ArrayLike, columns: Sequence[ArrayLike], *, permutations: int = PERMUTATIONS, seed: int = 0
) -> list[RankCorrelation]:
    """`spearman` of x with each of the columns, without intervals; what has the same gaps shares its permutations."""
    from scipy.stats import spearmanr

    first = numbers(x)
    results: dict[int, RankCorrelation] = {}
    alike: dict[bytes, list[int]] = {}  # columns by the items that have both measures
    for number, column in enumerate(columns):
        both_known = np.isfinite(first) & np.isfinite(numbers(column))
        if _why_no_correlation(first[both_known], numbers(column)[both_known]):
            results[number] = spearman(first, column, permutations=0, resamples=0)  # says why there is none
        else:
            alike.setdefault(both_known.tobytes(), []).append(number)
    for mask, places in alike.items():
        both_known = np.frombuffer(mask, dtype=bool)
        a, known = first[both_known], [numbers(columns[number])[both_known] for number in places]
        ranks = [_average_ranks(values) for values in known]
        ps = pairing_ps(_average_ranks(a), ranks, permutations=permutations, seed=seed)
        for number, values, p in zip(places, known, ps, strict=True):
            rho, left_out = float(spearmanr(a, values).statistic), first.size - a.size
            results[number] = drawn_from_enough(RankCorrelation(rho, math.nan, math.nan, a.size, p, left_out))
    return [results[number] for number in range(len(columns))]


# Pooled over groups a correlation may be made by the groups alone. Two paradigms, an easy one of frequent words and a
# hard one of rare words, with no relation in either:
#
#     correct     1    1    1    1       0    0    0    0
#     count      90   80   95   85      10   20    5   15        pooled rho 0.87, within each paradigm undefined
#
# So ranks are taken within each group, the groups' rhos averaged by their sizes, and only pairings within a group are
# permuted. What is resampled are groups, since another study would draw other paradigms, not other items of these.
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

    The interval is over groups, from five on; the p comes from permuting within every group at once, with
    `permutations=0` from the normal distribution that this tends to (a group of n items adds a variance of
    1 / (n - 1)). Groups in which a measure is constant or that have fewer than 3 items are left out with their items.
    """
    (a, b, names), left_out = drop_gaps(numbers(x), numbers(y), groups)
    parts = [(a[names == name], b[names == name]) for name in np.unique(names)]
    usable = [part for part in parts if not _why_no_correlation(*part)]
    n = sum(part[0].size for part in usable)
    left_out += a.size - n
    if not usable:
        reason = "no group in which both vary"
        return RankCorrelation.point(math.nan, n, left_out=left_out, reason=reason, groups=0)
    sizes = np.array([part[0].size for part in usable], dtype=float)
    ranked = [(standardize(_average_ranks(first)), standardize(_average_ranks(second))) for first, second in usable]
    rhos = np.array([float(first @ second) for first, second in ranked])
    # Ranks are taken within a group, so that a group that is both easier and more frequent makes no correlation.
    value = float(sizes @ rhos / n)
    low, high = math.nan, math.nan
    if resamples and len(usable) >= FEWEST:
        weights = resample_weights(np.arange(len(usable)), resamples, seed)
        resampled = np.array([(w * sizes) @ rhos / (w @ sizes) for w in weights])
        low, high, _ = percentile_interval(resampled, 0.95, len(usable))
    p = _permuted_p(value, sizes, ranked, permutations, seed) if permutations else _normal_p(value, sizes)
    reason = ""
    if len(usable) < FEWEST:
        few_groups = "1 group" if len(usable) == 1 else f"{len(usable)} groups"
        reason = f"no interval: {few_groups}, at least {FEWEST} are needed"
    return RankCorrelation(value, low, high, n, p, left_out, reason, groups=len(usable))


def spearman_table(columns: Mapping[str, ArrayLike], *, resamples: int = 1_000, seed: int = 0) -> Table:
    """Every pair of columns once, as `spearman` with `permutations=0` has it; what pairs share is made once."""
    from scipy.stats import spearmanr

    arrays = {name: numbers(values) for name, values in columns.items()}
    present = {name: np.isfinite(values) for name, values in arrays.items()}
    correlations: dict[tuple[str, str], RankCorrelation] = {}
    shared: dict[bytes, list[tuple[str, str]]] = {}  # pairs by the items that have both measures
    for a, b in combinations(arrays, 2):
        both_known = present[a] & present[b]
        problem = _why_no_correlation(arrays[a][both_known], arrays[b][both_known])
        if problem:
            n = int(both_known.sum())
            correlations[a, b] = RankCorrelation.point(math.nan, n, left_out=both_known.size - n, reason=problem)
        else:
            shared.setdefault(both_known.tobytes(), []).append((a, b))
    for pairs in shared.values():
        both_known = present[pairs[0][0]] & present[pairs[0][1]]
        names = list(dict.fromkeys(name for pair in pairs for name in pair))
        known_values = [arrays[name][both_known] for name in names]
        resampled = _resampled_table(known_values, resamples, seed)
        for a, b in pairs:
            i, j = names.index(a), names.index(b)
            result = spearmanr(known_values[i], known_values[j])
            n = known_values[i].size
            low, high, reason = math.nan, math.nan, ""
            if resamples:
                low, high, reason = percentile_interval(resampled[:, i, j], 0.95, n)
                reason = reason if n >= FEWEST else ""
            correlations[a, b] = drawn_from_enough(
                RankCorrelation(
                    float(result.statistic), low, high, n, float(result.pvalue), both_known.size - n, reason
                )
            )
    return {pair: correlations[pair] for pair in combinations(arrays, 2)}


def _resampled_table(columns: Sequence[np.ndarray], resamples: int, seed: int) -> np.ndarray:
    """The rho of each pair of columns in each resample, from weighted average ranks."""
    levels = [np.unique(values, return_inverse=True)[1] for values in columns]
    tables = np.empty((resamples, len(columns), len(columns)))
    for number, weights in enumerate(resample_weights(np.arange(columns[0].size), resamples, seed)):
        ranks = np.array([_weighted_ranks(levels_of_rows, weights) for levels_of_rows in levels])
        together = (ranks * weights) @ ranks.T
        spread = np.sqrt(np.diag(together))
        with np.errstate(invalid="ignore", divide="ignore"):
            tables[number] = np.where(np.outer(spread, spread) > 0, together / np.outer(spread, spread), np.nan)
    return tables


# Under no relation a rho of n untied pairs has mean 0 and variance 1 / (n - 1) exactly, and rhos of groups are
# independent. Their mean by size, sum(n rho) / sum(n), so has the variance sum(n² / (n - 1)) / sum(n)².
def _normal_p(value: float, sizes: np.ndarray) -> float:
    from scipy.stats import norm

    spread = math.sqrt(float((sizes**2 / (sizes - 1)).sum())) / float(sizes.sum())
    return float(2 * norm.sf(abs(value) / spread))


def _permuted_p(
    value: float, sizes: np.ndarray, ranked: Sequence[tuple[np.ndarray, np.ndarray]], permutations: int, seed: int
) -> float:
    """The share of rearrangements within every group at once that come at least as far from zero."""
    rng = np.random.default_rng(seed)
    sums = np.zeros(permutations)
    for size, (first, second) in zip(sizes, ranked, strict=True):
        sums += size * _permuted_correlations(first, second, permutations, rng)
    # The one that was seen counts as a rearrangement, too, so that p is never 0.
    beyond = int((np.abs(sums / sizes.sum()) >= abs(value) - 1e-12).sum())
    return (beyond + 1) / (permutations + 1)


def _permuted_correlations(
    first: np.ndarray, second: np.ndarray, permutations: int, rng: np.random.Generator
) -> np.ndarray:
    """The correlation of each random pairing of two standard columns."""
    rows = max(1, _CELLS // first.size)
    parts = [min(rows, permutations - start) for start in range(0, permutations, rows)]
    return np.concatenate([rng.permuted(np.tile(first, (part, 1)), axis=1) @ second for part in parts])


def _why_no_correlation(a: np.ndarray, b: np.ndarray) -> str:
    if a.size < 3:
        return f"{a.size} pairs, at least 3 are needed"
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return "a constant measure has no correlation"
    return ""


def _resampled_rho(a: np.ndarray, b: np.ndarray, units: np.ndarray, resamples: int, seed: int) -> np.ndarray:
    """The rho of each resample, from weighted average ranks; nan where a resample has one value only."""
    levels = [np.unique(values, return_inverse=True)[1] for values in (a, b)]
    rhos = np.empty(resamples)
    for i, weights in enumerate(resample_weights(units, resamples, seed)):
        first, second = (_weighted_ranks(levels_of_rows, weights) for levels_of_rows in levels)
        spread = math.sqrt((weights @ first**2) * (weights @ second**2))
        rhos[i] = (weights * first) @ second / spread if spread > 0 else math.nan
    return rhos


# With weights w = 2, 0, 1 on the values a < b = b the sample is a, a, b. The middles of its blocks are 1 for the two a
# and 2.5 for the b; that all are half a place lower than average ranks changes no correlation, since the mean goes.
def _weighted_ranks(levels_of_rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Average ranks of a sample in which row i occurs weights[i] times, less their mean."""
    sizes = np.bincount(levels_of_rows, weights)
    # All copies of a value share the mean of the places they take up: with weights that is the middle of its block.
    ranks = (np.cumsum(sizes) - sizes / 2)[levels_of_rows]
    return ranks - weights @ ranks / weights.sum()


def _average_ranks(values: np.ndarray) -> np.ndarray:
    from scipy.stats import rankdata

    return rankdata(values)
