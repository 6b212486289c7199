import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.stats.overlap import overlap_matrix, token_f1

tokens = st.lists(st.sampled_from("abcd"), max_size=8)


def test_a_token_is_shared_as_often_as_both_have_it():
    # a a b against a b b c: shared a and b, so 2 * 2 / (3 + 4)
    assert token_f1("aab", "abbc") == pytest.approx(4 / 7)


@given(tokens, tokens, st.randoms())
def test_f1_is_symmetric_bounded_and_blind_to_order(first, second, random):
    shuffled = list(second)
    random.shuffle(shuffled)
    value = token_f1(first, second)
    assert value == token_f1(second, first) == token_f1(first, shuffled)
    assert 0 <= value <= 1
    assert (value == 1) == (sorted(first) == sorted(second))


def test_the_matrix_holds_the_mean_f1_of_all_pairs():
    groups = {"one": [list("ab"), list("bc"), list("aa")], "two": [list("ab"), list("d")], "three": [list("abc")]}
    found = overlap_matrix(groups, pairs=20_000, seed=1)
    assert found.names == ("one", "two", "three")
    for i, first in enumerate(groups.values()):
        for j, second in enumerate(groups.values()):
            exact = [token_f1(a, b) for a in first for b in second if a is not b]
            if exact:
                assert found.values[i][j] == pytest.approx(np.mean(exact), abs=0.02)
    assert math.isnan(found.values[2][2])
