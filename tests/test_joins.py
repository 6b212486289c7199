"""One owner of the blank between two pieces of a text: whatever stands at their edges, there is one blank."""

from __future__ import annotations

import dataclasses
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer import prompts, prompts_icl
from explorer.ontologies import prompts as ontology_prompts
from explorer.records import Condition, Instance, Request
from explorer.scoring.policy import PRESETS
from explorer.similarity import judge, replication
from explorer.studies.ontology import gold as ontology_gold
from explorer.studies.priming import requests as priming_requests
from explorer.variants import fields, running_text
from explorer.variants.demonstrations import Pieces, cut_in_two
from explorer.writing import is_wide, joined, running

EDGES = ("", " ", "  ", "\t", "\xa0", " \t ")
LETTERS = st.text("abcxyzÀжß1", min_size=1, max_size=5)
OTHERS = st.sampled_from([",", ".", "?!", "(a)", '"b"', ".5", "中文", "日本。", "ไทย", "한국"])
WORDS = st.lists(LETTERS | OTHERS, min_size=1, max_size=4).map(" ".join)
EDGE = st.sampled_from(EDGES)
KINDS = {
    "sentence": "pair", "pair_in_context": "pair", "crows_pairs": "pair", "choice": "choice", "piqa": "choice",
    "copa": "choice", "winogrande": "choice", "context_options": "choice",
    "cloze": "cloze", "syntaxgym": "regions", "labelled": "labelled", "wnli": "labelled",
    "rte": "labelled", "trec": "labelled", "dbpedia14": "labelled", "concept": "concept", "text": "text",
}  # fmt: skip
# Under these presets the texts are as another harness takes them.
AS_THE_HARNESS = {("sentence", "lm-eval"), ("sentence", "minicons"), ("crows_pairs", "lm-eval"),
    ("crows_pairs", "minicons"), *((name, "lm-eval") for name in KINDS)}  # fmt: skip


def made(format: str, texts: list[str], conditions: list[list[str]]) -> Instance:
    context, second, *options = texts
    if format in ("sentence", "crows_pairs", "text", "concept", "syntaxgym"):
        second = ""
    if format in ("sentence", "crows_pairs", "syntaxgym", "context_options"):
        context = ""
    if format == "winogrande":
        context = f"{context.rstrip()} _ {second.lstrip()}"
    if format in ("wnli", "rte"):
        options = ["entailment", "not_entailment"]
    if format == "concept":
        options = ["GO:0005529"]
    return Instance(
        "b/g/1", "b", "test", "g", KINDS[format], format, context,
        second if KINDS[format] == "labelled" or format == "context_options" else "",
        tuple(options[:1] if format == "cloze" else options), 0,
        conditions=tuple(Condition(f"c{i}", tuple(one)) for i, one in enumerate(conditions)),
        extra={"question": "cause", "formulas": ["(1;%c0%) < (1;%c1%)"]},
    )  # fmt: skip


@st.composite
def clean_and_loose(draw: st.DrawFn) -> tuple[Instance, Instance]:
    """An instance, and the same with white space at the edges of its texts."""
    format = draw(st.sampled_from(sorted(prompts.FORMATS)))
    texts = draw(st.lists(WORDS, min_size=4, max_size=4))
    conditions = draw(st.lists(st.lists(WORDS, min_size=2, max_size=3), min_size=2, max_size=2))

    def loosen(text: str) -> str:
        return draw(EDGE) + text + draw(EDGE)

    clean = made(format, texts, conditions)
    loose = made(format, [loosen(text) for text in texts], [[loosen(text) for text in one] for one in conditions])
    return clean, loose


def well_joined(text: str) -> bool:
    return not re.search(r"[ \t\xa0]{2}|[ \t\xa0]\n|\n[ \t\xa0]", text) and text == text.strip()


