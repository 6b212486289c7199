import math

import pytest

from explorer.stats.fisher import fisher


def test_the_lady_tasting_tea():
    # three of four against one of four: (16 + 1) / 70 in each tail, 34 / 70 in both
    found = fisher([1, 1, 1, 0], [1, 0, 0, 0])
    assert found.p == pytest.approx(34 / 70)
    assert found.value == 0.5
    assert found.low < 0.5 < found.high
    assert found.n == 8


def test_newcombes_interval_of_56_in_70_against_48_in_80():
    # Newcombe 1998, table II, method 10: 0.0524 to 0.3339
    found = fisher([1] * 56 + [0] * 14, [1] * 48 + [0] * 32)
    assert (found.low, found.high) == pytest.approx((0.0524, 0.3339), abs=1e-4)


def test_gaps_are_counted_and_an_empty_group_has_no_difference():
    found = fisher([1, math.nan], [math.nan])
    assert found.left_out == 2 and math.isnan(found.value) and found.reason


def test_swapping_the_groups_turns_the_sign():
    one, other = fisher([1, 1, 0.5, 0], [1, 0, 0]), fisher([1, 0, 0], [1, 1, 0.5, 0])
    assert one.value == -other.value
    assert one.p == pytest.approx(other.p)
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low))
