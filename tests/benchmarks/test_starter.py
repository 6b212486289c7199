"""The starter sets hold what docs/STARTER_SETS.md promises, and are nobody else's."""

from __future__ import annotations

import difflib
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from explorer import benchmarks
from explorer.benchmarks import starter
from explorer.benchmarks.starter_grammar.entailment import make_entailments
from explorer.benchmarks.starter_grammar.frames import Frame, fill_varied, read_frames, split_contrast
from explorer.benchmarks.starter_grammar.pairs import FRAMES, make_pairs
from explorer.errors import BenchmarkError
from explorer.prompts import FORMATS, requests
from explorer.records import Instance
from explorer.settings import Settings

COUNTS = {
    "starter_pairs": 2800,
    "starter_cloze": 120,
    "starter_causes": 120,
    "starter_physics": 120,
    "starter_pronouns": 120,
    "starter_questions": 400,
    "starter_entailment": 400,
}
CHOICES = ("starter_causes", "starter_physics", "starter_pronouns")
WORD = re.compile(r"[\w'-]+|[^\w\s]")


def rows(name: str) -> list[dict[str, object]]:
    lines = (starter.FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def load(name: str) -> tuple[Instance, ...]:
    paths = {file.path: starter.FOLDER / file.path for file in starter.BENCHMARKS[name].files}
    return starter.BENCHMARKS[name].load(paths, [starter.SPLIT]).instances


def texts(instance: Instance) -> list[str]:
    """What was written for this instance; class names are not."""
    written = () if instance.kind == "labelled" else instance.options
    return [text for text in (instance.context, instance.second, *written) if text]


def whole(instance: Instance) -> str:
    return " | ".join(texts(instance)).casefold()


def words(text: str) -> list[str]:
    return WORD.findall(text.casefold())


def frames_of(name: str) -> Counter[tuple[str, str]]:
    return Counter((i.group, i.extra["frame"]) for i in load(name) if i.extra["frame"] != "written")


every_set = pytest.mark.parametrize("name", COUNTS)


def test_every_set_of_the_module_is_counted_here():
    assert set(COUNTS) == set(starter.BENCHMARKS)


@every_set
def test_a_set_has_its_promised_size_and_no_id_twice(name: str):
    instances = load(name)
    assert len(instances) == COUNTS[name]
    assert len({instance.id for instance in instances}) == len(instances)


@every_set
def test_a_set_is_found_without_a_network_or_a_data_folder(name: str, settings: Settings):
    loaded = benchmarks.load(name, settings)
    assert len(loaded.instances) == COUNTS[name]
    assert loaded.left_out == ()


@every_set
def test_no_item_occurs_twice_in_whatever_case(name: str):
    twice = [text for text, count in Counter(map(whole, load(name))).items() if count > 1]
    assert twice == []


@every_set
def test_options_differ(name: str):
    for instance in load(name):
        assert len({option.casefold() for option in instance.options}) == len(instance.options), instance.id


@every_set
def test_texts_are_plain_and_tidy(name: str):
    for instance in load(name):
        for text in texts(instance):
            assert text.isascii(), text
            assert text == " ".join(text.split()), text
            assert not re.search(r"[{}|\[\]@=/<>]", text), text
            assert not re.search(r"\s[.,?!;]|[.,?!;]{2}", text), text


@every_set
def test_a_stands_before_consonants_and_an_before_vowels(name: str):
    sounds_like_yoo = ("uni", "use", "euro", "one")
    for instance in load(name):
        for text in texts(instance):
            for word in re.findall(r"\b[Aa] ([aeiou]\w*)", text):
                assert word.startswith(sounds_like_yoo), text
            for word in re.findall(r"\b[Aa]n ([^aeiouAEIOU\W]\w*)", text):
                assert word.startswith(("hour", "honest", "heir")), text


@every_set
def test_every_instance_can_be_asked(name: str):
    for instance in load(name):
        assert instance.format in FORMATS
        asked = requests(instance)
        assert len(asked) == len(instance.options)
        assert all(request.continuation.strip() for request in asked), instance.id


@every_set
def test_no_frame_makes_more_than_a_tenth_of_its_set(name: str):
    groups = Counter(instance.group for instance in load(name))
    for (group, frame), count in frames_of(name).items():
        size = groups[group] if name == "starter_pairs" else COUNTS[name]
        assert count <= size / 10, (group, frame)


# --- pairs


def test_pairs_have_two_hundred_of_each_of_fourteen_phenomena_from_forty_frames_or_more():
    per_group = Counter(instance.group for instance in load("starter_pairs"))
    assert len(per_group) == 14
    assert set(per_group.values()) == {200}
    frames = Counter(group for group, _ in frames_of("starter_pairs"))
    assert all(frames[group] >= 40 for group in per_group), frames


def test_no_sentence_occurs_in_two_pairs():
    counts = Counter(option.casefold() for instance in load("starter_pairs") for option in instance.options)
    assert [text for text, count in counts.items() if count > 1] == []


def test_sentences_of_a_pair_are_capitalized_and_end_alike():
    for instance in load("starter_pairs"):
        good, bad = instance.options
        assert good[0].isupper() and bad[0].isupper(), good
        # One frame family compares a question with the statement of the same words.
        assert good[-1] in ".?" and bad[-1] in ".?", good
        assert good[-1] == bad[-1] or words(good)[0] in ("has", "did"), good


def test_members_of_a_pair_differ_in_a_few_words_or_in_order_only():
    for instance in load("starter_pairs"):
        good, bad = map(words, instance.options)
        matcher = difflib.SequenceMatcher(None, good, bad, autojunk=False)
        kept = sum(block.size for block in matcher.get_matching_blocks())
        changed = max(len(good), len(bad)) - kept
        assert changed <= 4 or Counter(good) == Counter(bad), instance.options


def test_committed_pairs_are_what_the_grammar_makes():
    assert rows("starter_pairs") == make_pairs()


# --- cloze


def test_a_cloze_target_is_one_plain_word_at_the_end_of_several_sentences():
    for row, instance in zip(rows("starter_cloze"), load("starter_cloze"), strict=True):
        assert row["text"] == f"{instance.context} {instance.options[0]}"
        assert re.fullmatch(r"[A-Za-z]+", instance.options[0]), instance.options
        assert len(re.findall(r"[.?!]['\"]? ", instance.context)) >= 2, instance.id


def test_nearly_every_cloze_target_occurs_earlier_in_its_passage():
    instances = load("starter_cloze")
    earlier = [i for i in instances if i.options[0].casefold() in words(i.context)]
    assert len(earlier) >= 0.9 * len(instances)


# --- choices


@pytest.mark.parametrize("name", CHOICES)
def test_choices_are_balanced(name: str):
    assert Counter(instance.gold for instance in load(name)) == {0: 60, 1: 60}


def test_causes_and_effects_are_sixty_each_and_each_balanced():
    counts = Counter((instance.extra["question"], instance.gold) for instance in load("starter_causes"))
    assert counts == {(question, gold): 30 for question in ("cause", "effect") for gold in (0, 1)}


def test_alternatives_can_begin_with_a_small_letter():
    # The prompt makes the first letter small, which a name would not bear.
    for instance in load("starter_causes"):
        for option in instance.options:
            first = option.split()[0]
            assert re.fullmatch(r"[A-Z][a-z']*", first) and first not in ("I", "I'm"), option
            assert option.endswith("."), option


def test_a_goal_leads_into_its_solutions():
    for instance in load("starter_physics"):
        assert instance.context.startswith("To ") and instance.context.endswith(","), instance.context
        assert all(option[0].islower() and option.endswith(".") for option in instance.options), instance.options


def test_a_pronoun_sentence_has_one_gap_before_its_end_and_names_both_options():
    for instance in load("starter_pronouns"):
        assert instance.context.count("_") == 1, instance.context
        before, _, after = instance.context.partition("_")
        assert len(after.split()) >= 2, instance.context
        assert all(re.search(rf"\b{option}\b", before) for option in instance.options), instance.context


def test_pronoun_twins_differ_in_a_few_words_and_in_the_answer():
    instances = load("starter_pronouns")
    for first, second in zip(instances[::2], instances[1::2], strict=True):
        assert first.id[:-1] == second.id[:-1]
        assert first.options == second.options
        assert first.gold != second.gold
        assert first.context.partition("_")[0] == second.context.partition("_")[0]


# --- labelled


def test_question_classes_are_as_even_as_four_hundred_by_six_can_be():
    counts = Counter(instance.label for instance in load("starter_questions"))
    assert set(counts) == set(starter.QUESTION_CLASSES)
    assert set(counts.values()) == {66, 67}


def test_a_question_word_does_not_give_its_class_away():
    by_class: dict[str, set[str]] = {}
    for instance in load("starter_questions"):
        by_class.setdefault(instance.label, set()).add(words(instance.context)[0])
    assert all(len(firsts) >= 2 for firsts in by_class.values()), by_class
    labels_of_what = {i.label for i in load("starter_questions") if words(i.context)[0] == "what"}
    assert labels_of_what == set(starter.QUESTION_CLASSES)


def test_entailment_is_half_and_half_in_every_group_and_no_premise_recurs():
    instances = load("starter_entailment")
    counts = Counter((instance.group, instance.label) for instance in instances)
    for group in {instance.group for instance in instances}:
        assert counts[group, "entailment"] == counts[group, "not_entailment"], group
    assert len({instance.context.casefold() for instance in instances}) == len(instances)


def test_premises_and_hypotheses_are_sentences():
    for instance in load("starter_entailment"):
        for text in (instance.context, instance.second):
            assert text[0].isupper() and text[-1] == ".", text


def test_committed_templated_entailments_are_what_the_grammar_makes():
    assert [row for row in rows("starter_entailment") if row["frame"] != "written"] == make_entailments()


@pytest.mark.parametrize("name", ["starter_questions", "starter_entailment"])
def test_the_first_sixty_hold_every_class(name: str):
    labels = Counter(instance.label for instance in load(name)[:60])
    assert max(labels.values()) - min(labels.values()) <= 1


# --- the grammar


def test_slots_of_one_number_choose_together():
    frame = Frame("x-01", "The {1=cat|dog} {1=purrs|barks} at the {moon|door}.")
    made = {split_contrast(filling)[0] for filling in fill_varied(frame, 4, seed=0)}
    assert made == {f"The {who} at the {what}." for who in ("cat purrs", "dog barks") for what in ("moon", "door")}


def test_a_contrast_gives_each_member_its_text():
    assert split_contrast("[Were/Did] the dogs [fed/feed]?") == ("Were the dogs fed?", "Did the dogs feed?")


def test_a_name_is_recalled_and_never_doubled():
    filling = fill_varied(Frame("x-01", "{1=@she} told {@she} that {1} and {@name} won."), 1, seed=3)[0]
    first, second, again, third = re.findall(r"\b[A-Z]\w+", filling)
    assert first == again
    assert len({first, second, third}) == 3


def test_a_frame_with_too_few_ways_says_so():
    with pytest.raises(ValueError, match="2 ways, 3 are wanted"):
        fill_varied(Frame("x-01", "{Cats|Dogs} sleep."), 3, seed=0)


def test_every_frame_of_the_pairs_has_a_contrast():
    for path in FRAMES.glob("*.txt"):
        for frame in read_frames(path):
            assert re.search(r"\[[^\[\]]*/[^\[\]]*\]", frame.text), (path.stem, frame)


# --- damage


def test_a_damaged_row_is_named_by_its_line(tmp_path: Path):
    good = (starter.FOLDER / "starter_cloze.jsonl").read_text(encoding="utf-8").splitlines()[0]
    path = tmp_path / "starter_cloze.jsonl"
    path.write_text(good + "\n" + good.replace('"text"', '"texts"') + "\n", encoding="utf-8")
    with pytest.raises(BenchmarkError, match=r"starter_cloze\.jsonl line 2"):
        starter.BENCHMARKS["starter_cloze"].load({"starter_cloze.jsonl": path}, [starter.SPLIT])


# --- the real benchmarks


def normal(text: str) -> str:
    return " ".join(re.findall(r"[a-z0-9_']+", text.casefold()))


def real_texts(settings: Settings) -> Iterator[str]:
    for name, benchmark in benchmarks.BENCHMARKS.items():
        if name.startswith("starter_") or benchmark.kind == "concept" or name == "dbpedia14":
            continue
        for instance in benchmarks.load(name, settings, splits=benchmark.splits).instances:
            yield from (instance.context, instance.second)
            if instance.kind != "labelled":
                yield from instance.options
            yield from (" ".join(condition.regions) for condition in instance.conditions)


@pytest.mark.slow
def test_no_text_of_ours_is_a_text_of_a_real_benchmark(real_settings: Settings):
    ours = {normal(text) for name in COUNTS for instance in load(name) for text in texts(instance)}
    ours = {text for text in ours if len(text.split()) >= 3}
    theirs = {normal(text) for text in real_texts(real_settings)}
    assert ours & theirs == set()
