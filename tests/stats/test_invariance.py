import math

from hypothesis import given
from hypothesis import strategies as st

from explorer.stats.invariance import average_invariance, prediction_invariance


def test_two_answers_among_five():
    # 1 - (2 - 1) / (5 - 1)
    assert prediction_invariance(["a", "a", "b", "a", "a"]) == 0.75


@given(st.lists(st.integers(0, 3), min_size=2, max_size=10))
def test_between_0_for_all_different_and_1_for_all_equal(answers):
    value = prediction_invariance(answers)
    assert 0 <= value <= 1
    assert (value == 1) == (len(set(answers)) == 1)
    assert (value == 0) == (len(set(answers)) == len(answers))


def test_the_average_leaves_out_concepts_asked_once():
    found = average_invariance([["a", "a"], ["a", "b"], ["a"]])
    assert (found.mean.value, found.identical, found.n, found.left_out) == (0.5, 1, 2, 1)
    assert math.isnan(average_invariance([]).mean.value)
    assert (found.mean.low, found.mean.high) == (0.0, 1.0)
