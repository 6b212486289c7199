"""Words of any script, with their places."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.writing import comparable, fold_text, pieces, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't stop_it, 3.5!", ["Don", "t", "stop", "it", "3", "5"]),
        ("naïve café", ["naïve", "café"]),
        ("cafe\u0301 au lait", ["cafe\u0301", "au", "lait"]),
        ("не стой", ["не", "стой"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("می\u200cخواهم", ["می\u200cخواهم"]),
        ("한국어 문장", ["한국어", "문장"]),
        ("我用GPT2写", ["我", "用", "GPT2", "写"]),
        ("がくせい", ["が", "く", "せ", "い"]),
        ("สวัสดี", ["ส", "วั", "ส", "ดี"]),
        ("２０２０年", ["２０２０", "年"]),
        ("…?! 😀", []),
        ("", []),
    ],
)
def test_the_words_of_a_text(text, expected):
    assert [piece.text for piece in pieces(text)] == expected


@given(st.text())
def test_every_piece_stands_where_it_says_and_nothing_is_left_but_white_space_and_joiners(text):
    rest, last = "", 0
    for piece in pieces(text, signs=True):
        assert text[piece.start : piece.end] == piece.text and piece.start >= last
        rest += text[last : piece.start]
        last = piece.end
    assert not re.sub(r"[\s\u200b\u200c\u200d\u00ad]", "", rest + text[last:])


@given(st.text(st.characters(max_codepoint=127)))
def test_ascii_words_are_letters_and_digits(text):
    assert words(text) == re.findall("[a-z0-9]+", text.lower())


def test_texts_are_compared_by_characters_where_one_has_no_words_apart():
    assert comparable("a b", "b")[2] is False
    assert comparable("a b", "他")[2] is True
    assert comparable("?!", "!") == (["?", "!"], ["!"], True)


def test_a_search_finds_a_text_however_its_accents_are_encoded():
    assert fold_text(" Cafe\u0301  NOIR ") == fold_text("café noir")
