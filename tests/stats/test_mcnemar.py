import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.stats.mcnemar import mcnemar

right = st.sampled_from([0.0, 0.5, 1.0, math.nan])


def test_five_lost_and_one_gained():
    # two-sided binomial of 5 in 6 at one half: 2 * (6 + 1) / 64 = 0.21875
    found = mcnemar([1] * 5 + [0] + [1, 0], [0] * 5 + [1] + [1, 0])
    assert (found.lost, found.gained, found.n) == (5, 1, 8)
    assert found.p == pytest.approx(0.21875)
    assert (found.before, found.after) == (6 / 8, 2 / 8)


def test_a_tie_counts_as_wrong():
    found = mcnemar([1, 0.5], [0.5, 0])
    assert (found.lost, found.gained, found.before) == (1, 0, 0.5)


def test_no_change_has_p_1_and_says_so():
    assert mcnemar([1, 0], [1, 0]).p == 1
    assert mcnemar([1, 0], [1, 0]).reason == "no item changed"
    assert math.isnan(mcnemar([], []).p)


@given(st.lists(st.tuples(right, right), min_size=1, max_size=40))
def test_turning_time_round_swaps_lost_and_gained_only(pairs):
    before, after = zip(*pairs, strict=True)
    forth, back = mcnemar(before, after), mcnemar(after, before)
    assert (forth.lost, forth.gained, forth.n) == (back.gained, back.lost, back.n)
    assert forth.p == back.p or (math.isnan(forth.p) and math.isnan(back.p))
    assert forth.n + forth.left_out == len(pairs)
