import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from explorer import benchmarks
from explorer.similarity.rouge import rouge_l, rouge_l_recall, stem_word

PACKAGE = RougeScorer(["rougeL"], use_stemmer=True)


def test_rouge_l_of_one_swapped_word():
    # 4 of 5 words in order on both sides: precision = recall = F1 = 0.8
    (found,) = rouge_l(["the old man the boats"], ["the old man the ships"])
    assert found.value == pytest.approx(0.8) and found.reason == ""


def test_recall_counts_the_reference_only():
    # 2 of the 2 words of the reference, whatever else the candidate says
    assert rouge_l_recall(["old boats"], ["the old and leaky boats"])[0].value == 1.0


def test_empty_texts_have_a_reason():
    one, both, blank = rouge_l(["a b", "", "a"], ["", "", " \n"])
    assert (one.value, one.reason) == (0.0, "one text is empty")
    assert math.isnan(both.value) and both.reason == "both texts are empty"
    assert blank.value == 0.0


@given(st.lists(st.sampled_from(["a", "bee", "cat", "dogs"]), min_size=1), st.lists(st.sampled_from(["a", "bee"])))
def test_rouge_l_is_symmetric_and_one_for_equal_texts(first, second):
    one, other = " ".join(first), " ".join(second)
    assert rouge_l([one], [one])[0].value == pytest.approx(1.0)
    assert rouge_l([one], [other])[0].value == pytest.approx(rouge_l([other], [one])[0].value)


# --- English as the package has it

english = st.lists(
    st.sampled_from(
        ["The", "walkers'", "boats", "weren't", "well_known;", "1987", "3.5", "(old)", "RUNNING", "e.g.", "--"]
    )
).map(" ".join)


def as_in_the_package(one: str, other: str) -> bool:
    theirs = PACKAGE.score(one, other)["rougeL"]
    (f1,), (recall,) = rouge_l([one], [other]), rouge_l_recall([one], [other])
    return (f1.value, recall.value) == (theirs.fmeasure, theirs.recall) and f1.unit == recall.unit == "words"


@given(english, english)
def test_english_texts_have_the_packages_numbers(one, other):
    if any(char.isalnum() for char in one + other) and one.strip() and other.strip():
        assert as_in_the_package(one, other)


@given(st.text(st.characters(max_codepoint=127)), st.text(st.characters(max_codepoint=127)))
def test_any_ascii_text_has_the_packages_number(one, other):
    if any(char.isalnum() for char in one + other) and one.strip() and other.strip():
        assert as_in_the_package(one, other)


def test_published_texts_have_the_packages_numbers(real_settings):
    for name in ("blimp", "piqa", "rte", "trec"):
        texts = [
            one.options[0] if one.kind == "pair" else one.context
            for one in benchmarks.load(name, real_settings).instances
        ]
        plain = [text for text in texts if text.isascii() and text.strip()][::37]
        assert len(plain) > 40
        for one, other in itertools.pairwise(plain):
            assert as_in_the_package(one, other)


def test_curly_quotes_and_dashes_part_english_words_as_in_the_package():
    assert as_in_the_package("It wasn’t “his” boat—it was hers…", "It wasn't his boat - it was 'hers'")


# --- other alphabets


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("Старый человек управляет лодками.", "words"),
        ("Ο γέρος οδηγεί τις βάρκες", "words"),
        ("الرجل العجوز يقود القوارب", "words"),
        ("बूढ़ा आदमी नाव चलाता है", "words"),
        ("노인이 배를 젓는다", "words"),
        ("Đêm ấy ông lão chèo thuyền", "words"),
        ("他在湖上划船。", "characters"),
        ("老人は船を漕ぐ", "characters"),
        ("ชายชราพายเรือ", "characters"),
        ("他用 Python 写程序", "characters"),
        ("😀 👍", "characters"),
        ("?!", "characters"),
    ],
)
def test_a_text_is_as_its_own_in_every_script_and_the_unit_is_told(text, unit):
    for found in (*rouge_l([text], [text]), *rouge_l_recall([text], [text])):
        assert (found.value, found.unit) == (pytest.approx(1.0), unit)
        assert found.remark == ("" if unit == "words" else "by characters")


def test_overlap_in_other_scripts_is_counted_by_hand():
    # 3 of 4 words in order
    assert rouge_l(["Старый человек управляет лодками"], ["старый человек управляет кораблём"])[0].value == 0.75
    # 4 of 5 characters
    assert rouge_l(["他去学校了"], ["他去公校了"])[0].value == pytest.approx(0.8)
    # two syllables with their vowel signs of three
    assert rouge_l_recall(["กาแฟดี"], ["กาแฟ"])[0].value == pytest.approx(4 / 5)
    assert rouge_l(["Старый"], ["他"])[0].value == 0.0


def test_accents_are_the_same_however_they_are_encoded_and_case_is_folded():
    assert rouge_l(["Cafe\u0301 NOIR"], ["caf\u00e9 noir"])[0].value == 1.0
    assert rouge_l(["STRASSE"], ["Straße"])[0].value == 1.0
    assert rouge_l(["café"], ["caf"])[0].value == 0.0


def test_a_word_of_other_letters_is_compared_whole_and_one_of_a_to_z_by_its_stem():
    assert (stem_word("Boats"), stem_word("naïve"), stem_word("лодки"), stem_word("Ёлка2")) == (
        "boat",
        "naïve",
        "лодки",
        "ёлка2",
    )
