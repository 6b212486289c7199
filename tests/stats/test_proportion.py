import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.stats.proportion import proportion, wilson

right = st.sampled_from([0.0, 0.5, 1.0])


def test_wilson_interval_of_three_in_four():
    # z² = 3.8415: center (3 + 1.9207) / (4 + 3.8415) = 0.6275,
    # half width 1.96 / 7.8415 * sqrt(4 * .75 * .25 + 3.8415 / 4) = 0.3269
    found = proportion([1, 1, 1, 0])
    assert found.value == 0.75
    assert (found.low, found.high) == pytest.approx((0.30064, 0.95441), abs=1e-5)
    assert (found.n, found.ties, found.left_out) == (4, 0, 0)


def test_a_tie_is_half_a_success_and_is_counted():
    found = proportion([1, 0.5, 0, math.nan])
    assert (found.value, found.n, found.ties, found.left_out) == (0.5, 3, 1, 1)


def test_no_outcomes_give_no_number_but_a_reason():
    found = proportion([math.nan])
    assert math.isnan(found.value) and found.reason == "no outcomes" and found.left_out == 1


@given(st.lists(right, min_size=1, max_size=40), st.randoms())
def test_order_does_not_matter_and_the_interval_holds_the_value_within_0_and_1(outcomes, random):
    found = proportion(outcomes)
    shuffled = list(outcomes)
    random.shuffle(shuffled)
    assert proportion(shuffled) == found
    assert -1e-12 <= found.low <= found.value + 1e-12 and found.value - 1e-12 <= found.high <= 1 + 1e-12


@given(st.lists(right, min_size=1, max_size=40))
def test_the_opposite_outcomes_mirror_the_interval(outcomes):
    found, opposite = proportion(outcomes), proportion([1 - one for one in outcomes])
    assert (opposite.low, opposite.high) == pytest.approx((1 - found.high, 1 - found.low))


def test_wilsons_interval_is_that_of_statsmodels():
    from statsmodels.stats.proportion import proportion_confint

    for successes, n in ((0, 1), (1, 1), (0, 40), (40, 40), (12.5, 40), (3, 7), (66_999, 67_000), (33_333.5, 67_000)):
        for level in (0.5, 0.95, 0.999):
            expected = proportion_confint(successes, n, alpha=1 - level, method="wilson")
            assert wilson(successes, n, level) == pytest.approx(expected, rel=1e-12, abs=1e-15)


def test_groups_that_are_all_right_leave_room_for_others():
    # 40 outcomes of 8 groups, all right: Wilson's lower end of 8 in 8 is 8 / (8 + 3.8415) = 0.6756
    found = proportion([1.0] * 40, list(range(8)) * 5)
    assert (found.value, found.high, found.n, found.units) == (1.0, pytest.approx(1.0), 40, 8)
    assert found.low == pytest.approx(0.6756, abs=1e-4)
    opposite = proportion([0.0] * 40, list(range(8)) * 5)
    assert (opposite.low, opposite.high) == (pytest.approx(0.0), pytest.approx(0.3244, abs=1e-4))
