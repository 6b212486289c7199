"""Neighbors by a proposer that can be worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.variants import neighbors
from explorer.variants.neighbors import WORD, Source, is_another_word, sample_words


class Colors:
    """Proposes the same words for every gap, and the original first."""

    name = "colors"
    method = "colors"

    def __init__(self):
        self.calls = 0

    def record(self):
        return {"weights": "none"}

    def propose(self, gaps, count):
        self.calls += 1
        words = ["red", "blue", "green", "cats"]
        return [[(gap.word, 0.0), *((word, -1.0 - i) for i, word in enumerate(words))][:count] for gap in gaps]


def made(text, count=10, key="x/g/0", seed=0):
    return neighbors.make_neighbors([Source(text, key)], Colors(), count=count, seed=seed)[0]


def test_each_neighbour_differs_in_one_word_and_none_is_there_twice():
    text = "The cat saw nobody."
    found = made(text)
    assert len({one.text for one in found}) == len(found) == 10
    for one in found:
        assert one.text != text
        end = one.start + len(one.original)
        assert text[one.start : end] == one.original
        assert one.text == text[: one.start] + one.substitute + text[end:]


def test_every_word_is_replaced_once_before_one_is_replaced_again():
    found = made("The cat saw nobody.", count=6)
    assert {one.original for one in found[:4]} == {"The", "cat", "saw", "nobody"}
    assert {one.substitute.lower() for one in found[:4]} == {"red"}
    assert {one.substitute.lower() for one in found[4:]} == {"blue"}


def test_another_form_of_the_word_is_no_neighbour_and_case_is_kept():
    found = [one for one in made("Cat") if one.original == "Cat"]
    assert [one.substitute for one in found] == ["Red", "Blue", "Green"]  # not Cats
    assert (
        not is_another_word("arrested", "arresting")
        and not is_another_word("Word", "word")
        and is_another_word("arrested", "detained")
    )


def test_options_are_changed_at_the_words_they_share():
    right = {one.original for one in made("The cats that she feeds sleep here.", count=3)}
    wrong = {one.original for one in made("The cats that she feeds sleeps here.", count=3)}
    assert len(right & wrong) >= 2
    assert right != {one.original for one in made("The cats that she feeds sleep here.", count=3, seed=3)} or right


def test_a_text_without_words_has_no_neighbors_and_all_gaps_go_in_one_call():
    proposer = Colors()
    sources = [Source(text, "x/g/0") for text in ("a \ud800 dog", "1 + 1 = 2", "A dog", "A dog")]
    found = neighbors.make_neighbors(sources, proposer)
    assert proposer.calls == 1
    assert [len(one) for one in found[:2]] == [0, 0]
    assert found[2] == found[3] and len(found[2]) > 0


@given(st.text(max_size=60), st.integers(1, 12), st.integers(0, 3))
def test_any_text_gives_at_most_as_many_as_asked_always_the_same(text, count, seed):
    found = made(text, count=count, seed=seed)
    assert len(found) <= count
    assert found == made(text, count=count, seed=seed)
    assert all(one.text[: one.start] == text[: one.start] for one in found)
    drawn = sample_words(Source(text, "k"), count, seed)
    assert len(drawn) == min(count, len(WORD.findall(text)))


@pytest.mark.parametrize(("text", "words"), [("didn't go", ["didn't", "go"]), ("x2 well-known a_b", ["well-known"])])
def test_contractions_and_hyphens_are_one_word(text, words):
    assert WORD.findall(text) == words
