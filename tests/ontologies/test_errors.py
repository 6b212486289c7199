import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.ontologies.errors import NO_ID, jaccard, levenshtein, nearest, nearness, summarize
from explorer.records import Concept

LABELS = {"T:0003179": "heart valve morphogenesis", "T:0061384": "heart trabecula morphogenesis", "T:0060219": "eye"}
texts = st.text(alphabet="GO:0123", max_size=12)


def test_jaccard_of_the_papers_example():
    # {heart, valve, morphogenesis} and {heart, trabecula, morphogenesis} share 2 of 4 words
    assert jaccard(LABELS["T:0003179"], LABELS["T:0061384"]) == 2 / 4


def test_words_are_split_at_blanks_only_and_keep_their_case():
    assert jaccard("3,4-cup", "3,4-Cup") == 0
    assert jaccard("a  b a", "b a") == 1
    assert math.isnan(jaccard("", " "))


def test_levenshtein_of_the_papers_example():
    # only one digit needs to be changed
    assert levenshtein("GO:0060219", "GO:0060519") == 1
    assert levenshtein("GO:0060219", "") == 10
    assert levenshtein("kitten", "sitting") == 3


@given(texts, texts, texts)
def test_levenshtein_is_a_distance(a: str, b: str, c: str):
    assert (levenshtein(a, b) == 0) == (a == b)
    assert levenshtein(a, b) == levenshtein(b, a)
    assert levenshtein(a, c) <= levenshtein(a, b) + levenshtein(b, c)
    assert abs(len(a) - len(b)) <= levenshtein(a, b) <= max(len(a), len(b))


def test_an_id_that_does_not_exist_has_a_distance_and_no_overlap():
    found = nearness("T:0003179", "T:9999999", LABELS)
    assert math.isnan(found.jaccard)
    assert found.levenshtein == 6  # all digits of 0003179 but the last
    assert nearness("T:0003179", "", LABELS) == NO_ID


def test_a_summary_counts_what_it_leaves_out():
    wrong = [
        nearness("T:0003179", "T:0061384", LABELS),  # overlap 2/4
        nearness("T:0003179", "T:0060219", LABELS),  # overlap 0
        nearness("T:0003179", "T:0003170", LABELS),  # one edit, unknown
        NO_ID,
    ]
    pattern = summarize(wrong)
    assert (pattern.wrong, pattern.well_formed, pattern.unknown) == (4, 3, 1)
    assert pattern.unknown_share == pytest.approx(1 / 3)
    assert pattern.jaccard == pytest.approx((0.5 + 0) / 2)
    assert pattern.levenshtein == pytest.approx((wrong[0].levenshtein + wrong[1].levenshtein + 1) / 3)


def test_a_summary_of_nothing_is_undefined():
    assert math.isnan(summarize([]).jaccard)
    assert math.isnan(summarize([NO_ID]).levenshtein)
    assert math.isnan(summarize([]).unknown_share)


def test_the_nearest_concepts_are_fewest_edits_away_then_share_words():
    gold = Concept("T:0001", "blue cup")
    others = [Concept("T:0002", "mug"), Concept("T:9999", "blue cup"), Concept("T:0003", "red cup"), gold]
    found = nearest(gold, others, n=3)
    assert [concept.id for concept, _ in found] == ["T:0003", "T:0002", "T:9999"]
    assert [near.levenshtein for _, near in found] == [1, 1, 4]


def test_labels_in_a_script_without_blanks_overlap_by_characters_which_is_told():
    # 2 of 4 characters
    assert jaccard("肝炎病", "肝病毒") == 0.5
    found = nearness("TOY:1", "TOY:2", {"TOY:1": "肝炎病", "TOY:2": "肝病毒"})
    assert (found.jaccard, found.unit) == (0.5, "characters")
    assert nearness("TOY:1", "TOY:2", {"TOY:1": "белая чашка", "TOY:2": "синяя чашка"}).unit == "words"
    assert jaccard("белая чашка", "синяя чашка") == pytest.approx(1 / 3)
