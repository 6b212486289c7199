"""Errors by group: equal to statsmodels, and what is left of a p when items share material."""

import math

import numpy as np
import pytest
import statsmodels.api as sm

from explorer.stats.clustered import clustered_difference, clustered_slopes
from explorer.stats.fisher import fisher


def table(groups: int = 12, each: int = 40, seed: int = 3):
    """Outcomes whose paradigm decides most, a side that differs between paradigms, and no effect of the side."""
    chance = np.random.default_rng(seed)
    names = np.repeat(np.arange(groups), each)
    ease = chance.uniform(0.3, 1.0, groups)[names]
    side = (chance.random(names.size) < chance.uniform(0.1, 0.9, groups)[names]).astype(float)
    return (chance.random(names.size) < ease).astype(float), side, names


def test_a_difference_equals_statsmodels():
    right, side, names = table()
    fit = sm.OLS(right, sm.add_constant(side)).fit(cov_type="cluster", cov_kwds={"groups": names}, use_t=True)
    found = clustered_difference(right, side, names)
    assert found.value == pytest.approx(right[side == 1].mean() - right[side == 0].mean())
    assert (found.low, found.high, found.p) == pytest.approx((*fit.conf_int()[1], fit.pvalues[1]))
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


def test_slopes_equal_statsmodels_in_the_columns_own_units():
    right, side, names = table()
    columns = np.column_stack([side, np.random.default_rng(1).normal(100, 20, side.size)])
    fit = sm.Logit(right, sm.add_constant(columns)).fit(
        disp=0, cov_type="cluster", cov_kwds={"groups": names}, use_t=True
    )
    found = clustered_slopes(right, columns, names, ["side", "length"])
    assert [one.value for one in found.slopes] == pytest.approx(fit.params[1:], rel=1e-5)
    assert [one.se for one in found.slopes] == pytest.approx(fit.bse[1:], rel=1e-4)
    assert [one.p for one in found.slopes] == pytest.approx(fit.pvalues[1:], rel=1e-3)
    assert np.array(found.covariance) == pytest.approx(np.asarray(fit.cov_params()), rel=1e-3, abs=1e-9)
    assert found.loglik == pytest.approx(fit.llf)
