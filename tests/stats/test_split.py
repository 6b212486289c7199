import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.stats.split import low_high, median_split, quantile_curve, rank_split

rows = st.lists(st.tuples(st.integers(0, 5), st.sampled_from([0.0, 0.5, 1.0])), min_size=2, max_size=30)


def test_ties_with_the_median_go_to_the_low_half():
    # median of 1 2 2 3 is 2
    low, high = median_split([1, 2, 2, 3, math.nan])
    assert low.tolist() == [True, True, True, False, False]
    assert high.tolist() == [False, False, False, True, False]


def test_low_and_high_accuracy_and_their_difference():
    found = low_high([1, 2, 3, 4, math.nan], [0, 1, 1, 1, 1])
    assert (found.low.value, found.high.value, found.difference.value) == (0.5, 1.0, 0.5)
    assert (found.median, found.n, found.left_out, found.rank_split) == (2.5, 4, 1, None)


def test_a_small_half_brings_the_rank_split():
    # six of eight scores tie at the median, so 'high' holds two items
    found = low_high([1, 1, 1, 1, 1, 1, 2, 3], [0, 1, 0, 1, 0, 1, 1, 1])
    assert (found.low.n, found.high.n) == (6, 2)
    assert "tie at the median" in found.reason
    # both high items are in the upper half whatever the draw, with two of the six tied ones, half of them right
    assert found.rank_split.high == pytest.approx((2 + 2 * 0.5) / 4, abs=0.03)
    assert found.rank_split.low == pytest.approx(0.5, abs=0.03)
    difference = found.rank_split.difference
    assert difference.low <= difference.value <= difference.high


@given(rows)
def test_both_halves_together_are_all_items(pairs):
    scores, right = zip(*pairs, strict=True)
    found = low_high(scores, right)
    assert found.low.n + found.high.n == len(pairs)
    assert found.low.n >= found.high.n
    split = rank_split(scores, right, seeds=5)
    sizes = len(pairs) // 2, len(pairs) - len(pairs) // 2
    assert split.low * sizes[0] + split.high * sizes[1] == pytest.approx(sum(right))


def test_halves_of_a_single_score_are_not_there_with_the_reason():
    for scores in ([], [1.0], [1.0, math.nan]):
        difference = rank_split(scores, [1] * len(scores)).difference
        assert math.isnan(difference.value) and "2 or more are needed" in difference.reason


def test_quantile_curve_by_hand():
    found = quantile_curve([1, 2, 3, 4, 5, 6, 7, 8], [0, 0, 0, 1, 0, 1, 1, 1], bins=4)
    assert [one.accuracy.value for one in found.bins] == [0, 0.5, 0.5, 1]
    assert [(one.lowest, one.highest) for one in found.bins] == [(1, 2), (3, 4), (5, 6), (7, 8)]
    assert all(one.accuracy.low <= one.accuracy.value <= one.accuracy.high for one in found.bins)


@given(rows, st.integers(1, 12))
def test_every_item_is_in_one_bin_and_bins_rise(pairs, bins):
    scores, right = zip(*pairs, strict=True)
    found = quantile_curve(scores, right, bins=bins)
    assert sum(one.accuracy.n for one in found.bins) == len(pairs) == found.n
    assert all(a.highest < b.lowest for a, b in pairwise(found.bins))
    assert (found.reason == "") == (len(found.bins) == bins)


def test_a_curve_of_nothing_and_a_monotone_score():
    assert quantile_curve([], []).reason == "no items"
    x, right = np.random.default_rng(0).random(50), np.tile([0, 1], 25)
    plain, bent = quantile_curve(x, right), quantile_curve(np.exp(x), right)
    assert [one.accuracy for one in plain.bins] == [one.accuracy for one in bent.bins]
