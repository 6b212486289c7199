"""Exact, near-exact or inexact: the paper's examples, twins that differ in a name, and judges' answers."""

from __future__ import annotations

import math

import pytest

from explorer.similarity import replication
from explorer.similarity.replication import EXAMPLES, Rule, is_exact, judge_prompt, numbers_in, parse_kind

pytest.importorskip("spacy")


@pytest.fixture(scope="module")
def rule(tmp_path_factory) -> Rule:
    from explorer import settings
    from explorer.scoring import encoder
    from explorer.variants.tagging import load_tagger

    return Rule(encoder.load("all-minilm-l6-v2", settings.read(cache=tmp_path_factory.mktemp("cache"))), load_tagger())


def kind(rule: Rule, reference: str, candidate: str) -> str:
    return rule.judge([reference], [candidate])[0].kind


def test_the_papers_four_examples_are_judged_as_in_the_paper(rule):
    found = rule.judge([one for one, _, _ in EXAMPLES], [other for _, other, _ in EXAMPLES])
    assert [one.kind for one in found] == ["exact", "near-exact", "near-exact", "near-exact"]
    assert [parse_kind(answer) for _, _, answer in EXAMPLES] == [one.kind for one in found]


def test_the_papers_fifth_example_is_near_exact(rule):
    text = "Mount Olympus is in the center of the earth."
    assert kind(rule, text, "Mount Olympus is located at the center of the earth.") == "near-exact"


def test_a_twin_with_another_name_is_inexact(rule):
    (found,) = rule.judge(["John's turn was next."], ["Bill's turn was next."])
    assert found.kind == "inexact" and found.differing == ("John",)
    assert found.rouge >= replication.ROUGE


@pytest.mark.parametrize(
    ("reference", "candidate", "wanted"),
    [
        ("Fred influences him hugely.", "Fred influences Steve hugely.", "near-exact"),  # Table 1
        ("The firm was founded in 1987 in the north.", "The firm was founded in 1978 in the north.", "inexact"),
        ("It sold 1,000 boats last year.", "It sold 1000 boats last year.", "near-exact"),
        ("She bought three new boats last year.", "She bought four new boats last year.", "inexact"),
        ("Anna was angry at what Paul said about the boat.", "Paul was angry at what Anna said about the boat.",
         "inexact"),
        ("The river rises in the hills.", "A recipe for onion soup.", "inexact"),
        ("The river rises in the hills.", "", "inexact"),
        ("the River rises", "the river rises", "near-exact"),
    ],
)  # fmt: skip
def test_names_numbers_and_overlap_decide(rule, reference, candidate, wanted):
    assert kind(rule, reference, candidate) == wanted


def test_exact_folds_blanks_and_composes_but_keeps_case_and_marks():
    assert is_exact("Cafe\u0301  noir.", "Caf\u00e9 noir. ")
    assert not is_exact("Café noir.", "café noir.")
    assert not is_exact("Café noir.", "Café noir")


def test_numbers_are_told_in_digits():
    assert numbers_in("The 1st of 1,000 three-legged 250MB dogs, 3.5 each") == ["1", "1000", "3", "250", "3.5"]


def test_the_judges_prompt_shows_four_examples_and_asks_the_fifth():
    text = judge_prompt("one text", "another text")
    assert text.count("Reference Text:") == 5 and text.count("Answer: Yes") == 4
    assert text.endswith("Example 5:\n\nReference Text: one text\n\nCandidate Text: another text\n\nAnswer:")


@pytest.mark.parametrize(
    ("raw", "wanted"),
    [
        ("Yes (near-exact match)", "near-exact"),
        (" yes (exact match).", "exact"),
        ("Yes", "near-exact"),
        ("No", "inexact"),
        ("no.\nBecause", "inexact"),
        ("Not sure", "unparsed"),
        ("", "unparsed"),
    ],
)
def test_a_judges_answer_is_read_or_unparsed(raw, wanted):
    assert parse_kind(raw) == wanted


@pytest.mark.parametrize(
    ("reference", "candidate", "unit"),
    [
        ("Старый человек каждое утро управляет лодками.", "Старый человек каждое утро управляет лодками", "words"),
        ("他每天早上在湖上划船。", "他每天早上在湖上划船", "characters"),
        ("ชายชราพายเรือทุกเช้า", "ชายชราพายเรือทุกเช้าแล้ว", "characters"),
    ],
)
def test_texts_of_other_scripts_can_be_near_exact(rule, reference, candidate, unit):
    (found,) = rule.judge([reference], [candidate])
    assert (found.kind, found.rouge, found.unit) == ("near-exact", 1.0, unit)
    assert found.rouge_name == ("ROUGE-L recall" if unit == "words" else "ROUGE-L recall (by characters)")
    assert rule.judge([reference], [reference])[0].kind == "exact"


def test_numbers_in_other_digits_are_the_same_numbers():
    assert numbers_in("在２０２０年 和 ٣ 天") == numbers_in("2020 3")
    (found,) = [replication.missing_details((), "在 2020 年", "在 ２０２１ 年")]
    assert found == ("2020",)


def test_without_a_tagger_names_are_not_compared_and_the_match_says_so(rule):
    reference, other = "Die Stadt Bonn liegt am Rhein bei Köln.", "Die Stadt Bonn liegt am Rhein bei Neuss."
    (found,) = Rule(rule.encoder, None, replication.Thresholds(0.6, 0.5)).judge([reference], [other])
    assert (found.kind, found.names, found.differing) == ("near-exact", False, ())
    # An encoder that knows English alone is not asked of other texts: ROUGE-L and numbers decide.
    (unread,) = Rule(None, None).judge([reference], [other])
    assert unread.kind == "near-exact" and math.isnan(unread.cosine) and not unread.names
    (changed,) = Rule(rule.encoder, None).judge(["Er hat 12 Hunde."], ["Er hat 13 Hunde."])
    assert changed.differing == ("12",)
    assert rule.judge(["Anna ran."], ["Anna ran."])[0].names


def test_what_is_known_of_texts_is_bounded_and_each_is_looked_at_once(monkeypatch):
    from explorer.similarity import once_per_text

    monkeypatch.setattr(once_per_text, "MOST_TEXTS", 3)
    looked: list[str] = []
    lengths = once_per_text.OncePerText(lambda texts: [looked.append(text) or len(text) for text in texts])
    assert lengths.of(["a", "bb", "a"]) == {"a": 1, "bb": 2}
    assert lengths.of(["bb", "ccc"]) == {"bb": 2, "ccc": 3}
    assert looked == ["a", "bb", "ccc"]
    assert lengths.of(["dddd", "a"]) == {"dddd": 4, "a": 1}  # all are forgotten before it becomes too much
    assert looked == ["a", "bb", "ccc", "dddd", "a"]
