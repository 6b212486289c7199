"""Differences of two shares: of the same items asked twice, and of two estimates with their intervals."""

from __future__ import annotations

import math

import pytest

from explorer.stats.estimate import Estimate
from explorer.stats.paired_shares import paired_shares
from explorer.stats.two_estimates import difference_of


def test_the_difference_of_two_estimates():
    # 0.8 (0.75 to 0.9) less 0.5 (0.46 to 0.58): down sqrt(0.05² + 0.08²) = 0.0943, up sqrt(0.1² + 0.04²) = 0.1077
    gap = difference_of(Estimate(0.8, 0.75, 0.9, 50), Estimate(0.5, 0.46, 0.58, 80))
    assert (gap.value, gap.low, gap.high, gap.n) == pytest.approx((0.3, 0.3 - 0.0943, 0.3 + 0.1077, 50), abs=1e-4)
    assert math.isnan(difference_of(Estimate.point(0.5), Estimate.point(0.4)).value)


def test_lost_and_gained_items():
    # 88 lost and 49 gained of 1,000: 49.5 and 88.5 of 1,002 differ by -39 / 1,002 = -0.03892, and
    # 1.96 * sqrt(138 - 39² / 1,002) / 1,002 = 1.96 * 11.683 / 1,002 = 0.02285
    change = paired_shares(88, 49, 1000)
    assert (change.value, change.low, change.high) == pytest.approx((-0.039, -0.06177, -0.01607), abs=1e-4)
    assert paired_shares(0, 0, 100).low < 0 < paired_shares(0, 0, 100).high
    assert math.isnan(paired_shares(0, 0, 0).value)
    assert paired_shares(3, 9, 50).value == -paired_shares(9, 3, 50).value
