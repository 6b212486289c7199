"""Swaps that keep the label: the word that decides between two texts stays, all sentences our own."""

import pytest

from explorer.records import Condition, Instance
from explorer.variants import frames
from explorer.variants.deciding import GENDER_STAYS, STAYS
from explorer.variants.perturb import perturb_instances

pytestmark = pytest.mark.slow


def pair(good, bad):
    return Instance(f"own/pairs/{good}", "own", "all", "pairs", "pair", "sentence", options=(good, bad), gold=0)


def left_of(kit, *pairs):
    return [dict(made.left) for made in perturb_instances([pair(*one) for one in pairs], kit)]


# What makes the second sentence bad: the verb, a noun, or a word whose form is not that of the first.
DECIDING = [
    ("The letter was answered by the teacher.", "The letter was responded by the teacher.", {"answered", "responded"}),
    ("The bread was sliced by the cook.", "The bread was dined by the cook.", {"sliced"}),
    ("The children entered the garden.", "The children vanished the garden.", {"entered", "vanished"}),
    ("The door opened.", "The door repaired.", {"opened", "repaired"}),
    ("The student has eaten.", "The student has purchased.", {"eaten", "purchased"}),
    ("The teacher expects there to be a riot.", "The teacher persuades there to be a riot.", {"expects", "persuades"}),
    ("The lawyer admired the statue.", "The bucket admired the statue.", {"lawyer", "bucket"}),
    ("The movie was praised by the student.", "The movie was praised by the bucket.", {"student", "bucket"}),
]


@pytest.mark.parametrize(("good", "bad", "words"), DECIDING, ids=[row[1] for row in DECIDING])
def test_a_word_in_whose_place_the_other_has_another_word_stays(kit, good, bad, words):
    (made,) = perturb_instances([pair(good, bad)], kit)
    assert words <= {word for text in made.instance.options for word in text.rstrip(".").split()}
    assert not words & {swap.original for swap in made.swaps}
    assert STAYS in dict(made.left).values()


def test_the_other_words_of_such_a_pair_are_swapped(kit):
    (made,) = perturb_instances([pair("The doctor entered the garden.", "The doctor vanished the garden.")], kit)
    assert made.instance.options == ("The physician entered the garden.", "The physician vanished the garden.")


def test_forms_of_one_word_are_swapped_together(kit):
    (made,) = perturb_instances([pair("The students buy bread.", "The student buy bread.")], kit)
    assert made.instance.options == ("The pupils purchase bread.", "The pupil purchase bread.")


# Both sentences have the verb, and whether the second is bad depends on the objects it takes.
SHARED_VERBS = [
    ("The house is difficult to buy.", "The house is likely to buy."),
    ("I know what the tailor mended.", "I know that the tailor mended."),
    ("He saw the coat that the tailor mended.", "He saw what the tailor mended the coat."),
    ("What did the guest answer before dinner?", "What did the guest answer it before dinner?"),
]


@pytest.mark.parametrize(("good", "bad"), SHARED_VERBS, ids=[row[1] for row in SHARED_VERBS])
def test_a_shared_verb_gives_way_only_to_one_that_takes_the_same_objects(kit, wordnet, good, bad):
    (made,) = perturb_instances([pair(good, bad)], kit)
    for swap in made.swaps:
        if swap.pos == "v":
            found = {
                lemma.name: frames.valency(lemma)
                for sense in wordnet.senses(swap.lemma, "v")
                if sense.synset == swap.synset
                for lemma in sense.lemmas
            }
            drawn = next(name for name in found if swap.substitute.startswith(name[:4]))
            assert found[drawn] == found[swap.lemma]


def test_answer_is_no_stand_in_for_respond_where_objects_decide(kit):
    # "respond" takes no object, "answer" may: "what ... answered it" would be right where "responded it" is not.
    asked = [pair("Who knows that she responded?", "Who knows what she responded?")]
    made = [perturb_instances(asked, kit, seed=seed)[0] for seed in range(8)]
    assert {swap.substitute for one in made for swap in one.swaps} <= {"replied"}


def test_a_noun_of_one_sex_stays_where_a_pronoun_takes_it_up(kit):
    (left,) = left_of(kit, ("The man blamed himself for the delay.", "The man blamed herself for the delay."))
    assert left["man"] == GENDER_STAYS


def test_a_noun_whose_plural_looks_alike_is_no_stand_in(kit):
    # "those swine" for "those pigs" would make "that swine", and the wrong "those hog" a right "those swine".
    made = perturb_instances([pair("She fed those hogs.", "She fed that hogs.")], kit)[0]
    assert "swine" not in made.instance.options[0]


def test_the_group_a_stereotype_is_about_stays(kit):
    (made,) = perturb_instances([pair("The doctor shouted at the boy.", "The nurse shouted at the boy.")], kit)
    assert [text.split()[1] for text in made.instance.options] == ["doctor", "nurse"]


def test_the_verb_of_a_garden_path_stays_where_another_stands_in_one_condition(kit):
    conditions = (
        Condition("ambiguous", ("While the doctor", "watched", "", "the child", "fell asleep")),
        Condition("plain", ("While the doctor", "slept", "", "the child", "fell asleep")),
    )
    item = Instance("own/paths/1", "own", "all", "npz_own", "regions", "syntaxgym", conditions=conditions)
    (made,) = perturb_instances([item], kit)
    assert [condition.regions[1] for condition in made.instance.conditions] == ["watched", "slept"]
    assert made.instance.conditions[0].regions[0] == "While the physician"


def test_the_words_by_which_two_solutions_differ_stay(kit):
    options = ("Wipe the window with a dry cloth.", "Wipe the window with a dry stone.")
    item = Instance(
        "own/choice/1", "own", "all", "choice", "choice", "piqa", "To clean a window,", options=options, gold=0
    )
    (made,) = perturb_instances([item], kit)
    assert [text.split()[-1] for text in made.instance.options] == ["cloth.", "stone."]


def test_the_word_to_be_guessed_stays_unless_the_passage_has_it(kit):
    def cloze(context, last):
        return Instance(f"own/c/{context}", "own", "all", "c", "cloze", "lambada", context, options=(last,), gold=0)

    alone, twice = cloze("He sat down and waited for the", "doctor"), cloze("The doctor said that he was no", "doctor")
    made = perturb_instances([alone, twice], kit)
    assert made[0].instance.options == ("doctor",) and made[1].instance.options == ("physician",)
