from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from explorer.errors import ScoringError
from explorer.scoring.encode import TextEncoder, plain_copy, why_unencodable

spec = importlib.util.spec_from_file_location("tiny_tokenizers", Path(__file__).with_name("conftest.py"))
assert spec and spec.loader
tiny_tokenizers = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tiny_tokenizers)

ENCODERS = {name: TextEncoder(make()) for name, make in tiny_tokenizers.TOKENIZERS.items()}
BOS, EOS = 1, 2
TEXT = st.text(st.sampled_from("ab\ufffd é\u0301e日🙂👩\u200d \n\tΩ.,1\u00a0\x00"), max_size=12)


def halves(encoder: TextEncoder, context: str, continuation: str) -> tuple[str, str, bool]:
    """The texts on both sides of the split, without BOS, and whether a token straddles it."""
    found = encoder.encode(context, continuation, "never", "offsets")
    texts = encoder.texts(found.ids)
    return "".join(texts[: found.start]), "".join(texts[found.start :]), found.straddles


@pytest.mark.parametrize("name", list(ENCODERS))
def test_the_copy_that_shares_a_vocabulary_is_the_one_read_from_the_whole_description(name):
    from tokenizers import AddedToken, Tokenizer

    backend = tiny_tokenizers.TOKENIZERS[name]().backend_tokenizer
    backend.add_tokens([AddedToken("<end>", special=True), AddedToken("é e\u0301", normalized=True, lstrip=True)])
    backend.enable_truncation(3)
    backend.enable_padding(length=9)
    whole = Tokenizer.from_str(backend.to_str())
    whole.no_padding()
    whole.no_truncation()
    whole.post_processor = None
    assert plain_copy(backend, "not read").to_str() == whole.to_str()


@pytest.mark.parametrize("name", ["gpt2", "gpt_neox", "olmo"])
def test_a_word_takes_its_leading_blank_along(name):
    assert halves(ENCODERS[name], "The keys", " to the cabinet") == ("The keys", " to the cabinet", False)


def test_trimmed_offsets_are_undone():
    # Pythia's tokenizer reports (3, 7) for " key" as (4, 7), and nothing at all for a lone blank.
    assert halves(ENCODERS["gpt_neox"], "old", " \n\n x") == ("old", " \n\n x", False)
    assert halves(ENCODERS["gpt_neox"], "old\n ", "\n") == ("old\n ", "\n", False)


@pytest.mark.parametrize("name", ["gpt_neox", "olmo", "llama"])
def test_a_letter_composed_across_the_split_straddles(name):
    # NFC makes one letter of "e" and the accent; the accent is the continuation's, so the letter is too.
    before, after, straddles = halves(ENCODERS[name], "cafe", "\u0301 x")
    assert straddles
    assert after.endswith("é x")
    assert "é" not in before


@pytest.mark.parametrize("name", ["gpt_neox", "olmo", "llama"])
def test_text_that_shrinks_by_normalization_does_not_move_the_split(name):
    # Ten letters that NFC makes of twenty characters stand before the split.
    before, after, straddles = halves(ENCODERS[name], "e\u0301" * 10 + " the", " end")
    assert (before.strip(), after, straddles) == ("é" * 10 + " the", " end", False)


@pytest.mark.parametrize("name", list(ENCODERS))
@pytest.mark.parametrize("context, continuation", [("日", "Ω"), ("a 🙂", "🙂 b"), ("Ω", " Ω")])
def test_a_character_of_several_byte_tokens_stays_whole(name, context, continuation):
    before, after, straddles = halves(ENCODERS[name], context, continuation)
    assert (before.strip(), after, straddles) == (context, continuation, False)


def test_a_token_over_the_split_belongs_to_the_continuation_and_straddles():
    found = ENCODERS["gpt2"].encode("The k", "eys", "never", "offsets")
    assert ENCODERS["gpt2"].texts(found.ids[found.start :])[0] == " key"
    assert found.straddles


@pytest.mark.parametrize("name", ["llama", "gemma3_text"])
def test_the_dummy_blank_of_a_text_belongs_to_its_first_word(name):
    encoder = ENCODERS[name]
    assert encoder.encode("", "日", "never", "offsets").start == 0
    assert halves(encoder, "日", " the") == (" 日", " the", False)


@given(context=TEXT, continuation=TEXT.filter(bool))
@hypothesis_settings(max_examples=60, deadline=None)
@pytest.mark.parametrize("name", ["gpt2", "opt", "olmo2"])
def test_without_normalization_the_tokens_spell_the_text(name, context, continuation):
    before, after, straddles = halves(ENCODERS[name], context, continuation)
    assert before + after == context + continuation
    if straddles:
        assert len(before) < len(context)
    else:
        assert (before, after) == (context, continuation)


