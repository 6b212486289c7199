from hypothesis import given
from hypothesis import strategies as st

from explorer.variants import alignment

WORDS = st.lists(st.sampled_from(["a", "b", "c", "d", "e"]), max_size=8)


def test_words_in_each_others_place():
    assert list(
        alignment.replaced_positions(["this", "store", "sells", "fish"], ["these", "store", "sell", "fish"])
    ) == [
        (0, 0),
        (2, 2),
    ]
    assert list(alignment.shared_positions(["this", "store"], ["that", "store"])) == [(1, 1)]


def test_the_same_swap_on_both_sides_keeps_the_difference():
    good, bad = ["that", "store"], ["that", "stores"]
    assert alignment.same_difference(good, bad, ["that", "shop"], ["that", "shops"])


def test_a_lost_or_a_new_difference_is_seen():
    good, bad = ["a", "calf", "ran"], ["a", "calves", "ran"]
    assert not alignment.same_difference(good, bad, ["a", "deer", "ran"], ["a", "deer", "ran"])
    assert not alignment.same_difference(good, bad, ["an", "elk", "ran"], ["a", "elks", "ran"])
    assert not alignment.same_difference(["x", "y"], ["z"], ["w", "w"], ["w w"])


def test_stretches_of_different_length_differ_as_long_as_they_are_not_spelled_alike():
    first, second = ["use", "old", "paper"], ["use", "ice"]
    assert alignment.same_difference(first, second, ["use", "aged", "paper"], ["use", "ice"])
    assert not alignment.same_difference(first, second, ["use", "hot", "ice"], ["use", "hot ice"])


@given(WORDS, WORDS)
def test_renaming_words_one_to_one_keeps_every_difference(first, second):
    new = [[f"{word}{word}" for word in words] for words in (first, second)]
    assert alignment.same_difference(first, second, *new)
