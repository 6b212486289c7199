import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from explorer.stats.spearman import _resampled_rho, spearman, spearman_table, spearman_with_all, spearman_within

pairs = st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=3, max_size=8)


def test_spearman_of_one_swap():
    # ranks 1 2 3 against 1 3 2: squared differences 0 + 1 + 1, so 1 - 6 * 2 / (3 * 8) = 0.5
    assert spearman([1, 2, 3], [10, 30, 20]).value == pytest.approx(0.5)


def test_of_four_items_there_is_a_correlation_with_its_p_and_no_interval():
    found = spearman([1, 2, 3, 4], [1, 2, 4, 3])
    assert found.value == pytest.approx(0.8) and math.isfinite(found.p) and math.isnan(found.low)
    assert found.reason == "no interval: 4 units, at least 5 are needed"
    pair = spearman_table({"a": [1, 2, 3, 4], "b": [1, 2, 4, 3]}, resamples=50)["a", "b"]
    assert pair.value == pytest.approx(0.8) and math.isnan(pair.low)


def test_the_exact_p_of_seven_points_in_order():
    # of 5,040 orders only the rising and the falling one reach |rho| = 1
    assert spearman(range(7), range(7)).p == pytest.approx(2 / 5040)


def test_ties_share_their_average_rank_as_in_scipy():
    x, y = [1, 1, 2, 3, 3, 3], [2, 1, 4, 4, 5, 3]
    assert spearman(x, y).value == pytest.approx(spearmanr(x, y).statistic)


@given(pairs)
def test_a_resample_has_scipys_rho(rows):
    x, y = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    rng = np.random.default_rng(0)
    for value in _resampled_rho(x, y, np.arange(len(x)), 5, 0):
        chosen = rng.integers(0, x.size, x.size)
        if np.ptp(x[chosen]) == 0 or np.ptp(y[chosen]) == 0:
            assert math.isnan(value)
        else:
            assert value == pytest.approx(spearmanr(x[chosen], y[chosen]).statistic)


def test_a_random_p_is_reproducible_and_never_zero():
    x = np.arange(30.0)
    found = spearman(x, x, permutations=500, resamples=200)
    assert found.p == pytest.approx(1 / 501)
    assert found == spearman(x, x, permutations=500, resamples=200)


def test_a_constant_measure_and_too_few_pairs_are_named():
    assert spearman([1, 1, 1], [1, 2, 3]).reason == "a constant measure has no correlation"
    assert spearman([1, 2, math.nan], [1, 2, 3]).reason.startswith("2 pairs")
    assert spearman([1, 2, math.nan], [1, 2, 3]).left_out == 1


@given(pairs)
def test_a_monotone_transformation_changes_nothing_and_swapping_the_measures_neither(rows):
    x, y = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    found, bent, swapped = (spearman(a, b, resamples=0) for a, b in ((x, y), (np.exp(x / 3), y**3), (y, x)))
    for other in (bent, swapped):
        assert other.value == pytest.approx(found.value, nan_ok=True)
        assert other.p == pytest.approx(found.p, nan_ok=True)
    assert math.isnan(found.value) or -1 - 1e-12 <= found.value <= 1 + 1e-12


def test_within_groups_a_difference_between_groups_plays_no_part():
    # in each suite the order is reversed, although the suite with the higher x has the higher y
    x, y = [1, 2, 3, 11, 12, 13], [3, 2, 1, 13, 12, 11]
    groups = ["a"] * 3 + ["b"] * 3
    assert spearman(x, y).value > 0
    found = spearman_within(x, y, groups, permutations=999)
    assert found.value == pytest.approx(-1)
    # each suite alone reaches -1 or 1 in 1 of 6 orders; both the same sign in 2 of 36
    assert found.p == pytest.approx(2 / 36, abs=0.03)
    assert (found.groups, found.n) == (2, 6)


def test_within_groups_weighs_a_group_by_its_items_and_leaves_out_constant_ones():
    x, y = [1, 2, 3, 4, 1, 2, 3, 5, 5, 5], [1, 2, 3, 4, 1, 3, 2, 1, 2, 3]
    found = spearman_within(x, y, ["a"] * 4 + ["b"] * 3 + ["c"] * 3, permutations=99)
    assert found.value == pytest.approx((4 * 1 + 3 * 0.5) / 7)
    assert (found.groups, found.n, found.left_out) == (2, 7, 3)


def test_from_four_groups_there_is_a_correlation_and_no_interval():
    chance = np.random.default_rng(1)
    x, y = chance.normal(size=(2, 60))
    four, five = np.arange(60) % 4, np.arange(60) % 5
    for found in (spearman_within(x, y, four, permutations=0), spearman(x, y, groups=four)):
        assert math.isfinite(found.value) and math.isnan(found.low)
        assert found.reason == "no interval: 4 groups, at least 5 are needed"
    assert spearman_within(x, y, five, permutations=0).low < spearman_within(x, y, five, permutations=0).high


def test_without_permutations_the_p_is_scipys_and_near_the_permuted_one():
    rng = np.random.default_rng(4)
    x = rng.standard_normal(300)
    y = 0.12 * x + rng.standard_normal(300)
    found = spearman(x, y, permutations=0, resamples=0)
    assert found.p == pytest.approx(spearmanr(x, y).pvalue)
    assert found.p == pytest.approx(spearman(x, y, permutations=20_000, resamples=0).p, abs=0.01)


def test_a_table_of_pairs_has_what_each_pair_has_by_itself():
    rng = np.random.default_rng(7)
    a = rng.standard_normal(80)
    columns = {"a": a, "b": a + rng.standard_normal(80), "c": np.where(rng.random(80) < 0.3, math.nan, a**2),
               "flat": np.ones(80), "few": np.r_[1.0, 2.0, np.full(78, math.nan)]}  # fmt: skip
    for (first, second), found in spearman_table(columns, resamples=60).items():
        alone = spearman(columns[first], columns[second], permutations=0, resamples=60)
        assert (found.n, found.left_out, found.reason) == (alone.n, alone.left_out, alone.reason)
        for name in ("value", "low", "high", "p"):
            assert getattr(found, name) == pytest.approx(getattr(alone, name), nan_ok=True)


def test_within_groups_the_normal_p_is_near_the_permuted_one():
    rng = np.random.default_rng(8)
    groups = np.repeat(np.arange(20), 12)
    x = rng.standard_normal(240) + groups
    y = 0.12 * x + rng.standard_normal(240)
    quick, slow = (spearman_within(x, y, groups, permutations=n, resamples=50) for n in (0, 5_000))
    assert (quick.value, quick.low, quick.high) == (slow.value, slow.low, slow.high)
    assert quick.p == pytest.approx(slow.p, abs=0.02)
    assert quick.low < quick.value < quick.high


@pytest.mark.parametrize("size", [4, 7, 40])
def test_one_measure_with_many_has_what_it_has_with_each(size):
    chance = np.random.default_rng(3)
    x = chance.integers(0, 9, size).astype(float)
    columns = [x + chance.normal(0, 5, size), chance.normal(size=size), np.ones(size), chance.integers(0, 3, size)]
    columns[1][1], columns[0][2] = math.nan, math.inf
    together = spearman_with_all(x, columns, permutations=300, seed=5)
    for column, result in zip(columns, together, strict=True):
        alone = spearman(x, column, permutations=300, resamples=0, seed=5)
        assert dataclasses.asdict(result) == pytest.approx(dataclasses.asdict(alone), nan_ok=True)
        assert (result.p == alone.p) or (math.isnan(result.p) and math.isnan(alone.p))
