"""An index's own tokenizer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from explorer.errors import CountError
from explorer.popularity import tokenizer as tokenizers
from explorer.popularity.counter import TextNotEncoded
from explorer.popularity.tokenizer import IndexTokenizer

TEXTS = ["the cat sat on the mat", "the dog sat on the cat", "Zoë’s café in 日本"] * 3


@pytest.fixture(scope="module")
def byte_level() -> IndexTokenizer:
    return tokenizers.train(TEXTS, 300)


@pytest.fixture(scope="module")
def sentencepiece() -> IndexTokenizer:
    """A tokenizer that puts a blank before every text by itself, as Llama-2's does."""
    tokenizer = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always", split=False)
    fallback = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256))]
    tokenizer.train_from_iterator(
        TEXTS[:2], trainers.BpeTrainer(vocab_size=320, special_tokens=fallback, show_progress=False)
    )
    return IndexTokenizer(tokenizer.to_str(), "pieces")


def test_running_text_has_one_leading_blank(byte_level: IndexTokenizer):
    [plain, blank, blanks] = byte_level.encode(["the cat", " the cat", "   the cat"])
    assert plain == blank == blanks
    assert byte_level.join(plain) == " the cat"


def test_the_bare_form_has_none(byte_level: IndexTokenizer):
    [bare] = byte_level.encode([" the cat"], bare=True)
    assert byte_level.join(bare) == "the cat"


def test_a_tokenizer_that_puts_the_blank_itself_gets_no_second_one(sentencepiece: IndexTokenizer):
    assert sentencepiece.puts_blank
    [plain, blank, bare] = [
        sentencepiece.encode([" the cat"], bare=bare)[0] if text is None else sentencepiece.encode([text])[0]
        for text, bare in (("the cat", False), (" the cat", False), (None, True))
    ]
    assert plain == blank == bare
    assert sentencepiece.join(plain) == " the cat"


def test_a_lone_blank_before_an_unknown_character_is_dropped(sentencepiece: IndexTokenizer):
    [ids] = sentencepiece.encode(["é the cat"])
    assert sentencepiece.pieces(ids)[:2] == ["<0xC3>", "<0xA9>"]


def test_an_empty_text_has_no_tokens(byte_level: IndexTokenizer):
    assert byte_level.encode(["", "  "]) == [(), ()]


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=40))
def test_the_tokens_of_any_text_spell_the_text(byte_level: IndexTokenizer, text: str):
    [ids] = byte_level.encode_verbatim([text])
    assert byte_level.join(ids) == text
    assert len(byte_level.decode(ids)) == len(ids)


def test_a_text_that_is_no_unicode_is_told_plainly(byte_level: IndexTokenizer):
    with pytest.raises(TextNotEncoded, match="not valid Unicode"):
        byte_level.encode(["a \ud800 b"])


def test_a_saved_tokenizer_is_the_same(byte_level: IndexTokenizer, tmp_path: Path):
    (tmp_path / "tokenizer.json").write_text(byte_level.data, encoding="utf-8")
    for path in (tmp_path, tmp_path / "tokenizer.json"):
        loaded = tokenizers.load(path)
        assert loaded.hash == byte_level.hash
        assert loaded.encode(TEXTS) == byte_level.encode(TEXTS)


def test_vocabulary_and_merges_are_enough(byte_level: IndexTokenizer, tmp_path: Path):
    model = json.loads(byte_level.data)["model"]
    (tmp_path / "vocab.json").write_text(json.dumps(model["vocab"]), encoding="utf-8")
    merges = ["#version: 0.2", *(" ".join(pair) for pair in model["merges"])]
    (tmp_path / "merges.txt").write_text("\n".join(merges), encoding="utf-8")
    assert tokenizers.load(tmp_path).encode(TEXTS) == byte_level.encode(TEXTS)


@pytest.mark.parametrize("content", [None, "", "{}", "not json"])
def test_a_folder_without_a_readable_tokenizer_is_told_plainly(tmp_path: Path, content):
    if content is not None:
        (tmp_path / "tokenizer.json").write_text(content)
    with pytest.raises(CountError, match="tokenizer"):
        tokenizers.load(tmp_path)


def test_training_twice_gives_the_same_tokenizer(byte_level: IndexTokenizer):
    assert tokenizers.train(TEXTS, 300).hash == byte_level.hash
