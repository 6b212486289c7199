"""Every space and delimiter of every prompt."""

import dataclasses
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer import benchmarks, gaps, prompts
from explorer.errors import UsageError
from explorer.records import Condition, Instance


def instance(format, **fields):
    kinds = {"sentence": "pair", "crows_pairs": "pair", "cloze": "cloze", "syntaxgym": "regions", "concept": "concept"}
    kinds |= dict.fromkeys(("piqa", "copa", "winogrande", "choice"), "choice") | {"text": "text"}
    return Instance("b/g/1", "b", "test", "g", kinds.get(format, "labelled"), format, **fields)


def asked(made, preset="natural", **options):
    return [(r.context, r.continuation) for r in prompts.requests(made, preset, **options)]


PAIR = instance("sentence", options=("The cat sleeps.", "The cat sleep."), gold=0)
CROWS = instance("crows_pairs", options=("More so.", "Less so."), gold=1)
CLOZE = instance("cloze", context="She opened the old", options=("door",), gold=0)
PIQA = instance("piqa", context="Dry a shoe", options=("Use paper.", "Use ice. "), gold=0)
COPA = instance(
    "copa", context="The lamp went out. ", options=(" The bulb broke.", "I left."), gold=0, extra={"question": "cause"}
)
GAP = instance("winogrande", context="The jar missed the box as the _ was wide.", options=("jar", "box"), gold=0)
NLI = instance("rte", context="A cat sat.", second="A dog sat.", options=("entailment", "not_entailment"), gold=1)
TREC = instance("trec", context="Who ?", options=("ABBR", "ENTY", "DESC", "HUM", "LOC", "NUM"), gold=3, label="HUM:ind")
DBPEDIA = instance("dbpedia14", context="A firm .\tIt sells tea .", options=("Company", "WrittenWork"), gold=0)
CONCEPT = instance("concept", context="sugar binding", options=("GO:0005529",), gold=0)
ITEM = instance(
    "syntaxgym",
    conditions=(
        Condition("good", ("The cat ", "", " sleeps", ", now", ".")),
        Condition("bad", ("The cat", "that", "sleep", "  ", "!")),
    ),
    extra={"formulas": ["(3;%good%) < (3;%bad%)"]},
)


# --- each task as its convention has it


@pytest.mark.parametrize(
    "made, preset, expected",
    [
        (PAIR, "natural", [("", "The cat sleeps."), ("", "The cat sleep.")]),
        (PAIR, "lm-eval", [("", " The cat sleeps."), ("", " The cat sleep.")]),
        (PAIR, "minicons", [("", "The cat sleeps."), ("", "The cat sleep.")]),
        (CROWS, "natural", [("", "More so."), ("", "Less so.")]),
        (CROWS, "lm-eval", [("", "More so."), ("", "Less so.")]),
        (CLOZE, "natural", [("She opened the old", " door")]),
        (CLOZE, "lm-eval", [("She opened the old", " door")]),
        (
            PIQA,
            "natural",
            [("Question: Dry a shoe\nAnswer:", " Use paper."), ("Question: Dry a shoe\nAnswer:", " Use ice.")],
        ),
        (
            PIQA,
            "lm-eval",
            [("Question: Dry a shoe\nAnswer:", " Use paper."), ("Question: Dry a shoe\nAnswer:", " Use ice. ")],
        ),
        (
            COPA,
            "natural",
            [("The lamp went out because", " the bulb broke."), ("The lamp went out because", " i left.")],
        ),
        (
            GAP,
            "natural",
            [("The jar missed the box as the jar", " was wide."), ("The jar missed the box as the box", " was wide.")],
        ),
        (
            CONCEPT,
            "natural",
            [("In the Gene Ontology, the GO ID of the label 'sugar binding' is GO:", "0005529")],
        ),
        (instance("text", context="Two words"), "natural", [("", "Two words")]),
        (instance("choice", context="It is", options=("so", "no")), "natural", [("It is", " so"), ("It is", " no")]),
        (instance("choice", context="Q:\n", options=("a", "b")), "natural", [("Q:\n", "a"), ("Q:\n", "b")]),
        (instance("choice", options=("a", "b")), "natural", [("", "a"), ("", "b")]),
    ],
)  # fmt: skip
def test_what_is_asked(made, preset, expected):
    assert asked(made, preset) == expected


