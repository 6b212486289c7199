"""A number over seeds: its spread is told apart from sampling error."""

from __future__ import annotations

import math

import pytest

from explorer.stats.over_seeds import over_seeds


def test_mean_sd_and_range_over_seeds_stand_beside_the_mean_interval_of_one_run():
    found = over_seeds([0.70, 0.72, 0.74], [0.65, 0.67, 0.69], [0.75, 0.77, 0.79])
    assert (found.mean, found.least, found.greatest, found.seeds) == (pytest.approx(0.72), 0.70, 0.74, 3)
    assert found.sd == pytest.approx(0.02)  # squared distances .02^2 + 0 + .02^2, over 3 - 1
    assert (found.low, found.high) == (pytest.approx(0.67), pytest.approx(0.77))


def test_gaps_are_left_out_and_one_seed_has_no_spread():
    found = over_seeds([0.5, math.nan], [math.nan, 0.1], [math.nan, 0.2])
    assert found.seeds == 1 and math.isnan(found.sd) and math.isnan(found.low)
    assert over_seeds([math.nan], [0.0], [1.0]).seeds == 0
