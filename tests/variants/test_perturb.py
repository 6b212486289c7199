import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from explorer.errors import UsageError
from explorer.records import Condition, Instance
from explorer.variants.fields import Edit, apply_edits
from explorer.variants.perturb import perturb_instance, perturb_instances, perturb_texts


def instance(kind, key="1", **fields):
    extra = {"phenomenon": fields.pop("phenomenon", ""), "group": fields.pop("group", "group")}
    return Instance(
        f"set/group/{key}", "set", "test", extra.pop("group"), kind, fields.pop("format", kind), **extra, **fields
    )


def one(text, tools, **how):
    return perturb_texts([text], tools, **how)[0]


def test_nouns_and_verbs_are_swapped_in_their_own_form(tools):
    assert one("The doctors astounded the children.", tools).text == "The physicians amazed the kids."
    assert one("The doctors astounded the children.", tools, pos="N").text == "The physicians astounded the kids."
    assert one("The doctors astounded the children.", tools, pos="V").text == "The doctors amazed the children."


def test_a_swap_tells_what_where_and_in_which_sense(tools):
    (swap,) = one("She bought it.", tools).swaps
    assert (swap.start, swap.end, swap.original, swap.substitute) == (4, 10, "bought", "purchased")
    assert (swap.lemma, swap.pos, swap.synset, swap.definition) == ("buy", "v", "buy.v.01", "obtain by purchase")


def test_everything_between_the_swaps_stays(tools):
    text = "  “Doctors”,\the  said —\n\nthe child's\u00a0STORES;  café…"
    made = one(text, tools)
    assert made.text == "  “Physicians”,\the  said —\n\nthe kid's\u00a0STORES;  café…"
    swaps = [Edit("context", swap.start, swap.end, swap.substitute) for swap in made.swaps]
    assert apply_edits(text, swaps) == made.text


def test_be_have_do_modals_names_and_hyphenated_words_stay(tools):
    text = "Will Store has been doing what a child-care doctor-to-be must do."
    made = one(text, tools)
    assert made.text == text and made.swaps == ()
    assert {reason for _, reason in made.left} >= {"a name", "part of a hyphenated word"}


def test_the_article_is_mended_with_the_swap_and_only_then(tools):
    assert one("She saw a trophy and an actor.", tools).text == "She saw a prize and a player."
    assert one("A trophy fell in a hour.", tools).text == "A prize fell in a hour."  # the source's own slip


def test_the_possessive_is_mended_with_the_swap(tools):
    assert (
        one("The children's dog met the doctors' sheep.", tools).text == "The kids' hound met the physicians' woolly."
    )
    assert one("The dogs' trophy fell.", tools, choices={"dog": "goose"}).text == "The geese's prize fell."


def test_a_phrasal_verb_and_a_fixed_expression_stay(tools):
    assert one("He looked up the word.", tools).swaps == ()
    assert one("The grocery store closed, of course.", tools).swaps == ()


def test_a_verb_is_swapped_only_for_one_that_takes_what_it_takes(tools):
    assert one("They boasted about it.", tools).text == "They bragged about it."
    assert dict(one("They boasted it.", tools).left)["boasted"] == "no sense that is used like this"


def test_what_cannot_be_counted_or_named_is_no_substitute(tools):
    assert one("She bought a chair.", tools).text == "She purchased a chair."
    assert one("The dog slept.", tools).text == "The hound slept."  # not the scientific name, not the capital


def test_hands_choose_and_veto(tools):
    assert one("The police arrested him.", tools, choices={"arrest": "collar"}).text == "The police collared him."
    assert one("The police arrested him.", tools, choices={"arrest.v": "halt"}).swaps[0].synset == "halt.v.01"
    assert one("The police arrested him.", tools, veto=["Arrest"]).swaps == ()
    assert one("The police arrested him.", tools, veto=["arrested"]).swaps == ()


def test_a_pair_differs_exactly_where_it_did(tools):
    pair = instance("pair", options=("The doctor sees this store.", "The doctor sees this stores."))
    made = perturb_instance(pair, tools)
    assert made.instance.options == ("The physician sees this shop.", "The physician sees this shops.")
    assert [swap.substitute for swap in made.swaps_of(1)] == ["physician", "shops"]
    assert made.instance.parent == pair.id and made.instance.id != pair.id
    assert json.loads(made.instance.edit)["swaps"][0]["original"] == "doctor"


def test_a_synonym_that_would_make_the_options_alike_is_not_taken(tools):
    for other in ("She likes these calf.", "She likes this calves."):  # "these deer" would be right
        pair = instance("pair", options=("She likes this calf.", other))
        made = perturb_instance(pair, tools)
        assert made.instance.options == pair.options and made.flags == ("unchanged",)


def test_a_choice_by_hand_that_makes_the_options_alike_is_rejected(tools):
    pair = instance("pair", options=("She likes this calf.", "She likes this calves."))
    made = perturb_instance(pair, tools, choices={"calf": "deer"})
    assert made.instance is None and made.reason == "two options became the same"


def test_an_article_that_the_options_share_stays_shared(tools):
    choice = instance("choice", options=("He met an actor.", "He met an elf."))
    assert perturb_instance(choice, tools).instance.options == choice.options