def test_copa_asks_for_an_effect_with_therefore():
    effect = dataclasses.replace(COPA, extra={"question": "effect"})
    assert asked(effect)[0] == ("The lamp went out therefore", " the bulb broke.")


def test_copa_loses_only_a_full_stop_but_the_harness_drops_whatever_comes_last():
    shout = dataclasses.replace(COPA, context="The lamp went out!")
    assert asked(shout)[0][0] == "The lamp went out! because"
    assert asked(shout, "lm-eval")[0][0] == "The lamp went out because"


@pytest.mark.parametrize(
    "rest, natural, harness",
    [("  was wide. ", "  was wide.", " was wide."), (" 2.", " 2.", " 2."), ("s.", "s.", " s.")],
)
def test_the_rest_of_a_gap_sentence_is_as_in_the_file_and_stripped_for_the_harness(rest, natural, harness):
    made = dataclasses.replace(GAP, context=f"It was the _{rest}")
    assert {continuation for _, continuation in asked(made)} == {natural}
    assert {continuation for _, continuation in asked(made, "lm-eval")} == {harness}


@pytest.mark.parametrize(
    "context, before, jar",
    [
        ("It was the _", "It was the", " jar"),
        ("It was the _.", "It was the", " jar."),
        ("It was the _ ?! ", "It was the", " jar ?!"),
        ('She said "_."', 'She said "', 'jar."'),
        ("It was the\n_.", "It was the\n", "jar."),
        ("它是_。", "它是", "jar。"),
        ("_!", "", "jar!"),
    ],
)
def test_a_gap_with_only_marks_after_it_scores_the_option_with_them(context, before, jar):
    made = dataclasses.replace(GAP, context=context)
    assert asked(made) == [(before, jar), (before, jar.replace("jar", "box"))]
    assert tuple(map("".join, asked(made))) == prompts.option_texts(made)


@pytest.mark.parametrize("name", prompts.PARTIAL_TO_THE_END)
def test_published_gap_sentences_are_scored_by_what_stands_behind_the_gap_even_a_full_stop(name):
    made = dataclasses.replace(GAP, benchmark=name, context="It was the _ .")
    assert asked(made) == [("It was the jar", " ."), ("It was the box", " .")]


def test_a_gap_that_ends_its_sentence_is_asked_of_the_harness_as_it_asks():
    made = dataclasses.replace(GAP, context="It was the _ .")
    assert asked(made, "lm-eval") == [("It was the jar", " ."), ("It was the box", " .")]


def test_a_target_with_newlines_stays_whole():
    made = dataclasses.replace(CLOZE, options=("know\n\nher",))
    assert asked(made) == [("She opened the old", " know\n\nher")]


def test_a_piqa_goal_keeps_the_blanks_at_its_edges_for_the_harness_alone():
    loose = dataclasses.replace(PIQA, context=" Dry it ")
    assert asked(loose, "lm-eval")[0][0] == "Question:  Dry it \nAnswer:"
    assert asked(loose)[0][0] == "Question: Dry it\nAnswer:"


# --- regions


def test_regions_are_stripped_joined_by_one_blank_and_glued_to_signs():
    found = prompts.requests(ITEM)
    assert [(r.factors["condition"], r.factors["part"], r.context, r.continuation) for r in found] == [
        ("good", 1, "", "The cat"),
        ("good", 3, "The cat", " sleeps"),
        ("good", 4, "The cat sleeps", ", now"),
        ("good", 5, "The cat sleeps, now", "."),
        ("bad", 1, "", "The cat"),
        ("bad", 2, "The cat", " that"),
        ("bad", 3, "The cat that", " sleep"),
        ("bad", 5, "The cat that sleep", "!"),
    ]
    assert [r.option for r in found] == [0] * 4 + [1] * 4
    assert {r.role for r in found} == {"region"}


