import itertools
import math

import numpy as np
import pytest
from scipy.stats import fisher_exact

from explorer.stats.permutation import mean_difference, pairing_p


def test_all_regroupings_of_a_small_table_are_tried():
    # 1 2 3 against 4 5 6: of the 20 ways to choose three, only this one and its mirror lie 3 apart
    found = mean_difference([1, 2, 3], [4, 5, 6])
    assert (found.difference, found.p, found.permutations) == (-3, pytest.approx(2 / 20), 20)


def test_a_sampled_p_is_b_plus_1_over_N_plus_1():
    found = mean_difference(np.arange(40.0), np.arange(40.0) + 100, permutations=999)
    assert found.p == pytest.approx(1 / 1000)


def test_the_p_of_zeros_and_ones_is_near_fishers_and_the_seed_decides_it():
    first, second = np.repeat([1, 0], [30, 20]), np.repeat([1, 0], [18, 32])
    found = mean_difference(first, second, seed=1)
    assert found.p == pytest.approx(fisher_exact([[30, 20], [18, 32]]).pvalue, abs=0.01)
    assert found == mean_difference(first, second, seed=1)
    assert found.p != mean_difference(first, second, seed=2).p


def test_gaps_are_left_out_and_an_empty_group_has_a_reason():
    found = mean_difference([1, math.nan], [math.nan])
    assert found.left_out == 2 and math.isnan(found.p) and found.reason


def test_a_pairing_p_is_exact_for_few_pairs():
    # only the rising and the falling order of four reach |r| = 1: 2 / 24
    assert pairing_p(np.arange(4.0), np.arange(4.0)) == pytest.approx(2 / 24)
    assert pairing_p(np.arange(20.0), np.arange(20.0), permutations=99) == pytest.approx(1 / 100)


def test_orders_that_tie_with_the_observed_one_count_whatever_rounding_makes_of_them():
    x, y = np.array([0, 7, 7, 7, 7, 9, -9.0]), np.array([8, 0, 7, 9, 9, 7, 6.0])
    one, same = pairing_p(x, y), pairing_p(3 * x + 1, -y)
    exact = [abs(np.dot(x - x.mean(), np.array(order) - y.mean())) for order in itertools.permutations(y)]
    assert one == same == np.mean(np.array(exact) >= exact[0] - 1e-9)
