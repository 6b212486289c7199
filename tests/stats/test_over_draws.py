"""A change over items and over draws: the interval is as wide as either makes it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from explorer.stats.over_draws import change_over_draws


def test_the_mean_change_and_its_spread_over_draws():
    before = np.ones(8)
    after = np.column_stack([[1, 1, 0, 1] * 2, [1, 0, 0, 1] * 2]).astype(float)
    found = change_over_draws(before, after)
    # 25 % lost in the first draw and 50 % in the second: mean -37.5, sd 25 / sqrt(2)
    assert found.change.value == pytest.approx(-37.5)
    assert (found.least, found.greatest, found.draws) == (-50, -25, 2)
    assert found.sd == pytest.approx(25 / math.sqrt(2))
    assert math.isnan(found.change.low) and found.change.reason == "no interval: 2 draws, at least 5 are needed"
    more = change_over_draws(before, np.column_stack([after, after, after])).change
    assert more.low < -37.5 < more.high


def test_draws_that_differ_widen_the_interval_beyond_the_items():
    chance = np.random.default_rng(0)
    before = np.ones(2_000)
    alike = np.column_stack([chance.random(2_000) < 0.8 for _ in range(5)]).astype(float)
    apart = np.column_stack([chance.random(2_000) < share for share in (0.7, 0.76, 0.8, 0.84, 0.9)]).astype(float)
    narrow, wide = change_over_draws(before, alike).change, change_over_draws(before, apart).change
    assert wide.high - wide.low > 2 * (narrow.high - narrow.low)


def test_few_paradigms_give_no_interval_and_nothing_right_no_change():
    before, after = np.ones(8), np.zeros((8, 3))
    found = change_over_draws(before, after, np.repeat(["a", "b"], 4)).change
    assert found.value == -100 and math.isnan(found.low) and "2 units" in found.reason
    assert math.isnan(change_over_draws(np.zeros(8), after).change.value)
    assert "no item" in change_over_draws(np.zeros(0), np.zeros((0, 3))).change.reason
