import math

import numpy as np
import pytest
from scipy.stats import kruskal

from explorer.stats.between_groups import between_groups

VALUES = [1, 2, 3, 4, 5, 6, 7, 8, 9]
GROUPS = ["a"] * 3 + ["b"] * 3 + ["c"] * 3


def test_the_statistic_and_p_are_scipys():
    found = between_groups(VALUES, GROUPS)
    theirs = kruskal(VALUES[:3], VALUES[3:6], VALUES[6:])
    assert (found.statistic, found.p) == (pytest.approx(theirs.statistic), pytest.approx(theirs.pvalue))
    # H = 7.2 for three groups apart, of at most n - 1 = 8
    assert found.value == pytest.approx(7.2 / 8)
    assert (found.n, found.groups) == (9, 3)


def test_the_share_is_none_where_groups_are_alike_and_all_where_they_are_constant():
    rng = np.random.default_rng(1)
    alike = between_groups(rng.standard_normal(400), np.tile(["a", "b"], 200))
    assert alike.value < 0.02 and alike.p > 0.01
    assert between_groups([1, 1, 2, 2], ["a", "a", "b", "b"]).value == pytest.approx(1)


def test_gaps_are_counted_and_what_cannot_be_compared_is_named():
    assert between_groups([1, math.nan, 3, 4], ["a", "a", "b", "b"]).left_out == 1
    assert "two groups" in between_groups([1, 2], ["a", "a"]).reason
    assert "constant" in between_groups([1, 1], ["a", "b"]).reason
