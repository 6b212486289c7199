import math

import numpy as np
import pytest
from scipy.stats import spearmanr

from explorer.errors import StatisticsError
from explorer.stats.mantel import mantel


def test_rho_is_spearmans_over_the_cells_off_the_diagonal():
    a, b = np.random.default_rng(0).standard_normal((2, 5, 5))
    off = ~np.eye(5, dtype=bool)
    found = mantel(a, b, permutations=9)
    assert found.value == pytest.approx(spearmanr(a[off], b[off]).statistic)
    assert (found.n, found.cells, found.left_out) == (5, 20, 0)


def test_the_diagonal_plays_no_part():
    a, b = np.random.default_rng(1).standard_normal((2, 6, 6))
    assert mantel(a + 100 * np.eye(6), b, permutations=99) == mantel(a, b, permutations=99)


def test_a_matrix_agrees_with_itself_and_noise_does_not():
    a, noise = np.random.default_rng(2).standard_normal((2, 8, 8))
    assert mantel(a, a, permutations=199).p == pytest.approx(1 / 200)
    assert mantel(a, noise, permutations=199).p > 0.05


def test_one_suite_that_stands_out_in_rows_is_no_evidence_by_itself():
    # a row effect makes 7 cells large at once; relabelling keeps them together, so one suite in eight gives p of 1/8
    a, b = np.zeros((8, 8)), np.zeros((8, 8))
    a[3], b[3] = 1, 1
    found = mantel(a, b, permutations=1_999)
    assert found.value == pytest.approx(1)
    assert found.p == pytest.approx(1 / 8, abs=0.03)


def test_missing_cells_are_left_out_and_counted():
    a, b = np.random.default_rng(3).standard_normal((2, 6, 6))
    holed = a.copy()
    holed[0, 1] = math.nan
    present = np.isfinite(holed) & ~np.eye(6, dtype=bool)
    found = mantel(holed, b, permutations=49)
    assert found.value == pytest.approx(spearmanr(a[present], b[present]).statistic)
    assert (found.cells, found.left_out) == (29, 1)


def test_shapes_and_constants_are_named():
    with pytest.raises(StatisticsError, match="square"):
        mantel(np.zeros((2, 3)), np.zeros((2, 3)))
    assert mantel(np.zeros((5, 5)), np.ones((5, 5))).reason == "a constant matrix has no correlation"
    assert mantel(np.zeros((3, 3)), np.ones((3, 3))).reason.startswith("3 suites")
