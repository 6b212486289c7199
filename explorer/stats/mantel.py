"""Do two suite-by-suite matrices agree?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from explorer.errors import StatisticsError
from explorer.stats.estimate import Estimate
from explorer.stats.permutation import PERMUTATIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixCorrelation(Estimate):
    """Spearman's rho over the `cells` off the diagonal and its two-sided Mantel permutation p; n counts suites."""

    cells: int


# Cells of a row share a suite, and so do cells of a column: 67 suites make 4,422 cells, but no 4,422 independent pairs.
# Permuting cells would take them for that. Permuting suites moves a row and its column together, so that every permuted
# matrix hangs together in the same way, and only the link between the two matrices is cut:
#
#     suites  A B C            B A C
#        A    . 1 2        B   . 3 4        row and column of A and B change places together
#        B    3 . 4   →    A   1 . 2
#        C    5 6 .        C   6 5 .
def mantel(
    first: ArrayLike, second: ArrayLike, *, permutations: int = PERMUTATIONS, seed: int = 0
) -> MatrixCorrelation:
    """Spearman's rho of two square matrices without their diagonals, and Mantel's p (Mantel 1967).

    The matrices need not be symmetric: every cell counts. Under the null the rows and columns of one matrix are
    relabeled together, which keeps the dependence between cells that share a suite; p = (b + 1) / (N + 1).
    """
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if a.ndim != 2 or a.shape[0] != a.shape[1] or a.shape != b.shape:
        raise StatisticsError(
            f"The matrices have shapes {a.shape} and {b.shape}, expected two square ones of one size."
        )
    n = a.shape[0]
    off = ~np.eye(n, dtype=bool)
    observed = _rho(a[off], b[off])
    cells = int((np.isfinite(a) & np.isfinite(b) & off).sum())
    left_out = int(off.sum()) - cells
    if n < 4 or not math.isfinite(observed):
        reason = f"{n} suites, at least 4 are needed" if n < 4 else "a constant matrix has no correlation"
        return MatrixCorrelation.point(math.nan, n, left_out=left_out, reason=reason, cells=cells)
    if not left_out:  # ranks survive relabelling as long as no cell is missing
        a, b = _ranks_off_diagonal(a, off), _ranks_off_diagonal(b, off)
    rng = np.random.default_rng(seed)
    beyond = 0
    for _ in range(permutations):
        order = rng.permutation(n)
        permuted = (_rho if left_out else _correlation)(a[off], b[np.ix_(order, order)][off])
        beyond += not abs(permuted) < abs(observed) - 1e-12  # an undefined one counts against the finding
    p = (beyond + 1) / (permutations + 1)
    return MatrixCorrelation.point(observed, n, p=p, left_out=left_out, cells=cells)


def _ranks_off_diagonal(matrix: np.ndarray, off: np.ndarray) -> np.ndarray:
    from scipy.stats import rankdata

    ranks = np.zeros_like(matrix)
    ranks[off] = rankdata(matrix[off])
    return ranks


def _rho(x: np.ndarray, y: np.ndarray) -> float:
    from scipy.stats import rankdata

    present = np.isfinite(x) & np.isfinite(y)
    return _correlation(rankdata(x[present]), rankdata(y[present]))


def _correlation(x: np.ndarray, y: np.ndarray) -> float:
    if x.size < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return math.nan
    x, y = x - x.mean(), y - y.mean()
    return float(x @ y / math.sqrt((x @ x) * (y @ y)))
