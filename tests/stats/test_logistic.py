import math
from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.special import expit

from explorer.stats.logistic import logistic, logistic_curve
from explorer.stats.p_values import stars


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(8)
    score = rng.normal(-300, 40, 400)
    right = rng.random(400) < expit(0.3 + 0.02 * (score + 300))
    return right.astype(float), score


def test_two_by_two_table_by_hand():
    # 3 of 4 right at x = 1, 1 of 4 at x = 0: the odds ratio is (3 / 1) / (1 / 3) = 9
    found = logistic([1, 1, 1, 0, 1, 0, 0, 0], [1, 1, 1, 1, 0, 0, 0, 0])
    assert found.slopes[0].value == pytest.approx(math.log(9))
    assert found.intercept == pytest.approx(math.log(1 / 3))
    # variance 1/3 + 1/1 + 1/1 + 1/3
    assert found.slopes[0].se == pytest.approx(math.sqrt(8 / 3))


def test_equals_statsmodels_on_the_raw_scores(table):
    right, score = table
    expected = sm.Logit(right, sm.add_constant(score)).fit(disp=0)
    found = logistic(right, score, names=["score"])
    slope = found.slopes[0]
    assert found.intercept == pytest.approx(expected.params[0], rel=1e-5)
    assert (slope.value, slope.se, slope.p) == pytest.approx(
        (expected.params[1], expected.bse[1], expected.pvalues[1]), rel=1e-5
    )
    assert (slope.low, slope.high) == pytest.approx(tuple(expected.conf_int()[1]), rel=1e-5)
    assert slope.per_sd == pytest.approx(slope.value * score.std())
    assert stars(slope.p) == "***" and found.loglik == pytest.approx(expected.llf)
    np.testing.assert_allclose(found.covariance, expected.cov_params(), rtol=1e-4)


def test_two_features_equal_statsmodels_and_statsmodels_on_standardized_ones(table):
    right, score = table
    other = np.random.default_rng(9).normal(2, 0.01, score.size)
    both = np.column_stack([score, other])
    expected = sm.Logit(right, sm.add_constant(both)).fit(disp=0)
    scaled = sm.Logit(right, sm.add_constant((both - both.mean(0)) / both.std(0))).fit(disp=0)
    found = logistic(right, score, other, names=["correct", "wrong"])
    for i, slope in enumerate(found.slopes, start=1):
        assert (slope.value, slope.p) == pytest.approx((expected.params[i], expected.pvalues[i]), rel=1e-4)
        assert slope.per_sd == pytest.approx(scaled.params[i], rel=1e-5)


def test_errors_by_group_keep_to_the_level_that_is_asked_for(table):
    right, score = table
    groups = np.arange(400) % 12
    usual, narrow = (logistic(right, score, groups=groups, level=level).slopes[0] for level in (0.95, 0.8))
    assert usual.low < narrow.low < narrow.value < narrow.high < usual.high and usual.p == narrow.p


def test_a_slope_without_interval_has_a_curve_without_band(table):
    right, _ = table
    groups = np.arange(400) % 12
    fit = logistic(right, (groups == 0).astype(float), groups=groups)
    curve = logistic_curve(fit, [0, 1])
    assert math.isnan(fit.slopes[0].p) and np.isfinite(curve.chance).all()
    assert np.isnan(curve.low).all() and np.isnan(curve.high).all()


def test_the_unit_of_the_score_changes_the_slope_and_nothing_else(table):
    right, score = table
    one, other = logistic(right, score).slopes[0], logistic(right, score / 1e6).slopes[0]
    assert other.value == pytest.approx(one.value * 1e6)
    assert (other.p, other.per_sd) == pytest.approx((one.p, one.per_sd))


def test_the_curve_and_its_band(table):
    right, score = table
    fit = logistic(right, score)
    curve = logistic_curve(fit, [-350, -300, -250])
    expected = sm.Logit(right, sm.add_constant(score)).fit(disp=0).get_prediction([[1, -350], [1, -300], [1, -250]])
    np.testing.assert_allclose(curve.chance, expected.predicted, rtol=1e-5)
    frame = expected.summary_frame(alpha=0.05)
    np.testing.assert_allclose(curve.low, frame["ci_lower"], rtol=1e-3)
    np.testing.assert_allclose(curve.high, frame["ci_upper"], rtol=1e-3)
    assert all(low < chance < high for low, chance, high in zip(curve.low, curve.chance, curve.high, strict=True))


@pytest.mark.parametrize(
    ("right", "features", "reason"),
    [
        ([1, 1, 1], [[1, 2, 3]], "every outcome is right"),
        ([0, 0.5, 0], [[1, 2, 3]], "every outcome is wrong"),
        ([1, 0, 1], [[2, 2, 2]], "constant feature: a"),
        ([1, 0, 1, 0], [[1, 2, 3, 4], [1, 2, 3, 4]], "identical features: a, b"),
        ([1, 0, 1, 0], [[1, 2, 3, 4], [3, 5, 7, 9]], "collinear features: a, b"),
        ([0, 0, 1, 1], [[1, 2, 3, 4]], "complete separation by a"),
        ([0, 0, 1, 1], [[1, 2, 2, 4]], "quasi-complete separation by a"),
        ([math.nan], [[1]], "no rows"),
    ],
)
def test_what_has_no_estimate_is_named_without_stars(right, features, reason):
    found = logistic(right, *features, names=["a", "b"][: len(features)])
    assert found.reason == reason
    assert all(math.isnan(slope.value) and stars(slope.p) == "" for slope in found.slopes)
    assert all(math.isnan(chance) for chance in logistic_curve(found, [0.0]).chance)


def test_a_row_with_a_gap_is_left_out_and_counted(table):
    right, score = table
    holed = logistic([*right, 1], [*score, math.nan])
    assert holed.left_out == 1
    assert holed.slopes == tuple(replace(slope, left_out=1) for slope in logistic(right, score).slopes)
