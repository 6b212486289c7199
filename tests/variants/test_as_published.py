"""Swaps as the paper's appendix says: every noun and verb, each text by itself, no care for the label."""

from __future__ import annotations

import json

from explorer.records import Instance
from explorer.variants.as_published import perturb_as_published
from explorer.variants.perturb import perturb_instance


def instance(kind: str, **fields) -> Instance:
    return Instance("set/group/1", "set", "test", "group", kind, fields.pop("format", kind), **fields)


def swapped(made: Instance, tools, **how):
    (result,) = perturb_as_published([made], tools, **how)
    return result


def test_nouns_and_verbs_are_swapped_in_their_form_and_auxiliaries_and_names_stay(tools):
    made = swapped(instance("text", context="Will has bought a trophy in the store."), tools)
    assert made.instance.context == "Will has purchased a prize in the shop."
    assert json.loads(made.instance.edit)["method"] == "published"
    nouns = swapped(instance("text", context="Will has bought a trophy in the store."), tools, pos="N")
    assert nouns.instance.context == "Will has bought a prize in the shop."


def test_a_word_that_decides_between_texts_is_swapped_all_the_same(tools):
    pair = instance("pair", options=("The doctors boast about the dog.", "The doctors boasts about the dog."), gold=0)
    loose, careful = swapped(pair, tools), perturb_instance(pair, tools)
    assert "physicians" in loose.instance.options[0] and "brag" in loose.instance.options[0]
    assert {swap.part for swap in loose.swaps} == {"option 0", "option 1"}
    assert len(loose.swaps) >= len(careful.swaps)


def test_each_text_draws_for_itself_and_the_same_again_with_the_same_seed(tools):
    pair = instance("pair", options=("They arrest the doctor.", "They arrest the child."), gold=0)
    drawn = {
        tuple(option.split()[1] for option in swapped(pair, tools, seed=seed).instance.options) for seed in range(20)
    }
    assert {first for first, _ in drawn} == {"collar", "nab"}  # "pick_up" is of several words
    assert any(first != second for first, second in drawn)
    assert swapped(pair, tools, seed=3) == swapped(pair, tools, seed=3)


def test_the_sentence_around_a_gap_is_swapped_once(tools):
    gap = instance("choice", format="winogrande", context="The trophy saw the suitcase since the _ fell.",
                   options=("trophy", "suitcase"), gold=0)  # fmt: skip
    made = swapped(gap, tools)
    assert made.instance.context == "The prize saw the bag since the _ fell."
    assert made.instance.options == ("prize", "bag")
