import numpy as np
import pytest

from explorer.stats.correlation_table import correlation_table


def test_every_pair_once_with_its_adjusted_p():
    rng = np.random.default_rng(1)
    a = rng.standard_normal(40)
    found = correlation_table(
        {"a": a, "b": a + rng.standard_normal(40) / 3, "c": rng.standard_normal(40), "flat": np.ones(40)},
        permutations=199,
        resamples=50,
    )
    assert [(one.first, one.second) for one in found] == [
        ("a", "b"), ("a", "c"), ("a", "flat"), ("b", "c"), ("b", "flat"), ("c", "flat"),
    ]  # fmt: skip
    defined = [one for one in found if not one.correlation.reason]
    assert len(defined) == 3
    # the smallest of three p-values times three
    assert found[0].adjusted_p == pytest.approx(3 * found[0].correlation.p)


def test_within_groups_the_groups_are_passed_on():
    groups = np.repeat(["x", "y"], 20)
    table = {"a": np.arange(40.0), "b": np.arange(40.0)}
    (one,) = correlation_table(table, groups, permutations=99, resamples=50)
    assert one.correlation.groups == 2 and one.correlation.value == pytest.approx(1)