def test_regions_as_in_the_file_keep_their_blanks():
    found = prompts.requests(ITEM, regions="file")
    assert [r.continuation for r in found if r.option == 0] == ["The cat ", "  sleeps", " , now", " ."]


@given(st.lists(st.text(" ab.,?!", max_size=4), max_size=6))
def test_each_region_stands_after_exactly_what_came_before(regions):
    made = dataclasses.replace(ITEM, conditions=(Condition("only", tuple(regions)),))
    text = ""
    for request in prompts.requests(made):
        assert request.context == text
        text += request.continuation
    assert prompts.option_texts(made) == (text,)
    assert text == text.strip()
    assert sum(bool(region.strip()) for region in regions) == len(prompts.requests(made))


# --- labelled sets


def test_a_label_is_asked_after_the_text():
    found = prompts.requests(TREC)
    assert {r.context for r in found} == {"Who ?\nLabel:"}
    words = [" abbreviation", " entity", " description", " person", " location", " number"]
    assert [r.continuation for r in found] == words
    assert {(r.role, r.factors["k"]) for r in found} == {("label", 0)}


def test_demonstrations_stand_before_parted_by_empty_lines():
    shot = dataclasses.replace(NLI, context="It rained.", second="It was wet.", gold=0)
    (context, first), (_, second) = asked(NLI, demonstrations=[shot, NLI])
    assert context == (
        "Sentence 1: It rained.\nSentence 2: It was wet.\nLabel: entailment\n\n"
        "Sentence 1: A cat sat.\nSentence 2: A dog sat.\nLabel: not entailment\n\n"
        "Sentence 1: A cat sat.\nSentence 2: A dog sat.\nLabel:"
    )
    assert (first, second) == (" entailment", " not entailment")
    assert prompts.requests(NLI, demonstrations=[shot])[0].factors["k"] == 1


def test_prompts_of_growing_k_share_their_beginning():
    shots = [dataclasses.replace(TREC, context=f"Question {n} ?", gold=n) for n in range(4)]
    contexts = [prompts.requests(TREC, demonstrations=shots[:k])[0].context for k in range(5)]
    ends = [context.removesuffix("Who ?\nLabel:") for context in contexts]
    assert all(longer.startswith(shorter) for shorter, longer in itertools.pairwise(ends))


def test_the_harness_asks_entailment_as_true_or_false():
    shot = dataclasses.replace(NLI, context="It rained.", second="It was wet.", gold=0)
    assert asked(NLI, "lm-eval", demonstrations=[shot]) == [
        (
            "It rained.\nQuestion: It was wet. True or False?\nAnswer: True\n\n"
            "A cat sat.\nQuestion: A dog sat. True or False?\nAnswer:",
            word,
        )
        for word in (" True", " False")
    ]


def test_dbpedia_has_blanks_for_tabs_and_words_for_class_names():
    assert asked(DBPEDIA) == [
        ("A firm . It sells tea .\nLabel:", " company"),
        ("A firm . It sells tea .\nLabel:", " written work"),
    ]


def test_a_demonstration_needs_a_label():
    with pytest.raises(UsageError, match="cannot be a demonstration"):
        prompts.requests(TREC, demonstrations=[dataclasses.replace(TREC, gold=None)])


# --- texts of options


@pytest.mark.parametrize(
    "made, texts",
    [
        (PAIR, ("The cat sleeps.", "The cat sleep.")),
        (CLOZE, ("She opened the old door",)),
        (PIQA, ("Dry a shoe Use paper.", "Dry a shoe Use ice.")),
        (COPA, ("The lamp went out. The bulb broke.", "The lamp went out. I left.")),
        (
            GAP,
            ("The jar missed the box as the jar was wide.", "The jar missed the box as the box was wide."),
        ),
        (ITEM, ("The cat sleeps, now.", "The cat that sleep!")),
        (NLI, ("A cat sat. A dog sat.",)),
        (TREC, ("Who ?",)),
        (DBPEDIA, ("A firm . It sells tea .",)),
        (CONCEPT, ("sugar binding",)),
    ],
)
def test_texts_of_options_hold_no_prompt_words(made, texts):
    assert prompts.option_texts(made) == texts