def test_a_word_shared_by_premise_and_options_gets_one_substitute(tools):
    copa = instance("choice", format="copa", context="The doctor came.", options=("A doctor slept.", "Doctors left."))
    made = perturb_instance(copa, tools).instance
    assert (made.context, made.options) == ("The physician came.", ("A physician slept.", "Physicians left."))


def test_gap_and_options_of_a_winograd_sentence_go_together(tools):
    text = "The trophy didn't fit in the suitcase because the _ was big."
    item = instance("choice", format="winogrande", context=text, options=("trophy", "suitcase"))
    made = perturb_instance(item, tools).instance
    assert made.context == "The prize didn't fit in the bag because the _ was big."
    assert made.options == ("prize", "bag")


def test_an_option_that_its_sentence_has_as_another_word_stays(tools):
    text = "He would store apples and pears, but the _ was full."
    item = instance("choice", format="winogrande", context=text, options=("store", "suitcase"))
    made = perturb_instance(item, tools).instance
    assert made.context == text and made.options == ("store", "bag")


def test_a_cloze_target_follows_its_word(tools):
    item = instance("cloze", context="The doctor said he was a good", options=("doctor",))
    made = perturb_instance(item, tools)
    assert (made.instance.context, made.instance.options) == ("The physician said he was a good", ("physician",))
    assert "target replaced" in made.flags


def test_regions_stay_regions_and_equal_ones_stay_equal(tools):
    conditions = (
        Condition("match", ("The doctor", "that arrested", "the child ", "sleeps", "")),
        Condition("mismatch", ("The doctors", "that arrested", "the child ", "sleeps", "")),
    )
    made = perturb_instance(instance("regions", conditions=conditions), tools).instance
    match, mismatch = (condition.regions for condition in made.conditions)
    assert match[0] == "The physician" and mismatch[0] == "The physicians"
    assert match[1:] == mismatch[1:] and match[2] == "the kid "
    assert match[3:] == ("sleeps", "")


def test_conditions_may_have_different_numbers_of_regions(tools):
    conditions = (Condition("one", ("The doctor", "boasted", "again", ".")), Condition("two", ("The doctor", "boasts")))
    made = perturb_instance(instance("regions", conditions=conditions, format="syntaxgym"), tools).instance
    assert [len(condition.regions) for condition in made.conditions] == [4, 2]


def test_the_verb_that_decides_a_pair_stays(tools):
    pair = instance("pair", options=("The doctor arrested Ann.", "The doctor slept Ann."))
    made = perturb_instance(pair, tools)
    assert made.instance.options == ("The physician arrested Ann.", "The physician slept Ann.")
    assert ("arrested", "decides between the texts") in made.left


def test_a_verb_of_argument_structure_pairs_that_does_not_decide_is_flagged(tools):
    pair = instance("pair", options=("He arrested Ann.", "He arrests Ann."), phenomenon="argument_structure")
    assert "verb swapped in an argument-structure pair" in perturb_instance(pair, tools).flags
    assert perturb_instance(pair, tools, pos="N").flags == ("unchanged",)


def test_a_concept_is_rejected_with_the_reason(tools):
    made = perturb_instance(instance("concept", context="cell", options=("GO:1",)), tools)
    assert made.instance is None and made.reason == "a concept has no sentence"


def test_an_unknown_setting_is_named(tools):
    with pytest.raises(UsageError, match="'X'"):
        perturb_texts(["A dog."], tools, pos="X")


def test_the_order_of_instances_and_the_size_of_a_batch_change_nothing(tools):
    texts = ["The police arrested two doctors.", "A doctor bought a store.", "Actors cut costs.", "Children boast."]
    items = [instance("text", key=str(i), context=text * 2) for i, text in enumerate(texts)]
    together = perturb_instances(items, tools, seed=3)
    alone = [perturb_instance(item, tools, seed=3) for item in items]
    backwards = perturb_instances(items[::-1], tools, seed=3)[::-1]
    assert together == alone == backwards


def test_seed_and_id_alone_decide_the_draw(tools):
    item = instance("text", context="The police arrested him.")
    drawn = {perturb_instance(item, tools, seed=seed).swaps[0].substitute for seed in range(20)}
    assert drawn == {"collared", "nabbed"}
    longer = dataclasses.replace(item, context="The police arrested him. A doctor bought a store.")
    for seed in range(5):
        assert perturb_instance(item, tools, seed=seed).swaps[0] == perturb_instance(longer, tools, seed=seed).swaps[0]


WORDS = [
    "the",
    "a",
    "an",
    "Doctor",
    "doctors",
    "child",
    "children's",
    "arrested",
    "bought",
    ",",
    ".",
    "\n",
    "“",
    "”",
    "store-room",
    "8",
    "dog's",
    "boasts",
]


@hypothesis_settings(deadline=None, max_examples=25)
@given(st.lists(st.sampled_from(WORDS), max_size=12))
def test_a_text_is_its_swaps_articles_and_possessives_and_nothing_else(tools, words):
    text = " ".join(words)
    made = one(text, tools)
    for swap in made.swaps:
        assert text[swap.start : swap.end] == swap.original
    keep = apply_edits(text, [Edit("context", swap.start, swap.end, swap.substitute) for swap in made.swaps]).split(" ")
    new = made.text.split(" ")
    assert len(keep) == len(new)
    mended = {"a", "an"}, ("'s", "'")
    assert all(
        old == now or old.lower() in mended[0] or old.endswith(mended[1]) for old, now in zip(keep, new, strict=True)
    )
