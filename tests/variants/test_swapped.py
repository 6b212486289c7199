"""Stored swaps made again in the text they were made in."""

from __future__ import annotations

from explorer.records import Condition, Instance
from explorer.variants.fields import field_texts
from explorer.variants.swapped import swapped_instance


def swap(part: str, text: str, word: str, substitute: str) -> dict:
    start = text.index(word)
    return {"part": part, "start": start, "end": start + len(word), "substitute": substitute, "lemma": word}


def pair(good: str, bad: str) -> Instance:
    return Instance("pairs/a/0", "pairs", "test", "a", "pair", "sentence", options=(good, bad), gold=0)


def test_each_option_gets_its_own_words():
    old = pair("The cat sleeps.", "The cats sleep.")
    swaps = [swap("option 0", old.options[0], "cat", "feline"), swap("option 1", old.options[1], "cats", "felines")]
    assert swapped_instance(old, swaps).options == ("The feline sleeps.", "The felines sleep.")


def test_the_article_before_a_word_is_mended_also_through_a_quotation_mark():
    old = pair('A "cat" sat.', "An apple fell on a mat.")
    swaps = [
        swap("option 0", old.options[0], "cat", "animal"),
        swap("option 1", old.options[1], "apple", "fruit"),
        swap("option 1", old.options[1], "mat", "carpet"),
    ]
    assert swapped_instance(old, swaps).options == ('An "animal" sat.', "A fruit fell on a carpet.")


def test_a_word_that_only_ends_like_an_article_stays():
    old = pair("Satan cat.", "India cat.")
    swaps = [swap(f"option {i}", text, "cat", "animal") for i, text in enumerate(old.options)]
    assert swapped_instance(old, swaps).options == ("Satan animal.", "India animal.")


def test_the_text_hash_of_what_is_not_swapped_stays():
    old = Instance("s/a/1", "s", "test", "a", "regions", "regions", conditions=(Condition("x", ("The cat", "sat")),))
    assert swapped_instance(old, []).text_hash == old.text_hash
    new = swapped_instance(old, [swap("condition 0 region 0", "The cat", "cat", "dog")])
    assert field_texts(new)["condition 0 region 0"] == "The dog"
    assert new.parent == old.id
