import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.errors import UsageError
from explorer.stats.overlap import token_f1
from explorer.variants import prefix_edits
from explorer.variants.prefix_edits import ADVERBS, FUNCTION_WORDS, PREFIX_EDITS, common_words, edit_sentence

SENTENCES = ["The herons sleep.", "Kofi's sister waves to Leila.", "Who did Mara see?", 'He said "no."', "Geese fly"]


def test_the_papers_six_perturbations_and_none():
    assert len(PREFIX_EDITS) == 7
    assert edit_sentence("none", "The herons sleep.", key="1") == "The herons sleep."


def test_an_adverb_in_front_takes_the_capital_unless_a_name_follows():
    found = {edit_sentence("prefix_adverb", "The herons sleep.", key=str(key)) for key in range(200)}
    assert found == {f"{adverb}, the herons sleep." for adverb in ADVERBS}
    assert edit_sentence("prefix_adverb", "Kofi sleeps.", key="1").endswith(", Kofi sleeps.")


def test_what_is_added_at_the_end_stands_before_the_closing_marks():
    assert edit_sentence("suffix_adverb", "Who did Mara see?", key="1").startswith("Who did Mara see, ")
    assert edit_sentence("suffix_adverb", "Who did Mara see?", key="1").endswith("?")
    assert edit_sentence("suffix_adverb", "Geese fly", key="1").startswith("Geese fly, ")


def test_a_clause_stands_at_either_end():
    found = [edit_sentence("clause", "The herons sleep.", key=str(key)) for key in range(60)]
    assert any(text.endswith(", the herons sleep.") for text in found)
    assert any(text.startswith("The herons sleep, ") and text.endswith(".") for text in found)
    assert not any("{name}" in text for text in found)


def test_a_quotation_keeps_the_sentence_whole_and_minds_inner_quotes():
    assert edit_sentence("quotation", "The herons sleep.", key="1").endswith(', "The herons sleep."')
    assert edit_sentence("quotation", 'He said "no."', key="1").endswith(", 'He said \"no.\"'")


def test_all_takes_the_long_adverb_and_not_the_short_one():
    for key in range(40):
        found = edit_sentence("all", "The herons sleep.", key=str(key))
        assert any(long in found for long in prefix_edits.LONG_ADVERBS)
        assert any(opening.split("{name}")[0] in found for opening in prefix_edits.QUOTATIONS)
        assert not any(f"{adverb}, the" in found for adverb in ADVERBS)


@settings(deadline=None)
@given(st.sampled_from(SENTENCES), st.sampled_from(list(PREFIX_EDITS)), st.integers(0, 50))
def test_an_edit_only_adds_words_and_the_key_decides_them(sentence, edit, key):
    found = edit_sentence(edit, sentence, key=str(key))
    assert found == edit_sentence(edit, sentence, key=str(key))
    words = [word.strip(".,?!\"'").lower() for word in sentence.split()]
    rest = iter(word.strip(".,?!\"'").lower() for word in found.split())
    assert all(word in rest for word in words)  # in this order


def test_longer_edits_share_less_with_the_plain_sentence():
    plain = "The herons by the lake sleep."

    def similarity(edit):
        edited = [edit_sentence(edit, plain, key=str(key)) for key in range(40)]
        return sum(token_f1(plain.split(), one.split()) for one in edited) / 40

    assert 1 == similarity("none") > similarity("prefix_adverb") > similarity("long_prefix_adverb") > similarity("all")


def test_words_seen_small_inside_sentences_are_common_and_names_are_not():
    found = common_words(["The geese saw Rose.", "A rose saw geese.", "We like owls"])
    assert {"geese", "owls", "saw"} <= found and "rose" not in found and found >= FUNCTION_WORDS
    assert edit_sentence("prefix_adverb", "Geese fly", key="1", common=found).endswith(", geese fly")
    assert edit_sentence("prefix_adverb", "Rose sings", key="1", common=found).endswith(", Rose sings")


def test_an_unknown_edit_is_named_with_those_there_are():
    with pytest.raises(UsageError, match="quotation"):
        edit_sentence("shout", "It rained.", key="1")
