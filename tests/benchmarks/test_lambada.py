"""LAMBADA's two loaders and what is odd in its files."""

import json
from collections import Counter

import pytest

from explorer.benchmarks import lambada
from explorer.errors import BenchmarkError


def parse(tmp_path, *texts):
    path = tmp_path / "lambada.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), "utf-8")
    return lambada.load_openai({lambada.OPENAI: path}, ["test"]).instances


def test_a_passage_is_split_at_its_last_blank(tmp_path):
    (passage,) = parse(tmp_path, "She opened the old door")
    assert (passage.context, passage.options, passage.gold) == ("She opened the old", ("door",), 0)


def test_a_newline_after_the_last_blank_stays_in_the_target(tmp_path):
    (passage,) = parse(tmp_path, "He knew the\n\nanswer")
    assert (passage.context, passage.options) == ("He knew", ("the\n\nanswer",))


def test_newlines_case_and_curly_quotes_are_kept(tmp_path):
    (passage,) = parse(tmp_path, "\u201cGo,\u201d he said.\n\nThen: \u201cNora")
    assert passage.context == "\u201cGo,\u201d he said.\n\nThen:"
    assert passage.options == ("\u201cNora",)


def test_the_original_form_is_a_passage_a_line(tmp_path):
    path = tmp_path / "plain.txt"
    path.write_text("she did n't know the answer\nhe did , though\n", "utf-8")
    first, second = lambada.load_original({lambada.ORIGINAL: path}, ["test"]).instances
    assert (first.context, first.options) == ("she did n't know the", ("answer",))
    assert second.id == "lambada_original/test/1"


@pytest.mark.parametrize("text", ["", "word", "trailing ", " "])
def test_a_passage_without_a_last_word_is_named(tmp_path, text):
    with pytest.raises(BenchmarkError, match="line 2"):
        parse(tmp_path, "She left", text)


# --- the real files


def text(instance):
    return f"{instance.context} {instance.options[0]}"


def test_passages_with_newlines(real):
    assert sum("\n" in text(instance) for instance in real("lambada").instances) == 4_642
    assert sum("\n" in instance.options[0] for instance in real("lambada").instances) == 7


def test_some_last_words_carry_an_opening_quote(real):
    first = {instance.options[0][0] for instance in real("lambada").instances}
    assert {"\u201c", '"'} <= first


def test_two_passages_occur_twice_and_stay(real):
    assert Counter(Counter(text(i) for i in real("lambada").instances).values()) == {1: 5_149, 2: 2}


def test_last_words_of_the_two_forms_differ_nearly_always_by_case(real):
    pairs = [
        (text(ours).split()[-1], theirs.options[0])
        for ours, theirs in zip(real("lambada").instances, real("lambada_original").instances, strict=True)
    ]
    assert sum(ours != theirs for ours, theirs in pairs) == 2_476
    assert sum(ours.lower() != theirs for ours, theirs in pairs) < 60