@given(pairs=st.lists(st.tuples(TEXT, TEXT), max_size=6))
@hypothesis_settings(max_examples=25, deadline=None)
def test_many_at_once_are_encoded_as_one_by_one(pairs):
    encoder = ENCODERS["gpt_neox"]
    for split in ("offsets", "token_count", "spliced"):
        together = encoder.encode_all(pairs, "auto", split)
        assert together == [encoder.encode(*pair, "auto", split) for pair in pairs]


@pytest.mark.parametrize(
    "name, bos, context, front",
    [
        # A tokenizer that puts nothing first (GPT-2, Pythia) and one that puts its BOS (OPT, Llama, Gemma).
        ("gpt2", "auto", "", (BOS,)),
        ("gpt2", "auto", "The", ()),
        ("gpt2", "always", "The", (BOS,)),
        ("gpt2", "never", "", ()),
        ("gpt2", "declared", "", (BOS,)),
        ("gpt2", "tokenizer", "", ()),
        ("opt", "auto", "", (BOS,)),
        ("opt", "auto", "The", (BOS,)),
        ("opt", "always", "The", (BOS,)),
        ("opt", "never", "The", ()),
        ("opt", "declared", "The", (BOS,)),
        ("opt", "tokenizer", "", (BOS,)),
    ],
)
def test_what_each_bos_policy_puts_first(name, bos, context, front):
    found = ENCODERS[name].encode(context, " keys", bos, "offsets")
    assert found.ids[: found.bos] == front
    assert BOS not in found.ids[found.bos :]


def test_the_catalog_overrules_a_declared_bos_but_not_for_lm_eval():
    encoder = TextEncoder(tiny_tokenizers.byte_level(), plain_bos="</s>")
    assert encoder.encode("", "The", "auto", "offsets").ids[0] == EOS
    assert encoder.encode("The", " keys", "always", "offsets").ids[0] == EOS
    assert encoder.encode("", "The", "declared", "spliced").ids[0] == BOS


def test_without_a_bos_the_eos_stands_first():
    tokenizer = tiny_tokenizers.byte_level()
    tokenizer.bos_token = None
    assert TextEncoder(tokenizer).encode("", "The", "auto", "offsets").ids[0] == EOS


@pytest.mark.parametrize("name", ["opt", "gpt2"])
def test_a_bos_written_out_in_the_text_is_not_doubled(name):
    found = ENCODERS[name].encode("<s>The", " keys", "always", "offsets")
    assert found.ids.count(BOS) == 1
    assert found.bos == 0


def test_the_peers_split_counts_the_tokens_of_the_context_alone():
    # "The k" alone is two tokens; the first two of "The keys to" are "The" and " key", so the "s" is the third.
    encoder = ENCODERS["gpt2"]
    found = encoder.encode("The k", "eys to", "never", "token_count")
    assert encoder.texts(found.ids) == ("The", " key", "s", " to")
    assert encoder.texts(found.ids[found.start :]) == ("s", " to")
    assert not found.straddles


def test_lm_evals_split_keeps_the_contexts_own_tokens():
    # As above, but what is read before the "s" is "The k", which lm-eval encodes apart: the "ey" is lost.
    encoder = ENCODERS["gpt2"]
    found = encoder.encode("The k", "eys to", "never", "spliced")
    assert encoder.texts(found.ids) == ("The", " k", "s", " to")
    assert encoder.texts(found.ids[found.start :]) == ("s", " to")
    plain = encoder.encode("The", " keys to", "never", "spliced")
    assert plain == encoder.encode("The", " keys to", "never", "offsets")


def test_the_text_of_tokens_of_any_kind_of_tokenizer():
    for name, encoder in ENCODERS.items():
        found = encoder.encode("", "The keys 日🙂.", "never", "offsets")
        assert "".join(encoder.texts(found.ids)).strip() == "The keys 日🙂.", name


def test_an_unpaired_surrogate_is_named():
    assert why_unencodable("a\ud800") == "the text has an unpaired surrogate (U+D800) at character 1"
    assert why_unencodable("a\x00 🙂") == ""
    with pytest.raises(ScoringError, match="surrogate"):
        ENCODERS["gpt2"].encode("", "a\ud800", "auto", "offsets")


def test_the_hash_tells_tokenizers_apart():
    assert ENCODERS["gpt2"].hash != ENCODERS["olmo"].hash
    assert ENCODERS["gpt2"].hash == TextEncoder(tiny_tokenizers.byte_level()).hash


def test_bytes_are_named_as_byte_level_tokenizers_name_them():
    from tokenizers import pre_tokenizers

    from explorer.scoring.encode import BYTE_OF_LETTER

    assert BYTE_OF_LETTER.keys() == set(pre_tokenizers.ByteLevel.alphabet())
    assert set(BYTE_OF_LETTER.values()) == set(range(256))
