"""BLiMP's loader and what is odd in its files."""

import json
from collections import Counter

import pytest

from explorer.benchmarks import blimp
from explorer.errors import BenchmarkError


def row(pair=0, **changes):
    made = {
        "sentence_good": "The cats sleep.",
        "sentence_bad": "The cats sleeps.",
        "field": "morphology",
        "linguistics_term": "subject_verb_agreement",
        "UID": "regular_plural_subject_verb_agreement_1",
        "simple_LM_method": True,
        "one_prefix_method": False,
        "two_prefix_method": False,
        "lexically_identical": False,
        "pairID": str(pair),
    }
    return json.dumps({**made, **changes})


def parse(tmp_path, *rows):
    path = tmp_path / "paradigm.jsonl"
    path.write_text("\n".join(rows) + "\n", "utf-8")
    return blimp.load({"blimp/paradigm.jsonl": path}, ["test"]).instances


def test_a_row_becomes_a_pair_with_the_acceptable_sentence_first(tmp_path):
    (pair,) = parse(tmp_path, row(7))
    assert pair.id == "blimp/regular_plural_subject_verb_agreement_1/7"
    assert (pair.kind, pair.options, pair.gold) == ("pair", ("The cats sleep.", "The cats sleeps."), 0)
    assert (pair.phenomenon, pair.field, pair.extra["area"]) == ("subject_verb_agreement", "formal", "morphology")


def test_a_pair_of_equal_sentences_stays(tmp_path):
    pairs = parse(tmp_path, row(0), row(1, sentence_bad="The cats sleep."))
    assert len(pairs) == 2 and pairs[1].options[0] == pairs[1].options[1]


def test_a_repeated_pair_id_gets_a_suffix_of_its_own(tmp_path):
    assert [pair.id.rpartition("/")[2] for pair in parse(tmp_path, row(4), row(4), row(5))] == ["4", "4#2", "5"]


def test_the_two_spellings_of_a_field_become_one(tmp_path):
    pairs = parse(tmp_path, row(0, field="syntax/semantics"), row(1, field="syntax_semantics"))
    assert {pair.extra["area"] for pair in pairs} == {"syntax_semantics"}


def test_further_keys_are_kept(tmp_path):
    (pair,) = parse(tmp_path, row(one_prefix_prefix="The cats", one_prefix_word_good="sleep"))
    assert pair.extra["one_prefix_prefix"] == "The cats"


@pytest.mark.parametrize("line", ["{", "[1]", "null", '{"sentence_good": "x"}', ""])
def test_a_damaged_line_is_named(tmp_path, line):
    with pytest.raises(BenchmarkError, match=r"paradigm\.jsonl line 2"):
        parse(tmp_path, row(0), line, row(1))


def test_other_line_separators_belong_to_the_text(tmp_path):
    (pair,) = parse(tmp_path, row(sentence_good="One\u2028line.\x85").replace("\\u2028", "\u2028"))
    assert pair.options[0] == "One\u2028line.\x85"


# --- the real files


def test_seven_pairs_are_ties(real):
    ties = [i.id.partition("/")[2] for i in real("blimp").instances if i.options[0] == i.options[1]]
    assert ties == [f"passive_1/{n}" for n in (324, 810)] + [
        f"principle_A_case_2/{n}" for n in (105, 287, 372, 816, 967)
    ]


def test_phenomena_have_as_many_paradigms_as_the_paper_says(real):
    paradigms = {(instance.phenomenon, instance.group) for instance in real("blimp").instances}
    count = Counter(phenomenon for phenomenon, _ in paradigms)
    assert [count[phenomenon] for phenomenon in blimp.FORMAL_PHENOMENA] == [8, 6, 2, 7]
    assert count["s-selection"] == 2
    assert sum(count.values()) == 67


def test_the_odd_field_of_one_paradigm_is_that_of_its_sisters(real):
    areas = {i.extra["area"] for i in real("blimp").instances if i.group.startswith("principle_A")}
    assert areas == {"syntax_semantics"}


def test_npi_licensing_is_split_over_two_fields(real):
    areas = {i.extra["area"] for i in real("blimp").instances if i.phenomenon == "npi_licensing"}
    assert areas == {"semantics", "syntax_semantics"}


def test_both_spellings_of_the_adjective_paradigms_are_there(real):
    groups = {instance.group for instance in real("blimp").instances}
    assert {"determiner_noun_agreement_with_adj_2", "determiner_noun_agreement_with_adjective_1"} <= groups


def test_methods_are_as_many_as_published(real):
    extras = [instance.extra for instance in real("blimp").instances]
    one = sum(extra["one_prefix_method"] for extra in extras)
    two = sum(extra["two_prefix_method"] for extra in extras)
    simple_only = sum(not extra["one_prefix_method"] and not extra["two_prefix_method"] for extra in extras)
    assert (simple_only, one, two) == (27_000, 20_000, 20_000)
    assert all(extra["simple_LM_method"] for extra in extras)


@pytest.mark.parametrize(
    "paradigm, repeats", [("drop_argument", 2), ("inchoative", 2), ("intransitive", 8), ("passive_2", 3)]
)
def test_repeated_bad_sentences_stay(real, paradigm, repeats):
    bad = [instance.options[1] for instance in real("blimp").instances if instance.group == paradigm]
    assert len(bad) == 1000
    assert len(bad) - len(set(bad)) == repeats
