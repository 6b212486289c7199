import pytest

from explorer.variants import synonyms
from explorer.variants.swappable import swappable_words, why_chosen
from explorer.variants.targets import find_targets

# Lemma, tag and substitute of the example swaps in Table A of the lexical-popularity paper, each in a sentence of ours.
# ("chiroprapist" there is a slip for chiropodist.)
TABLE_A = [
    ("The registration of new voters took an hour.", "registration", "NN", "enrollment"),
    ("He will use an old towel.", "use", "VB", "utilise"),
    ("The burglar was arrested near the bridge.", "arrest", "VBN", "collared"),
    ("They committed a terrible crime.", "commit", "VBD", "perpetrated"),
    ("Nora was chosen for the team.", "choose", "VBN", "selected"),
    ("She bought makeup for the clown.", "makeup", "NN", "make-up"),
    ("The boys did explore that cave.", "explore", "VB", "search"),
    ("Such a trick did astound him.", "astound", "VB", "amaze"),
    ("The lawyer had referenced an older case.", "reference", "VBN", "cited"),
    ("Her brother is a podiatrist.", "podiatrist", "NN", "chiropodist"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("sentence", "lemma", "tag", "form"), TABLE_A, ids=[row[1] for row in TABLE_A])
def test_the_swaps_of_the_papers_table_a_are_offered(wordnet, tagger, sentence, lemma, tag, form):
    (tokens,) = tagger.tag([sentence])
    targets, _ = find_targets(tokens, sentence, wordnet)
    target = next(target for target in targets if target.lemma == lemma)
    assert target.tag == tag
    assert form in {
        candidate.form for sense in target.senses for candidate in synonyms.offered_candidates(target, sense)
    }


def offered(lexicon, tagger, sentence, lemma):
    (tokens,) = tagger.tag([sentence])
    target = next(target for target in find_targets(tokens, sentence, lexicon)[0] if target.lemma == lemma)
    found = synonyms.candidates_for(target, target.senses[0])
    return {c.form for c in found if not c.reason}, {c.lemma: c.reason for c in found if c.reason}


def test_excluded_words_say_why(lexicon, tagger):
    kept, out = offered(lexicon, tagger, "The police arrested him.", "arrest")
    assert kept == {"collared", "nabbed"} and out == {"pick up": "several words"}
    kept, out = offered(lexicon, tagger, "The dogs slept.", "dog")
    assert kept == {"hounds"} and set(out) == {"Canis familiaris", "Hound"}


def test_what_cannot_be_counted_is_out_only_where_one_counts(lexicon, tagger):
    assert offered(lexicon, tagger, "They bought two chairs.", "chair")[1] == {"furniture": "cannot be counted"}
    assert offered(lexicon, tagger, "They moved the chair.", "chair")[0] == {"furniture"}


def test_a_draw_is_a_uniform_order_of_the_pool():
    pool = [synonyms.Candidate(word, word) for word in ("collar", "nab", "nail", "cop")]
    firsts = [
        synonyms.sample_synonyms(pool, seed=seed, key="id", lemma="arrest", pos="v")[0].lemma for seed in range(400)
    ]
    # 400 draws of 4 words: 100 expected each, standard deviation sqrt(400 * 1/4 * 3/4) = 8.7
    assert all(65 <= firsts.count(word.lemma) <= 135 for word in pool)
    again = synonyms.sample_synonyms(pool[::-1], seed=7, key="id", lemma="arrest", pos="v")
    assert again == synonyms.sample_synonyms(pool, seed=7, key="id", lemma="arrest", pos="v")
    # Leaving a word out keeps the order of the others.
    assert [c for c in again if c != pool[0]] == synonyms.sample_synonyms(
        pool[1:], seed=7, key="id", lemma="arrest", pos="v"
    )


def test_the_lab_lists_words_senses_and_synonyms(tools):
    arrest, doctor = swappable_words("The police arrested two doctors. They arrested him.", tools)
    assert (arrest.lemma, arrest.places) == ("arrest", ((11, 19), (38, 46)))
    assert [view.sense.synset for view in arrest.senses] == ["collar.v.01", "halt.v.01"]
    assert [view.chosen for view in arrest.senses] == [True, False]
    assert {c.form for c in arrest.chosen.offered} == {"collared", "nabbed"}
    assert {c.reason for c in arrest.chosen.excluded} == {"several words"}
    assert doctor.chosen.offered[0].form == "physicians" and doctor.why == "the only sense that fits"
    assert swappable_words("The police arrested two doctors.", tools, veto=["doctor"]) == [
        swappable_words("The police arrested them.", tools)[0]
    ]


def test_why_tells_the_margin():
    assert why_chosen((0.5, 0.25), "first") == "the most frequent sense; ahead of the next sense by 0.250"
    assert why_chosen((float("nan"), float("nan")), "chat") == "no answer from the model: the most frequent sense"


@pytest.mark.slow
def test_a_word_that_seldom_has_the_meaning_is_held_back(wordnet, tagger):
    # The paper swaps "reports" for "stories"; in SemCor 2 of 63 stories are reports.
    text = "Reports about the flood filled the newspaper."
    (tokens,) = tagger.tag([text])
    target = next(target for target in find_targets(tokens, text, wordnet)[0] if target.lemma == "report")
    sense = next(sense for sense in target.senses if "story" in {lemma.name for lemma in sense.lemmas})
    reasons = {candidate.lemma: candidate.reason for candidate in synonyms.candidates_for(target, sense)}
    assert reasons["story"] == "seldom has this meaning" and reasons["account"] == ""
