"""Words that cannot be exchanged alone, and meanings that are not trusted; all sentences our own."""

import pytest

from explorer.variants import synonyms
from explorer.variants.perturb import perturb_texts
from explorer.variants.senses import why_doubted
from explorer.variants.targets import find_targets

pytestmark = pytest.mark.slow


def swapped(kit, *sentences):
    return [{swap.original: swap.substitute for swap in made.swaps} for made in perturb_texts(sentences, kit)]


LIGHT = [
    "She took another look at the map.",
    "He took a long bath after work.",
    "They went home and had a rest.",
    "She gave him a smile.",
    "He made a decision in the morning.",
    "They paid a visit to their aunt.",
    "The decision was made in the morning.",
    "She took a quick glance at the clock.",
    "He gave the door a kick.",
]


def test_a_light_verb_and_its_noun_stay(kit):
    words = {
        "took",
        "look",
        "bath",
        "had",
        "rest",
        "gave",
        "smile",
        "made",
        "decision",
        "paid",
        "visit",
        "glance",
        "kick",
    }
    for sentence, found in zip(LIGHT, swapped(kit, *LIGHT), strict=True):
        assert not set(found) & words, (sentence, found)


def test_a_thing_behind_the_same_verb_is_no_such_phrase(kit, wordnet):
    text = "He took the car to the harbor."
    (tokens,) = kit.tagger.tag([text])
    assert "car" in {target.form for target in find_targets(tokens, text, wordnet)[0]}


IDIOMS = [
    ("They spilled the beans at dinner.", {"spilled", "beans"}),
    ("The joke broke the ice.", {"broke", "ice"}),
    ("He kicked the bucket last spring.", {"kicked", "bucket"}),
    ("She was under the weather.", {"weather"}),
    ("He stayed in bed all day.", {"bed"}),
    ("They went to school on foot.", {"foot", "school"}),
    ("The exam was a piece of cake.", {"piece", "cake"}),
]


@pytest.mark.parametrize(("sentence", "words"), IDIOMS, ids=[row[0] for row in IDIOMS])
def test_the_words_of_an_idiom_stay(kit, sentence, words):
    (found,) = swapped(kit, sentence)
    assert not words & set(found)


def test_a_noun_that_chooses_what_follows_it_stays(kit):
    (found,) = swapped(kit, "Cloth is a good alternative to paper.")
    assert "alternative" not in found


UNITS = [
    "6.5cm",
    "10 kg",
    "two miles",
    "three cups",
    "ten dollars",
    "5 minutes",
    "1.5 inches",
    "90 degrees",
    "40 pounds",
]


@pytest.mark.parametrize("measure", UNITS)
def test_a_number_and_its_unit_stay(kit, measure):
    (made,) = perturb_texts([f"They measured about {measure} on the table."], kit)
    assert measure in made.text


PLURALS = [
    ("He cleaned his eyeglasses.", "eyeglasses"),
    ("She wore glasses at school.", "glasses"),
    ("They drank spirits after dinner.", "spirits"),
    ("He folded his trousers.", "trousers"),
    ("She washed her pants.", "pants"),
    ("She bought new jeans.", "jeans"),
    ("The tailor lost his scissors.", "scissors"),
    ("The swimmer lost her goggles.", "goggles"),
    ("He looked through his binoculars.", "binoculars"),
    ("The soldiers laid down their arms.", "arms"),
    ("The officers of the customs searched the bags.", "customs"),
    ("The thief ran up the stairs.", "stairs"),
    ("She packed her shorts and her tights.", "tights"),
]


@pytest.mark.parametrize(("sentence", "word"), PLURALS, ids=[row[1] for row in PLURALS])
def test_a_plural_only_noun_gives_way_to_its_like_or_stays(kit, wordnet, sentence, word):
    (found,) = swapped(kit, sentence)
    if word in found:
        substitute = found[word]
        shared = {sense.synset for sense in wordnet.senses(word, "n")} & {
            sense.synset for sense in wordnet.senses(substitute, "n")
        }
        trousers = word in ("pants", "trousers") and substitute in ("pants", "trousers")
        assert shared or trousers, (word, substitute)


def test_the_plural_of_a_substitute_must_not_mean_something_else(kit, wordnet):
    text = "She closed her eyes."  # optics are no eyes
    (tokens,) = kit.tagger.tag([text])
    target = next(target for target in find_targets(tokens, text, wordnet)[0] if target.form == "eyes")
    reasons = {one.lemma: one.reason for one in synonyms.candidates_for(target, target.senses[0])}
    assert reasons["optic"] == "its plural means something else"


def test_a_person_needs_and_a_task_involves(kit, wordnet):
    text = "The children need money."
    (tokens,) = kit.tagger.tag([text])
    target = next(target for target in find_targets(tokens, text, wordnet)[0] if target.form == "need")
    assert "necessitate.v.01" not in {sense.synset for sense in target.senses}


def test_a_close_second_and_a_rare_meaning_are_doubted(wordnet):
    senses = wordnet.senses("spirit", "n")
    ahead = [0.5, 0.47] + [0.0] * (len(senses) - 2)
    assert not why_doubted(senses[:2], ahead[:2], "blend")  # the most frequent of a few senses needs no lead
    assert why_doubted(senses * 2, ahead + ahead, "blend")  # of many it does
    second = [0.47, 0.5] + [0.0] * (len(senses) - 2)
    assert "another sense" in why_doubted(senses, second, "blend")
    assert not why_doubted(senses, [0.3, 0.5] + [0.0] * (len(senses) - 2), "blend")
    assert "hardly ever" in why_doubted(senses, [0.0] * (len(senses) - 1) + [1.0], "blend")
