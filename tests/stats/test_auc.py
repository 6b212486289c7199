import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from explorer.stats.auc import _resampled_auc, auc, roc_curve


def test_auc_by_hand():
    # right 3 and 2, wrong 1 and 2: of the four pairs 3>1, 3>2, 2>1 count one and 2=2 one half
    found = auc([1, 1, 0, 0], [3, 2, 1, 2])
    assert found.value == pytest.approx(3.5 / 4)
    assert found.n == 4


@settings(max_examples=25)
@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(-3, 3)), min_size=2, max_size=20).filter(
        lambda rows: 0 < sum(right for right, _ in rows) < len(rows)
    )
)
def test_a_resample_has_scikit_learns_auc_and_monotone_scores_change_nothing(rows):
    right, score = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    drawn = _resampled_auc(right, score, np.arange(right.size), 5, 0)
    rng = np.random.default_rng(0)
    for value in drawn:
        chosen = rng.integers(0, right.size, right.size)
        if np.ptp(right[chosen]) == 0:
            assert math.isnan(value)
        else:
            assert value == pytest.approx(roc_auc_score(right[chosen], score[chosen]))
    assert auc(right, score, resamples=20) == auc(right, np.exp(score), resamples=20)
    assert auc(right, score, resamples=2).value == pytest.approx(1 - auc(right, -score, resamples=2).value)


def test_the_interval_of_a_useless_score_holds_one_half_and_groups_widen_it():
    rng = np.random.default_rng(5)
    groups = np.repeat(np.arange(20), 20)
    right = rng.random(400) < (groups % 2) * 0.4 + 0.3
    useless, suite = auc(right, rng.standard_normal(400)), rng.standard_normal(20)[groups]
    assert useless.low < 0.5 < useless.high
    by_item, by_suite = auc(right, suite), auc(right, suite, groups)
    assert by_suite.value == by_item.value
    assert by_suite.high - by_suite.low > by_item.high - by_item.low


def test_an_area_is_as_sure_as_its_smaller_class():
    score = np.random.default_rng(2).normal(size=100)
    few = auc(np.arange(100) < 4, score, resamples=200)
    assert math.isfinite(few.value) and math.isnan(few.low)
    assert few.reason == "no interval: 4 units in the smaller class, at least 5 are needed"
    assert auc(np.arange(100) < 1, score, resamples=50).reason.startswith("no interval: 1 unit in")
    assert math.isfinite(auc(np.arange(100) < 5, score, resamples=200).low)
    groups = np.arange(100) % 10
    assert math.isnan(auc(groups < 4, score, groups, resamples=50).low), "those who are right are of four groups"


def test_one_class_is_reported():
    assert auc([1, 1], [1, 2]).reason == "every outcome is the same"
    assert auc([math.nan], [1]).reason == "no items" and auc([math.nan], [1]).left_out == 1
    assert roc_curve([1, 1], [1, 2]).false_positive == ()


def test_the_area_under_the_curves_corners_is_the_auc():
    rng = np.random.default_rng(6)
    right, score = rng.integers(0, 2, 50), rng.integers(0, 9, 50)
    curve = roc_curve(right, score)
    assert np.trapezoid(curve.true_positive, curve.false_positive) == pytest.approx(auc(right, score).value)
