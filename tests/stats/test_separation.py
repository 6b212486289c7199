import numpy as np
import pytest

from explorer.stats.separation import find_separation


def design(*columns):
    return np.column_stack([np.ones(len(columns[0])), *columns]).astype(float)


@pytest.mark.parametrize(
    ("outcome", "x", "expected"),
    [
        ([0, 0, 1, 1], [1, 2, 3, 4], "complete separation"),
        ([1, 1, 0, 0], [1, 2, 3, 4], "complete separation"),
        ([0, 0, 1, 1], [1, 2, 2, 4], "quasi-complete separation"),
        ([0, 1, 0, 1], [1, 2, 3, 4], ""),
        ([0, 1, 1, 1], [0, 0, 1, 1], "quasi-complete separation"),  # every 1 of the feature is right
    ],
)
def test_one_feature(outcome, x, expected):
    assert find_separation(np.array(outcome), design(x)) == expected


def test_two_features_that_only_together_part_the_outcomes():
    rng = np.random.default_rng(0)
    x, z = rng.standard_normal((2, 200))
    outcome = (x + z > 0.1).astype(int)
    assert find_separation(outcome, design(x)) == ""
    assert find_separation(outcome, design(x, z)) == "complete separation"
    outcome[np.argmax(x + z)] = 0
    assert find_separation(outcome, design(x, z)) == ""


def test_a_large_table_is_told_apart_as_a_small_one():
    rng = np.random.default_rng(1)
    x = np.sort(rng.standard_normal(5_000))
    rare = (np.arange(5_000) == 4_999).astype(float)  # a column that few samples of the rows would see
    outcome = (x > 0).astype(int)
    assert find_separation(outcome, design(x)) == "complete separation"
    noise = rng.integers(0, 2, 5_000)
    assert find_separation(noise, design(x)) == ""
    assert find_separation(noise, design(x, rare)) == "quasi-complete separation"
    outcome[0] = 1
    assert find_separation(outcome, design(x)) == ""


def test_the_unit_of_a_feature_does_not_matter():
    x = np.array([1, 2, 3, 4.0])
    for unit in (1e-6, 1e6):
        assert find_separation(np.array([0, 0, 1, 1]), design(x * unit)) == "complete separation"
        assert find_separation(np.array([0, 1, 0, 1]), design(x * unit)) == ""