@given(clean_and_loose(), st.sampled_from(sorted(PRESETS)))
@settings(max_examples=150)
def test_white_space_at_the_edges_of_a_text_changes_no_prompt_but_those_of_another_harness(pair, preset):
    clean, loose = pair
    if (clean.format, preset) in AS_THE_HARNESS:
        return
    assert set(KINDS) == set(prompts.FORMATS)
    asked = prompts.requests(loose, preset)
    assert [(one.context, one.continuation) for one in asked] == [
        (one.context, one.continuation) for one in prompts.requests(clean, preset)
    ]
    for one in asked:
        assert well_joined(one.context + one.continuation)


@given(clean_and_loose())
@settings(max_examples=80)
def test_texts_of_options_have_one_blank_at_every_join(pair):
    clean, loose = pair
    assert prompts.option_texts(loose) == prompts.option_texts(clean)
    assert all(map(well_joined, prompts.option_texts(loose)))


@given(clean_and_loose(), WORDS)
@settings(max_examples=80)
def test_a_target_stands_one_blank_behind_the_context_that_primes_it(pair, before):
    clean, loose = pair
    if clean.kind not in ("pair", "regions"):
        return
    primer = running_text.join_sentences([before])
    asked = [priming_requests.step(item, primer, " ", condition="typed", length=None) for item in (clean, loose)]
    assert asked[0].requests == tuple(
        dataclasses.replace(one, instance_id=clean.id) for one in asked[1].requests
    )  # fmt: skip
    for one in asked[1].requests:
        text = one.context + one.continuation
        assert well_joined(text) and text.startswith(primer)
        assert text[len(primer)] == " " or is_wide(text[len(primer)])


@given(clean_and_loose(), clean_and_loose(), st.sampled_from(sorted(prompts_icl.SETTINGS)))
@settings(max_examples=80)
def test_in_context_prompts_have_one_blank_at_every_join(pair, other, setting):
    clean, loose = (
        dataclasses.replace(one, kind="labelled", format="labelled", options=("yes ", "no")) for one in pair
    )
    shot = dataclasses.replace(other[1], kind="labelled", format="labelled", options=clean.options, gold=1)
    found = [cut_in_two(one) for one in (clean, loose, shot)]
    if not all(isinstance(one, Pieces) for one in found):
        return
    before = prompts_icl.shared([found[2]], setting, shot, "train")
    texts = [prompts_icl.replication(one, before, setting, 1).context for one in found[:2]]
    labels = [
        prompts_icl.label_requests(one, prompts_icl.label_shared([found[2]], shot), 1, 0) for one in (clean, loose)
    ]
    assert texts[0] == texts[1] and well_joined(texts[0])
    assert labels[0] == labels[1]
    assert all(well_joined(one.context + one.continuation) for one in labels[1])


@given(WORDS, WORDS, EDGE, EDGE)
def test_prompts_about_a_concept_and_of_a_judge_are_the_same_with_white_space_at_the_edges(one, other, left, right):
    for prompt in ontology_prompts.PROMPTS.values():
        asked = [ontology_prompts.text_of(prompt, text, "GO", "Gene Ontology") for text in (one, left + one + right)]
        assert asked[0] == asked[1]
    assert judge.judge_prompt(left + one, other + right) == judge.judge_prompt(one, other)
    assert replication.judge_prompt(one + right, left + other) == replication.judge_prompt(one, other)


def test_an_id_goes_on_from_an_open_prompt_behind_one_blank():
    class Put:
        prompt = ontology_prompts.PROMPTS["completion-open"]

    asked = Request("b/g/1", 0, "The ID is")
    assert ontology_gold.continuation(Put(), asked, "The ID is", "GO:0005529") == " GO:0005529"
    assert ontology_gold.continuation(Put(), asked, "The ID is ", "GO:0005529") == "GO:0005529"


@given(clean_and_loose())
@settings(max_examples=80)
def test_every_piece_of_a_running_text_is_the_stretch_of_the_field_it_names(pair):
    loose = pair[1]
    own = fields.field_texts(loose)
    for one in fields.running_texts(loose):
        for piece in one.pieces:
            text = one.text[piece.start : piece.end]
            assert own[piece.part][piece.offset : piece.offset + len(text)] == text
    if loose.format in ("cloze", "syntaxgym", "winogrande"):
        whole = tuple(one.text.strip() for one in fields.running_texts(loose))
        assert whole == prompts.option_texts(loose)


