"""A word that the tagger cuts in two stays whole."""

from __future__ import annotations

from explorer.variants.perturb import perturb_texts
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
