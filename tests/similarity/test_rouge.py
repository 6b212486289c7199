import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.similarity.rouge import rouge_l, rouge_l_recall


def test_rouge_l_of_one_swapped_word():
    # 4 of 5 words in order on both sides: precision = recall = F1 = 0.8
    (found,) = rouge_l(["the old man the boats"], ["the old man the ships"])
    assert found.value == pytest.approx(0.8) and found.reason == ""


def test_recall_counts_the_reference_only():
    # 2 of the 2 words of the reference, whatever else the candidate says
    assert rouge_l_recall(["old boats"], ["the old and leaky boats"])[0].value == 1.0


def test_empty_texts_have_a_reason():
    one, both, blank = rouge_l(["a b", "", "a"], ["", "", " \n"])
    assert (one.value, one.reason) == (0.0, "one text is empty")
    assert math.isnan(both.value) and both.reason == "both texts are empty"
    assert blank.value == 0.0


@given(st.lists(st.sampled_from(["a", "bee", "cat", "dogs"]), min_size=1), st.lists(st.sampled_from(["a", "bee"])))
def test_rouge_l_is_symmetric_and_one_for_equal_texts(first, second):
    one, other = " ".join(first), " ".join(second)
    assert rouge_l([one], [one])[0].value == pytest.approx(1.0)
    assert rouge_l([one], [other])[0].value == pytest.approx(rouge_l([other], [one])[0].value)