# --- what differs


def pieces(text, spans):
    return [text[begin:end] for begin, end in spans]


@pytest.mark.parametrize(
    "first, second, ours, theirs",
    [
        ("The tall man ran.", "The short man ran.", ["tall"], ["short"]),
        ("The men ran home.", "The old women ran.", ["men", "home"], ["old women"]),
        ("She ran.", "She ran.", [], []),
        ("She ran", "She ran.", [], ["."]),
        ("Ann's dog", "Bob's dog", ["Ann"], ["Bob"]),
        ("", "new words", [], ["new words"]),
    ],
)
def test_the_words_that_differ(first, second, ours, theirs):
    left, right = prompts.differing_spans(first, second)
    assert (pieces(first, left), pieces(second, right)) == (ours, theirs)


@given(st.text("ab c.", max_size=20), st.text("ab c.", max_size=20))
def test_what_is_outside_the_spans_is_the_same_in_both(first, second):
    def rest(text, spans):
        for begin, end in reversed(spans):
            assert 0 <= begin < end <= len(text)
            text = text[:begin] + " " + text[end:]
        return text.replace(".", " . ").split()

    ours, theirs = prompts.differing_spans(first, second)
    assert rest(first, ours) == rest(second, theirs)


# --- all formats


@pytest.mark.parametrize("made", [PAIR, CROWS, CLOZE, PIQA, COPA, GAP, NLI, TREC, DBPEDIA, CONCEPT, ITEM])
@pytest.mark.parametrize("preset", ["natural", "lm-eval", "minicons"])
def test_every_format_can_be_asked_under_every_preset(made, preset):
    found = prompts.requests(made, preset)
    assert all(r.instance_id == made.id and r.continuation for r in found)
    assert prompts.requests(made, preset) == found


def test_what_does_not_exist_is_told():
    with pytest.raises(UsageError, match="no preset 'x'; there are natural, lm-eval, minicons"):
        prompts.requests(PAIR, "x")
    with pytest.raises(UsageError, match="has the format 'x'"):
        prompts.requests(dataclasses.replace(PAIR, format="x"))


# --- real instances


def test_real_lambada_targets_and_contexts_give_the_passage_back(real_settings):
    for made in benchmarks.load("lambada", real_settings).instances:
        ((context, continuation),) = asked(made)
        assert continuation[0] == " " and " " not in continuation[1:]
        assert prompts.option_texts(made) == (context + continuation,)


def test_real_pairs_of_crows_differ_and_their_spans_lie_in_words(real_settings):
    for made in benchmarks.load("crows_pairs", real_settings).instances:
        ours, theirs = prompts.differing_spans(*made.options)
        assert ours or theirs
        assert all(text.strip() for text in pieces(made.options[0], ours) + pieces(made.options[1], theirs))


@pytest.mark.parametrize("name, closing", [("winogrande", 34), ("winogrande_train_xs", 2), ("starter_pronouns", 0)])
def test_real_gap_sentences_are_scored_by_what_stands_behind_the_gap(real_settings, name, closing):
    """Also the few that end with their gap: stored runs of the published sets were made so."""
    items = benchmarks.load(name, real_settings).instances
    rests = [gaps.around(made.context)[1].rstrip() for made in items]
    assert sum(not any(map(str.isalnum, rest)) for rest in rests) == closing
    for made, rest in zip(items, rests, strict=True):
        first, second = prompts.requests(made)
        assert first.continuation == second.continuation == rest
        assert prompts.option_texts(made) == (first.context + first.continuation, second.context + second.continuation)


def test_real_suites_have_a_request_for_every_region_that_is_not_empty(real_settings):
    for made in benchmarks.load("syntaxgym", real_settings).instances:
        found = {(r.factors["condition"], r.factors["part"]) for r in prompts.requests(made)}
        assert found == {(c.name, n) for c in made.conditions for n, text in enumerate(c.regions, 1) if text.strip()}
        assert not any("  " in text for text in prompts.option_texts(made))
