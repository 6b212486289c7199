import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import bootstrap as scipy_bootstrap
from scipy.stats import norm, t

from explorer.stats import bootstrap as bootstrap_module
from explorer.stats.bootstrap import bootstrap, bootstrap_mean, weighted_medians


def test_the_mean_of_zero_and_one_ranges_over_both():
    # resamples of (0, 1) have means 0, 1/2, 1 with chances 1/4, 1/2, 1/4
    found = bootstrap_mean([0, 1])
    assert (found.value, found.low, found.high, found.units) == (0.5, 0.0, 1.0, 2)


def test_bca_equals_scipys():
    values = np.random.default_rng(3).exponential(size=60)
    expected = scipy_bootstrap((values,), np.mean, n_resamples=2_000, method="BCa", rng=np.random.default_rng(5))
    found = bootstrap_mean(values, method="BCa", seed=5)
    assert (found.low, found.high) == pytest.approx(tuple(expected.confidence_interval), abs=0.02)


def test_items_of_a_group_go_together():
    # four suites of 50 equal items: the interval must be that of four values, not of two hundred
    groups = np.repeat(["a", "b", "c", "d"], 50)
    values = np.repeat([0.0, 0.0, 1.0, 1.0], 50)
    over_items, over_groups = bootstrap_mean(values), bootstrap_mean(values, groups)
    assert over_items.high - over_items.low < 0.2
    assert (over_groups.low, over_groups.high, over_groups.units) == (0.0, 1.0, 4)


def test_a_macro_mean_weighs_groups_alike():
    values, groups = [1, 1, 1, 0], ["a", "a", "a", "b"]
    assert bootstrap_mean(values, groups).value == 0.75
    assert bootstrap_mean(values, groups, macro=True).value == 0.5


def test_any_statistic_over_groups_agrees_with_the_mean():
    rng = np.random.default_rng(1)
    groups = rng.integers(0, 12, 90)
    values = rng.standard_normal(90) + groups
    slow = bootstrap(lambda x: float(x.mean()), values, groups=groups, seed=9)
    fast = bootstrap_mean(values, groups, seed=9)
    assert slow.value == pytest.approx(fast.value)
    assert (slow.low, slow.high) == pytest.approx((fast.low, fast.high), abs=0.35)
    assert slow.units == fast.units == 12


def test_one_unit_no_value_and_equal_values_are_said_plainly():
    assert bootstrap_mean([3.0]).reason and math.isnan(bootstrap_mean([3.0]).low)
    assert bootstrap_mean([math.nan]).reason == "no values" and bootstrap_mean([math.nan]).left_out == 1
    same = bootstrap_mean([2.0, 2.0, 2.0], method="BCa")
    assert (same.low, same.value, same.high) == (2.0, 2.0, 2.0)


def test_resamples_on_which_a_statistic_is_undefined_are_left_out_and_counted():
    found = bootstrap(lambda x: float("nan") if np.ptp(x) == 0 else float(np.ptp(x)), [1.0, 2.0, 5.0])
    assert math.isfinite(found.low) and "undefined resamples" in found.reason


@given(st.lists(st.floats(-10, 10), min_size=2, max_size=20), st.integers(0, 99))
def test_the_interval_lies_within_the_data_and_the_seed_decides_it(values, seed):
    found = bootstrap_mean(values, resamples=100, seed=seed)
    assert found == bootstrap_mean(values, resamples=100, seed=seed)
    assert min(values) - 1e-9 <= found.low <= found.high <= max(values) + 1e-9


@pytest.mark.parametrize("macro", [False, True])
def test_a_means_interval_is_that_of_scipy_at_the_level_that_few_groups_need(macro):
    chance = np.random.default_rng(3)
    values, groups = chance.random(1500), chance.integers(0, 60, 1500)
    found = bootstrap_mean(values, groups, macro=macro, seed=7, resamples=999)
    sums = np.array([values[groups == group].sum() for group in range(60)])
    sizes = np.array([(groups == group).sum() for group in range(60)], dtype=float)
    if macro:
        sums, sizes = sums / sizes, np.ones(60)

    def mean_of(total, count, axis=-1):
        return total.sum(axis) / count.sum(axis)

    level = 2 * norm.cdf(t(59).ppf(0.975) * np.sqrt(60 / 59)) - 1  # 95.7%
    expected = scipy_bootstrap(
        (sums, sizes), mean_of, paired=True, vectorized=True, n_resamples=999, method="percentile",
        confidence_level=level, rng=np.random.default_rng(7), batch=max(1, 2_000_000 // 60),
    ).confidence_interval  # fmt: skip
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-12)


def test_an_interval_over_eight_groups_holds_the_truth_nearly_as_often_as_it_says():
    # the middle 95% of resampled means, without allowing for few groups, does so in 88%
    chance, held = np.random.default_rng(11), 0
    for seed in range(1500):
        found = bootstrap_mean(chance.normal(0, 1, 8), resamples=800, seed=seed)
        held += found.low <= 0 <= found.high
    assert 0.92 <= held / 1500 <= 0.96


@pytest.mark.parametrize("macro", [False, True])
def test_groups_that_are_numbers_with_gaps_between_them_give_the_interval_of_groups_that_are_names(macro):
    values = np.random.default_rng(4).random(60)
    names = np.array(list("abcdef") * 10)
    for numbers in ((0, 1, 2, 3, 4, 5), (1, 4, 5, 9, 20, 40), (-3, -1, 0, 2, 5, 7), (0, 5, 9, 100, 10**6, 10**12)):
        codes = np.array(numbers * 10)
        assert bootstrap_mean(values, codes, macro=macro) == bootstrap_mean(values, names, macro=macro)


@pytest.mark.parametrize("rows", [7, 30_000])
def test_resamples_together_are_those_drawn_one_by_one(rows):
    units = np.arange(rows) // 2
    one_by_one = list(bootstrap_module.resample_weights(units, 9, seed=3))
    together = list(bootstrap_module.resample_weights_together(units, 9, seed=3))
    assert np.array_equal(np.concatenate(together), one_by_one)
    assert len(together) == (1 if rows < 100 else 9)  # of long ones no more at a time than fit a processor's cache


@pytest.mark.parametrize("groups", [None, np.arange(60) // 7])
def test_a_statistic_of_many_resamples_at_once_has_the_interval_of_one_by_one(groups):
    values = np.random.default_rng(8).integers(0, 9, 60) / 4

    def median(column):
        return float(np.median(column))

    one_by_one = bootstrap(median, values, groups=groups, seed=2)
    assert bootstrap(median, values, groups=groups, weighted=weighted_medians, seed=2) == one_by_one


def test_a_statistic_one_by_one_has_scipys_interval():
    values = np.random.default_rng(3).exponential(size=50)
    level = 2 * norm.cdf(t(49).ppf(0.975) * np.sqrt(50 / 49)) - 1
    expected = scipy_bootstrap(
        (values,), np.std, n_resamples=500, method="percentile", confidence_level=level, rng=np.random.default_rng(5)
    ).confidence_interval
    found = bootstrap(lambda column: float(np.std(column)), values, resamples=500, seed=5)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-12)
