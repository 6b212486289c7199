"""p-values from rearranging the data, with (b + 1) / (N + 1) where the rearrangements are a random sample."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

PERMUTATIONS = 10_000
EXACT_UP_TO = 8  # 8! = 40,320 orders are all tried; 9! would be 362,880
_CELLS = 2_000_000  # numbers held at once while permuting


# Of x = 1 2 3 and y = 1 3 2 there are 3! = 6 pairings, with r = 1, 0.5, 0.5, -0.5, -0.5, -1. The one at hand has 0.5,
# and all six lie at least as far from zero: p = 6 / 6. With columns of mean 0 and length 1 an r is one product, so that
# 10,000 pairings are one matrix product.
def pairing_p(x: np.ndarray, y: np.ndarray, *, permutations: int = PERMUTATIONS, seed: int = 0) -> float:
    """The two-sided p of the correlation of x and y: the share of pairings that give one at least as far from zero.

    All pairings are tried for up to 8 pairs, else `permutations` random ones, p = (b + 1) / (N + 1).
    """
    return pairing_ps(x, [y], permutations=permutations, seed=seed)[0]


def pairing_ps(
    x: np.ndarray, others: Sequence[np.ndarray], *, permutations: int = PERMUTATIONS, seed: int = 0
) -> list[float]:
    """`pairing_p` of x and each of the others, all in the same orders, whose drawing takes most of the time."""
    from scipy.stats import permutation_test

    exact = x.size <= EXACT_UP_TO
    first, seconds = standardize(x), np.array([standardize(y) for y in others]).T
    test = permutation_test(
        (first,),  # one column alone: pairing it with a fixed second tries n! orders instead of n!²
        lambda order, axis=-1: np.abs(order @ seconds),
        permutation_type="pairings",
        vectorized=True,
        n_resamples=math.inf if exact else permutations,
        batch=max(1, _CELLS // x.size),
        alternative="greater",
        rng=np.random.default_rng(seed),
    )
    return [
        _share_beyond(permuted, float(observed), 1.0, exact)
        for permuted, observed in zip(test.null_distribution.T, test.statistic, strict=True)
    ]


def _share_beyond(permuted: np.ndarray, observed: float, scale: float, exact: bool) -> float:
    # Rearrangements that tie with the observed one differ from it by rounding, which scipy's own p takes for less
    # where the observed value is near zero.
    beyond = int((permuted >= observed - 1e-12 * scale).sum())
    return beyond / permuted.size if exact else (beyond + 1) / (permuted.size + 1)


def standardize(values: np.ndarray) -> np.ndarray:
    """Values with mean 0 and length 1, so that the product of two columns is their correlation."""
    centered = values - values.mean()
    return centered / np.linalg.norm(centered)
