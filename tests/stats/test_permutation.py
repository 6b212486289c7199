import itertools

import numpy as np
import pytest

from explorer.stats.permutation import pairing_p


def test_a_pairing_p_is_exact_for_few_pairs():
    # only the rising and the falling order of four reach |r| = 1: 2 / 24
    assert pairing_p(np.arange(4.0), np.arange(4.0)) == pytest.approx(2 / 24)
    assert pairing_p(np.arange(20.0), np.arange(20.0), permutations=99) == pytest.approx(1 / 100)


def test_orders_that_tie_with_the_observed_one_count_whatever_rounding_makes_of_them():
    x, y = np.array([0, 7, 7, 7, 7, 9, -9.0]), np.array([8, 0, 7, 9, 9, 7, 6.0])
    one, same = pairing_p(x, y), pairing_p(3 * x + 1, -y)
    exact = [abs(np.dot(x - x.mean(), np.array(order) - y.mean())) for order in itertools.permutations(y)]
    assert one == same == np.mean(np.array(exact) >= exact[0] - 1e-9)
