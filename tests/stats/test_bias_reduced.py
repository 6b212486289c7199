"""Errors by group from few groups: equal to the matrices they are defined by, and holding the rate they promise."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import norm, t

from explorer.stats.bias_reduced import NO_OTHERS, Spread, bias_reduced
from explorer.stats.clustered import clustered_difference, clustered_mean, clustered_slopes


def by_definition(design, residuals, codes, place):
    """CR2 and Satterthwaite as Pustejovsky and Tipton (2018) write them, with matrices of all rows by all rows."""
    n, bread = codes.size, np.linalg.inv(design.T @ design)
    rest = np.eye(n) - design @ bread @ design.T
    meat, vectors = np.zeros_like(bread), []
    for code in range(codes.max() + 1):
        rows = codes == code
        values, axes = np.linalg.eigh(rest[np.ix_(rows, rows)])
        roots = np.array([1 / np.sqrt(value) if value > 1e-8 else 0.0 for value in values])
        adjust = axes @ np.diag(roots) @ axes.T
        score = design[rows].T @ adjust @ residuals[rows]
        meat += np.outer(score, score)
        vectors.append(rest[:, rows] @ adjust @ design[rows] @ bread[place])
    products = np.array([[one @ other for other in vectors] for one in vectors])
    return bread @ meat @ bread, np.trace(products) ** 2 / (products**2).sum()


@pytest.mark.parametrize("intercepts", [False, True], ids=["one intercept", "an intercept a group"])
def test_covariance_and_freedom_are_those_of_the_definition(intercepts):
    chance = np.random.default_rng(4)
    codes = np.repeat(np.arange(7), [3, 5, 8, 9, 12, 20, 40])
    table = chance.normal(size=(codes.size, 2)) * (1 + codes)[:, None]
    design = np.column_stack([table, np.eye(7)[codes] if intercepts else np.ones(codes.size)])
    residuals = sm.OLS(chance.normal(size=codes.size) + codes, design).fit().resid
    found = bias_reduced(design, residuals, codes)
    for place in (0, 1):
        covariance, freedom = by_definition(design, residuals, codes, place)
        assert found.covariance[:2, :2] == pytest.approx(covariance[:2, :2])
        assert found.spreads[place].freedom == pytest.approx(freedom)


def test_of_groups_of_one_size_a_mean_has_the_errors_and_the_t_of_statsmodels():
    # every group has 1/G of the fit, so that the variance is G / (G - 1) times the plain one, as CR1 has it
    chance, codes = np.random.default_rng(1), np.repeat(np.arange(9), 11)
    values = chance.normal(0.3, 1, codes.size) + chance.normal(size=9)[codes]
    fit = sm.OLS(values, np.ones(codes.size)).fit(cov_type="cluster", cov_kwds={"groups": codes}, use_t=True)
    found = clustered_mean(values, codes)
    assert found.se == pytest.approx(fit.bse[0])
    assert (found.low, found.high, found.p) == pytest.approx((*fit.conf_int()[0], fit.pvalues[0]))


def test_with_many_groups_the_errors_are_those_of_statsmodels():
    chance, codes = np.random.default_rng(2), np.repeat(np.arange(400), 5)
    design = np.column_stack([chance.normal(size=codes.size), np.ones(codes.size)])
    outcome = chance.normal(size=codes.size) + chance.normal(size=400)[codes]
    fit = sm.OLS(outcome, design).fit(cov_type="cluster", cov_kwds={"groups": codes})
    assert bias_reduced(design, fit.resid, codes).errors == pytest.approx(fit.bse, rel=0.01)


def test_equal_parts_are_students_t_and_others_the_ratio_of_normals_they_stand_for():
    equal = Spread(np.full(6, 1 / 6))
    assert equal.freedom == pytest.approx(6)
    assert equal.tails(2.5) == pytest.approx(2 * t(6).sf(2.5))
    assert equal.reach() == pytest.approx(t(6).ppf(0.975))
    unequal = Spread(np.array([0.6, 0.3, 0.1]))
    chance = np.random.default_rng(0)
    variances = (chance.normal(size=(400_000, 3)) ** 2) @ unequal.parts
    assert unequal.tails(3.0) == pytest.approx(2 * norm.sf(3 * np.sqrt(variances)).mean(), abs=5e-4)
    assert unequal.tails(0.0) == pytest.approx(1)
    assert unequal.tails(unequal.reach(0.9)) == pytest.approx(0.1)


def test_a_group_that_alone_decides_a_measure_says_nothing_of_others():
    codes = np.repeat(np.arange(6), 10)
    only = np.where(codes == 2, np.arange(60) % 10 - 4.5, 0.0)
    design = np.column_stack([only, np.eye(6)[codes]])
    residuals = sm.OLS(np.random.default_rng(3).normal(size=60), design).fit().resid
    found = bias_reduced(design, residuals, codes, 1)
    assert found.left_out[0] == pytest.approx(1) and found.is_decided_alone == (True,), "an error of 0 is none"


def sides(treated, rows=(20,) * 8):
    """The design of a difference between `treated` groups and the rest, and the groups."""
    codes = np.repeat(np.arange(len(rows)), rows)
    return np.column_stack([np.ones(codes.size), np.isin(codes, treated)]), codes


def test_of_one_treated_group_the_main_part_of_the_variance_is_missing_and_of_two_none():
    design, codes = sides([0])
    assert bias_reduced(design, np.zeros(160), codes).left_out[1] == pytest.approx(7 / 8)
    assert bias_reduced(sides([0, 1])[0], np.zeros(160), codes).is_decided_alone == (False, False)
    measure = np.random.default_rng(0).normal(size=160)
    intercepts = bias_reduced(np.column_stack([measure, np.eye(8)[codes]]), np.zeros(160), codes, 1)
    assert intercepts.left_out[0] == pytest.approx(0, abs=1e-12), "a group's own intercept is no part of a measure"


@pytest.mark.parametrize("rows", [(20,) * 8, (200, *[40] * 7)], ids=["like groups", "a large one"])
def test_a_difference_of_one_group_from_the_others_has_no_interval(rows):
    design, codes = sides([0], rows)
    right = (np.random.default_rng(1).random(codes.size) < 0.6).astype(float)
    found = clustered_difference(right, design[:, 1], codes)
    assert found.value == pytest.approx(right[codes == 0].mean() - right[codes > 0].mean())
    assert np.isnan([found.low, found.high, found.p]).all() and found.reason == NO_OTHERS
    some = (codes == 0) & (np.arange(codes.size) < 10)  # and of some of one group's items
    assert clustered_difference(right, some.astype(float), codes).reason == NO_OTHERS
    assert clustered_slopes(right, design[:, 1:], codes, ["side"]).slopes[0].reason == NO_OTHERS


def test_of_two_treated_groups_in_eight_one_interval_in_twenty_leaves_out_the_truth():
    chance, false = np.random.default_rng(6), 0
    design, codes = sides([0, 1], (40,) * 8)
    for _ in range(400):
        ease = 1 / (1 + np.exp(-chance.normal(size=8)))[codes]
        false += clustered_difference((chance.random(320) < ease).astype(float), design[:, 1], codes).p < 0.05
    assert 0.02 <= false / 400 <= 0.072


def test_of_eight_unlike_groups_one_interval_in_twenty_leaves_out_the_truth():
    # nothing is there; the usual errors (CR1, t over groups) find a difference in 9.6% of 2,000 such tables
    chance, codes = np.random.default_rng(5), np.repeat(np.arange(8), [10, 10, 20, 20, 40, 60, 120, 200])
    false = 0
    for _ in range(400):
        side = (chance.random(codes.size) < chance.uniform(0, 1, 8)[codes]).astype(float)
        right = (chance.random(codes.size) < 0.7).astype(float)
        false += clustered_difference(right, side, codes).p < 0.05
    assert 0.028 <= false / 400 <= 0.072
