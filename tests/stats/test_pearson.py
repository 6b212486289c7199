import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import pearsonr

from explorer.stats.pearson import pearson

points = st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=4, max_size=7)


def test_four_points_by_hand():
    # deviations -1.5 -.5 .5 1.5 and -1.75 .25 -.75 2.25: 5.5 / sqrt(5 * 8.75) = 0.8315;
    # of the 24 orders of y, 0124 (6.5), 0214 and 1024 (5.5) reach as high, 4210, 4201 and 4120 as low
    found = pearson([0, 1, 2, 3], [0, 2, 1, 4])
    assert found.value == pytest.approx(5.5 / math.sqrt(5 * 8.75))
    assert found.p == pytest.approx(6 / 24)


def test_scipys_interval():
    x, y = np.random.default_rng(0).standard_normal((2, 25))
    found, expected = pearson(x, y), pearsonr(x, y)
    assert found.value == pytest.approx(expected.statistic)
    assert (found.low, found.high) == pytest.approx(tuple(expected.confidence_interval()))
    assert found.p == pytest.approx(expected.pvalue, abs=0.02)


def test_three_points_and_a_constant_series_are_named():
    assert pearson([1, 2, 3], [1, 2, 3]).reason == "3 points, at least 4 are needed"
    assert pearson([1, 2, 3, 4, math.nan], [5, 5, 5, 5, 1]).reason == "a constant series has no correlation"
    assert math.isnan(pearson([1, 2, 3, 4], [5, 5, 5, 5]).p)


@given(points)
def test_shifting_and_stretching_change_nothing(rows):
    x, y = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    assume(np.ptp(x) > 0 and np.ptp(y) > 0)
    found, moved = pearson(x, y), pearson(3 * x + 1, -y)
    assert moved.value == pytest.approx(-found.value, abs=1e-9)
    assert moved.p == pytest.approx(found.p)
    assert abs(found.value) <= 1 + 1e-12
