import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.variants import inflect


@pytest.mark.parametrize(
    ("lemma", "tag", "form"),
    [
        ("arrest", "VBN", "arrested"),
        ("lie", "VBN", "lain"),
        ("mimic", "VBD", "mimicked"),
        ("forgo", "VBD", "forwent"),
        ("quit", "VBD", "quit"),
        ("rebuild", "VBD", "rebuilt"),
        ("utilise", "VBG", "utilising"),
        ("spin", "VBZ", "spins"),
        ("woman", "NNS", "women"),
        ("ox", "NNS", "oxen"),
        ("person", "NNS", "people"),
        ("chiropodist", "NNS", "chiropodists"),
        ("sheep", "NNS", "sheep"),
        ("mother-in-law", "NNS", "mothers-in-law"),
        ("man_of_letters", "NNS", "men of letters"),
        ("police_officer", "NNS", "police officers"),
        ("look_up", "VBD", "looked up"),
    ],
)
def test_forms_of_irregular_and_compound_words(lemma, tag, form):
    assert inflect.inflect(lemma, tag) == form


def test_what_cannot_be_counted_has_no_plural():
    assert inflect.inflect("furniture", "NNS") is None
    assert inflect.is_uncountable("cash")
    assert not inflect.is_uncountable("information")  # the dictionary knows both uses
    assert inflect.countable_only("woman") and not inflect.countable_only("water")


def test_plural_only_words_have_no_singular():
    assert inflect.plural_only("scissors") and inflect.plural_only("spectacles") and inflect.plural_only("goods")
    assert not any(inflect.plural_only(word) for word in ("glass", "bus", "series", "analysis", "dog"))
    assert inflect.inflect("scissors", "NN") is None
    assert inflect.inflect("spectacles", "NNS") == "spectacles"


def test_a_tag_is_kept_where_it_fits_and_mended_where_only_one_other_does():
    assert inflect.tag_of("seen", "see", "v", "VBD") == "VBN"
    assert inflect.tag_of("stores", "store", "n", "VBZ") == "NNS"
    assert inflect.tag_of("put", "put", "v", "VBN") == "VBN"
    assert inflect.tag_of("stores", "shop", "n", "NNS") is None


@given(st.sampled_from(["arrest", "go", "lie", "mimic", "put", "travel", "run"]), st.sampled_from(inflect.TAGS["v"]))
def test_every_form_is_a_form_of_its_lemma(lemma, tag):
    form = inflect.inflect(lemma, tag)
    assert form in inflect.spellings_of(lemma, tag)
    assert lemma in inflect.lemmas_of(form, "v")


@pytest.mark.parametrize(
    ("source", "made"),
    [("arrested", "collared"), ("Arrested", "Collared"), ("ARRESTED", "COLLARED"), ("A", "Collared")],
)
def test_case_follows_the_replaced_word(source, made):
    assert inflect.match_case(source, "collared") == made


def test_irregular_forms_lead_back_to_their_lemmas():
    verbs, nouns = dict(inflect.irregular_forms("VERB")), dict(inflect.irregular_forms("NOUN"))
    assert verbs["went"] == "go" and verbs["begun"] == "begin" and nouns["women"] == "woman"
    assert "walked" not in verbs and "dogs" not in nouns and "cities" not in nouns
