"""Errors by group: estimates equal to statsmodels, and what is left of a p when items share material."""

import math

import numpy as np
import pytest
import statsmodels.api as sm

from explorer.stats.bias_reduced import bias_reduced, logistic_bias_reduced
from explorer.stats.clustered import clustered_difference, clustered_slopes
from explorer.stats.fisher import fisher


def table(groups: int = 12, each: int = 40, seed: int = 3):
    """Outcomes whose paradigm decides most, a side that differs between paradigms, and no effect of the side."""
    chance = np.random.default_rng(seed)
    names = np.repeat(np.arange(groups), each)
    ease = chance.uniform(0.3, 1.0, groups)[names]
    side = (chance.random(names.size) < chance.uniform(0.1, 0.9, groups)[names]).astype(float)
    return (chance.random(names.size) < ease).astype(float), side, names


def test_a_difference_is_the_slope_of_least_squares_with_bias_reduced_errors():
    right, side, names = table()
    design = sm.add_constant(side)
    fit = sm.OLS(right, design).fit(cov_type="cluster", cov_kwds={"groups": names}, use_t=True)
    found = clustered_difference(right, side, names)
    assert found.value == pytest.approx(right[side == 1].mean() - right[side == 0].mean())
    errors = bias_reduced(design, fit.resid, names)
    reach = errors.spreads[1].reach() * errors.errors[1]
    assert (found.low, found.high) == pytest.approx((fit.params[1] - reach, fit.params[1] + reach))
    assert fit.bse[1] < found.se < 1.2 * fit.bse[1], "the usual errors fall short with twelve groups"
    assert found.p == pytest.approx(errors.spreads[1].tails(fit.params[1] / found.se))
    assert (found.units, found.n) == (12, 480)


def test_errors_by_group_are_wider_than_over_items_where_items_share_material():
    wider = 0
    for seed in range(10):
        right, side, names = table(seed=seed)
        items = fisher(right[side == 1], right[side == 0])
        by_group = clustered_difference(right, side, names)
        wider += by_group.high - by_group.low > items.high - items.low
    assert wider >= 8


def test_from_four_groups_there_is_the_difference_and_no_interval():
    found = clustered_difference(*table(groups=4))
    assert math.isfinite(found.value) and math.isnan(found.low) and math.isnan(found.p)
    assert found.reason == "no interval: 4 groups, at least 5 are needed"
    right, side, _ = table(groups=4)
    assert "no interval: 1 group, at" in clustered_difference(right, side, np.zeros(right.size)).reason


def test_slopes_and_errors_are_in_the_columns_own_units():
    right, side, names = table()
    columns = np.column_stack([side, np.random.default_rng(1).normal(100, 20, side.size)])
    design = sm.add_constant(columns)
    fit = sm.Logit(right, design).fit(disp=0)
    found = clustered_slopes(right, columns, names, ["side", "length"])
    assert [one.value for one in found.slopes] == pytest.approx(fit.params[1:], rel=1e-5)
    errors = logistic_bias_reduced(design, right, fit.predict(), names)
    assert [one.se for one in found.slopes] == pytest.approx(errors.errors[1:], rel=1e-4)
    for one, spread in zip(found.slopes, errors.spreads[1:], strict=True):
        assert one.p == pytest.approx(spread.tails(one.value / one.se), rel=1e-3)
    assert np.array(found.covariance) == pytest.approx(errors.covariance, rel=1e-3, abs=1e-9)
    assert found.loglik == pytest.approx(fit.llf)
