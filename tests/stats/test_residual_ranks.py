from __future__ import annotations

import numpy as np
import pytest

from explorer.stats.residual_ranks import residual_ranks


def test_what_a_third_measure_makes_alike_goes_with_it():
    # x and y are both length plus noise of their own: alike, but not once length is allowed for.
    chance = np.random.default_rng(0)
    length = chance.normal(size=2_000)
    x, y = length + chance.normal(size=2_000), length + chance.normal(size=2_000)
    assert np.corrcoef(x, y)[0, 1] > 0.4
    assert abs(np.corrcoef(residual_ranks(x, [length]), residual_ranks(y, [length]))[0, 1]) < 0.06


def test_it_is_the_partial_correlation_of_the_ranks():
    chance = np.random.default_rng(1)
    x, y, z = (chance.permutation(50) for _ in range(3))
    xy, xz, yz = (np.corrcoef(a, b)[0, 1] for a, b in ((x, y), (x, z), (y, z)))
    partial = (xy - xz * yz) / np.sqrt((1 - xz**2) * (1 - yz**2))
    assert np.corrcoef(residual_ranks(x, [z]), residual_ranks(y, [z]))[0, 1] == pytest.approx(partial, abs=1e-6)


def test_gaps_and_small_groups_have_none():
    values = [1.0, 2, 3, 4, 5, 6, np.nan, 8, 9]
    residuals = residual_ranks(values, [[1.0] * 9], ["a"] * 7 + ["b"] * 2)
    assert np.isfinite(residuals[:6]).all() and np.isnan(residuals[6:]).all()
