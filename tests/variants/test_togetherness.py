"""Words that belong together stay together: cut words, articles, vetoed forms, a last word and its cue."""

from __future__ import annotations

from explorer.records import Instance
from explorer.variants.perturb import perturb_instance, perturb_texts
from explorer.variants.tagging import Token
from explorer.variants.targets import find_targets


def test_a_token_that_is_half_a_word_is_not_swapped(tools):
    text = "I gotta buy it."
    [tokens] = tools.tagger.tag([text])
    targets, _ = find_targets(tokens, text, tools.lexicon)
    assert all(isinstance(token, Token) for token in tokens)
    assert not any(text[target.start : target.end] in ("got", "ta", "gotta") for target in targets)
    [made] = perturb_texts([text], tools)
    assert made.text.startswith("I gotta ")


def test_an_article_is_mended_through_an_opening_mark_and_any_blank(tools):
    texts = ['She met an "actor" there.', "She met an (actor) there.", "She met an\u00a0actor there."]
    made = [one.text for one in perturb_texts(texts, tools)]
    assert made == ['She met a "player" there.', "She met a (player) there.", "She met a\u00a0player there."]


def test_a_vetoed_word_stays_in_any_form(tools):
    for veto in ("buys", "buying", " bought"):
        [made] = perturb_texts(["The men bought the land."], tools, veto=[veto])
        assert "bought" in made.text


def test_a_passage_keeps_its_last_word_and_the_same_word_before_it_together(tools):
    def passage(context: str) -> Instance:
        return Instance("c/1", "c", "all", "g", "cloze", "cloze", context=context, options=("doctor",), gold=0)

    both = perturb_instance(passage("The doctor left. They called the"), tools)
    assert both.instance is not None
    assert "physician" in both.instance.context and both.instance.options == ("physician",)
    named = perturb_instance(
        passage("The doctor left. We asked Bill Doctor. The man-doctor stayed. They called the"), tools
    )
    assert named.instance is not None
    assert ("doctor" in named.instance.context) == (named.instance.options == ("doctor",))
