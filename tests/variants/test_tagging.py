import pytest

from explorer.errors import LexiconError
from explorer.variants.tagging import load_tagger


def test_tokens_know_their_place_and_their_head(tagger):
    text = "The doctors  weren't\there. “Yes!”"
    (tokens,) = tagger.tag([text])
    assert all(text[token.start : token.end] == token.text for token in tokens)
    doctors = tokens[1]
    assert (doctors.text, doctors.tag, doctors.pos, doctors.lemma, doctors.dep) == (
        "doctors", "NNS", "NOUN", "doctor", "nsubj",
    )  # fmt: skip
    assert tokens[doctors.head].lemma == "be"
    assert [token.index for token in tokens] == list(range(len(tokens)))
    assert tokens[0].sentence == 0 and tokens[-1].sentence >= 1
    assert not any(token.text.isspace() for token in tokens)


def test_texts_come_back_in_order_whatever_stands_beside_them(tagger):
    texts = ["She sings.", "", "The old man the boats.", "He will have been arrested."]
    assert list(tagger.tag(texts)) == [next(iter(tagger.tag([text]))) for text in texts]


def test_the_tagger_is_loaded_once():
    assert load_tagger() is load_tagger()


def test_an_unpaired_surrogate_moves_nothing(tagger):
    text = "The \ud800 doctor sings."
    (tokens,) = tagger.tag([text])
    assert all(text[token.start : token.end] == token.text for token in tokens)
    assert "doctor" in {token.lemma for token in tokens}


def test_a_text_beyond_the_taggers_length_is_refused(tagger):
    with pytest.raises(LexiconError, match="1,000,001 characters"):
        tagger.tag(["a" * 1_000_001])
