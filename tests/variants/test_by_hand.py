"""Swaps by hand: only what was chosen changes, and every word is found again where it now stands."""

from __future__ import annotations

import pytest

from explorer.records import Condition, Instance
from explorer.variants import by_hand
from explorer.variants.perturb import perturb_instance


def pair(good: str, bad: str) -> Instance:
    return Instance("b/g/1", "b", "test", "g", "pair", "sentence", options=(good, bad), gold=0)


def spelled(reading, made) -> list[list[tuple[str, str, bool]]]:
    """For each running text: the words as they stand, their key, and whether they are swapped."""
    return [
        [(running.text[word.start : word.end], word.key, word.swap is not None) for word in words]
        for running, words in by_hand.shown_words(reading, made)
    ]


PAIR = pair("A doctor's children arrest an actor.", "A doctor's children arrests an actor.")


def test_only_the_chosen_words_are_swapped_in_every_option(tools):
    reading = by_hand.read_instance(PAIR, tools)
    assert list(by_hand.words_of(reading, tools)) == ["doctor.n", "child.n", "arrest.v", "actor.n"]
    made = by_hand.swap_words(reading, {"actor.n": "player"})
    assert made.instance.options == (
        "A doctor's children arrest a player.",
        "A doctor's children arrests a player.",
    )
    assert by_hand.edited_instance(PAIR, made).id == "b/g/1#by-hand"


def test_no_choice_leaves_the_instance_as_it_is(tools):
    reading = by_hand.read_instance(PAIR, tools)
    made = by_hand.swap_words(reading, {})
    assert by_hand.edited_instance(PAIR, made) is PAIR
    assert [word for word, _, _ in spelled(reading, made)[0]] == ["doctor", "children", "arrest", "actor"]


def test_words_are_found_again_behind_mended_neighbors(tools):
    reading = by_hand.read_instance(PAIR, tools)
    made = by_hand.swap_words(reading, {"doctor.n": "physician", "actor.n": "player", "child.n": "kid"})
    assert made.instance.options[0] == "A physician's kids arrest a player."
    swapped = [("physician", "doctor.n", True), ("kids", "child.n", True)]
    assert spelled(reading, made) == [
        [*swapped, (verb, "arrest.v", False), ("player", "actor.n", True)] for verb in ("arrest", "arrests")
    ]


def test_a_substitute_of_the_readers_own_is_inflected_too(tools):
    reading = by_hand.read_instance(PAIR, tools)
    made = by_hand.swap_words(reading, {"arrest.v": "hug"})
    assert made.instance.options == ("A doctor's children hug an actor.", "A doctor's children hugs an actor.")


def test_the_draw_is_that_of_a_full_run(tools):
    reading = by_hand.read_instance(PAIR, tools)
    for pos in ("N", "V", "NV"):
        drawn = by_hand.sample_substitutes(reading, tools, pos, seed=3)
        run = perturb_instance(PAIR, tools, pos=pos, seed=3)
        assert by_hand.swap_words(reading, drawn).instance.options == run.instance.options
        assert {key[-1] for key in drawn} == set(pos.lower())


@pytest.mark.parametrize(
    ("instance", "choices", "texts"),
    [
        (
            Instance("w/g/1", "w", "test", "g", "choice", "winogrande", options=("trophy", "suitcase"), gold=0,
                     context="The trophy does not fit into the suitcase because the _ is large."),
            {"suitcase.n": "bag"},
            [[("trophy", False), ("bag", True), ("trophy", False)], [("trophy", False), ("bag", True), ("bag", True)]],
        ),
        (
            Instance("l/g/1", "l", "test", "g", "cloze", "cloze", context="They saw an actor", options=("doctor",)),
            {"actor.n": "player", "doctor.n": "physician"},
            [[("player", True), ("physician", True)]],
        ),
        (
            Instance("s/g/1", "s", "test", "g", "regions", "syntaxgym", conditions=(
                Condition("one", ("The doctor", "boasted", ".")), Condition("two", ("The doctor", "boasts", "."))),
                extra={"formulas": []}),
            {"doctor.n": "physician"},
            [[("physician", True), ("boasted", False)], [("physician", True), ("boasts", False)]],
        ),
        (
            Instance("t/g/1", "t", "test", "g", "text", "text", context="An actor met a doctor."),
            {"actor.n": "player"},
            [[("player", True), ("doctor", False)]],
        ),
    ],
)  # fmt: skip
def test_words_are_shown_in_every_kind_of_instance(tools, instance, choices, texts):
    reading = by_hand.read_instance(instance, tools)
    made = by_hand.swap_words(reading, choices)
    assert [[(word, swapped) for word, _, swapped in words] for words in spelled(reading, made)] == texts


def test_a_vetoed_word_is_not_offered(tools):
    reading = by_hand.read_instance(PAIR, tools, veto=["actor"])
    assert "actor.n" not in by_hand.words_of(reading, tools)


def test_a_swap_that_would_change_the_difference_is_refused_with_its_reason(tools):
    reading = by_hand.read_instance(pair("The doctor met him.", "The doctors met him."), tools)
    made = by_hand.swap_words(reading, {"doctor.n": "sheep"})
    assert made.instance is None
    assert made.reason
    assert spelled(reading, made)[0][0] == ("doctor", "doctor.n", False)
