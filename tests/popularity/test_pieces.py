"""Long texts in pieces for the service."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from explorer.popularity.counter import TextNotEncoded
from explorer.popularity.pieces import split_text

WORDS = st.sampled_from(["a", "bb", "ccc", "AND", "OR", "ANDY", "dddd,", "e\nf"])


def test_a_short_text_is_one_piece():
    [piece] = split_text("the cat sat")
    assert (piece.text, piece.overlap) == ("the cat sat", "")


def test_an_operator_is_shared_by_both_pieces():
    assert [(piece.text, piece.overlap) for piece in split_text("cats AND dogs OR birds")] == [
        ("cats AND", ""),
        ("AND dogs OR", "AND"),
        ("OR birds", "OR"),
    ]


def test_a_word_that_only_begins_like_an_operator_is_no_operator():
    assert len(split_text("ANDY met ORLANDO and ANDREA")) == 1
    assert len(split_text("AND so OR")) == 1  # nothing stands before or after them


@given(st.lists(WORDS, min_size=1, max_size=60), st.integers(30, 60))
def test_pieces_fit_and_put_together_give_the_text(words: list[str], most: int):
    text = " ".join(words)
    try:
        pieces = split_text(text, most)
    except TextNotEncoded:
        assume(False)
    whole = pieces[0].text
    for piece in pieces[1:]:
        assert piece.overlap and piece.text.startswith(piece.overlap) and whole.endswith(piece.overlap)
        whole += piece.text[len(piece.overlap) :]
    assert whole == text
    for piece in pieces:
        assert len(piece.text) <= most
        assert " AND " not in piece.text and " OR " not in piece.text


def test_long_texts_share_nine_words_at_a_seam():
    pieces = split_text(" ".join(f"word{i}" for i in range(300)))
    assert len(pieces) > 1
    assert all(len(piece.overlap.split()) == 9 for piece in pieces[1:])


@pytest.mark.parametrize("text", ["x" * 1001, "one  AND  two", "a " * 3 + "y" * 1000])
def test_a_text_without_a_place_to_split_is_told_plainly(text: str):
    with pytest.raises(TextNotEncoded, match="no single blank"):
        split_text(text)