# --- the join itself


@pytest.mark.parametrize(
    "before, after, expected",
    [
        ("He is", "late", ("He is", " late")),
        ("He is ", " late ", ("He is", " late")),
        ("He is\xa0", "\tlate\n", ("He is", " late")),
        ("Answer:\n", " late", ("Answer:\n", "late")),
        ("Answer:\r\n \t", "late", ("Answer:\r\n", "late")),
        ("", " late", ("", "late")),
        ("   ", "late", ("", "late")),
        ("He is ", "", ("He is", "")),
        ("He is ", "  ", ("He is", "")),
        ("He is", ", late", ("He is", ", late")),
        ("He is", ".", ("He is", ".")),
        ("He is", '."', ("He is", '."')),
        ("Il vient ", " ?", ("Il vient", "?")),
        ("Cut", ".5 inches", ("Cut", " .5 inches")),
        ("Use", ".NET", ("Use", " .NET")),
        ("See", "(here)", ("See", " (here)")),
        ("他是", "学生", ("他是", "学生")),
        ("他是", "。", ("他是", "。")),
        ("他是 ", " 学生", ("他是", "学生")),
        ("答案：", "B", ("答案：", "B")),
        ("他用", "Python", ("他用", " Python")),
        ("彼は", "がくせい", ("彼は", "がくせい")),
        ("เขาเป็น", "นักเรียน", ("เขาเป็น", "นักเรียน")),
        ("그는", "학생", ("그는", " 학생")),
        ("Label:", "肯定", ("Label:", " 肯定")),
    ],
)
def test_what_stands_between_two_pieces(before, after, expected):
    assert joined(before, after) == expected


@given(st.text(max_size=8), st.text(max_size=8))
def test_a_join_loses_and_adds_nothing_but_white_space(before, after):
    left, right = joined(before, after)
    assert "".join((left + right).split()) == "".join((before + after).split())
    assert joined(left, right) == (left, right)


@given(st.lists(st.sampled_from(["a", " b", "c ", "", " ", ",", "中", " 文 "]), max_size=6))
def test_running_text_has_no_two_blanks_and_none_at_its_ends(texts):
    found = running(*texts)
    assert "  " not in found and found == found.strip()


def test_an_option_without_a_character_cannot_be_scored_and_is_no_blank():
    made = Instance("b/g/1", "b", "test", "g", "choice", "choice", "He is", options=("late", "", "  "), gold=0)
    assert [one.continuation for one in prompts.requests(made)] == [" late", "", ""]


def test_an_empty_option_in_a_gap_leaves_one_blank():
    made = Instance("b/g/1", "b", "test", "g", "choice", "winogrande", "The _ was wide.", options=("jar", ""), gold=0)
    assert prompts.option_texts(made) == ("The jar was wide.", "The was wide.")
    assert [one.context + one.continuation for one in prompts.requests(made)] == ["The jar was wide.", "The was wide."]


@pytest.mark.parametrize(
    "sentences, text",
    [
        (["It rained", " It was wet. "], "It rained. It was wet."),
        (["下雨了", "路湿了。"], "下雨了。路湿了。"),
        (["ฝนตก", "ถนนเปียก"], "ฝนตก ถนนเปียก"),
        (["So it was.", "路湿了。"], "So it was.路湿了。"),
    ],
)
def test_sentences_as_running_text_end_and_are_parted_as_their_script_does(sentences, text):
    assert running_text.join_sentences(sentences) == text
    growth = running_text.TokenCounter(lambda text: [ord(char) for char in text]).grow_all(
        [(lambda: iter(sentences), 10_000)]
    )[0]
    assert growth.tokens == tuple(len(running_text.join_sentences(sentences[: n + 1])) for n in range(len(sentences)))


def test_a_sentence_is_the_same_target_after_every_context():
    assert running_text.as_target(" It was. ") == " It was."
    assert running_text.as_target("路湿了。") == "路湿了。"
    assert running_text.as_target("It was.", "") == "It was."
