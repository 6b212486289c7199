import math

import numpy as np
import pytest
from scipy.stats import pearsonr, pointbiserialr

from explorer.stats.point_biserial import point_biserial


def test_two_right_above_two_wrong():
    # means 4 and 2, standard deviation (over n) of 1 3 3 5 sqrt(2), half of them right: 2 / sqrt(2) * sqrt(.5 * .5)
    found = point_biserial([0, 0, 1, 1], [1, 3, 3, 5])
    assert found.value == pytest.approx(2 / math.sqrt(2) * 0.5)


def test_equals_scipy_with_ties_as_wrong():
    rng = np.random.default_rng(4)
    right, measure = rng.choice([0, 0.5, 1], 50), rng.standard_normal(50)
    found, expected = point_biserial(right, measure), pointbiserialr(right == 1, measure)
    assert (found.value, found.p) == pytest.approx((expected.statistic, expected.pvalue))
    assert (found.low, found.high) == pytest.approx(tuple(pearsonr(right == 1, measure).confidence_interval()))


@pytest.mark.parametrize(
    ("right", "measure", "reason"),
    [
        ([1, 1, 1, 1], [1, 2, 3, 4], "every outcome is the same"),
        ([1, 0, 1, 0], [2, 2, 2, 2], "the measure is constant"),
        ([1, 0, math.nan], [1, 2, 3], "2 items, at least 4 are needed"),
    ],
)
def test_what_has_no_correlation_is_named(right, measure, reason):
    assert point_biserial(right, measure).reason == reason
