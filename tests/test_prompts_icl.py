"""Prompts of the in-context study, word for word, and what is read from answers."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer import prompts_icl
from explorer.records import Instance
from explorer.variants.demonstrations import Pieces

PAIR = Instance(
    id="rte/entailment/train-1", benchmark="rte", split="train", group="entailment", kind="labelled", format="rte",
    context="Ada sold her boat.", second="Ada had a boat.", options=("entailment", "not_entailment"), gold=0,
    label="entailment",
)  # fmt: skip
OTHER = dataclasses.replace(PAIR, id="rte/x", context="Bo ran.", second="Bo slept.", gold=1, label="not_entailment")
QUESTION = Instance(
    id="trec/HUM/train-1", benchmark="trec", split="train", group="HUM", kind="labelled", format="trec",
    context="Who built the old mill near the river ?", options=("ABBR", "ENTY", "DESC", "HUM", "LOC", "NUM"), gold=3,
    label="HUM:ind",
)  # fmt: skip


def pair(instance: Instance) -> Pieces:
    return Pieces(instance, instance.context, instance.second)


def whole(pieces: Pieces, shots: list[Pieces], setting: str) -> str:
    before = prompts_icl.shared(shots, setting, pieces.instance, "train")
    request = prompts_icl.replication(pieces, before, setting, len(shots))
    assert request.factors == {"setting": setting, "k": len(shots)}
    return request.context


def test_full_information_names_the_set_and_shows_labels():
    assert whole(pair(PAIR), [pair(OTHER)], "full") == (
        "Instruction: You are provided with Sentence 1 from the train split of the RTE dataset. Finish Sentence 2 as "
        "appeared in the dataset. Sentence 2 must exactly match the instance in the dataset.\n"
        "\n"
        "Label: 1 (not entailment)\n"
        "Sentence 1: Bo ran.\n"
        "Sentence 2: Bo slept.\n"
        "\n"
        "Label: 0 (entailment)\n"
        "Sentence 1: Ada sold her boat.\n"
        "Sentence 2:"
    )


def test_a_single_text_has_a_first_and_a_second_piece():
    pieces = Pieces(QUESTION, "Who built the old mill near", "the river ?", 6, 8)
    assert whole(pieces, [], "full") == (
        "Instruction: You are provided with the first piece of an instance from the train split of the TREC dataset. "
        "Finish the second piece of the instance as exactly appeared in the dataset.\n"
        "\n"
        "Label: 3 (HUM: Human Being)\n"
        "First Piece: Who built the old mill near\n"
        "Second Piece:"
    )


def test_the_other_settings_leave_out_the_instruction_and_then_the_labels():
    both = whole(pair(PAIR), [pair(OTHER)], "pairs_labels")
    assert both.startswith("Label: 1 (not entailment)\nSentence 1: Bo ran.")
    assert whole(pair(PAIR), [pair(OTHER)], "pairs") == (
        "Sentence 1: Bo ran.\nSentence 2: Bo slept.\n\nSentence 1: Ada sold her boat.\nSentence 2:"
    )
    assert whole(pair(PAIR), [], "pairs") == "Sentence 1: Ada sold her boat.\nSentence 2:"
    general = whole(pair(PAIR), [], "general")
    assert "RTE" not in general and "train" not in general and "Label: 0 (entailment)" in general


def test_a_longer_prompt_begins_with_the_shorter_one():
    shots = [pair(OTHER), pair(dataclasses.replace(PAIR, id="rte/y", context="Cy sat."))]
    for setting in prompts_icl.SETTINGS:
        texts = [prompts_icl.shared(shots[:k], setting, PAIR, "train") for k in range(3)]
        assert texts[1].startswith(texts[0]) and texts[2].startswith(texts[1])
    labels = [prompts_icl.label_shared(shots[:k], PAIR) for k in range(3)]
    assert labels[1].startswith(labels[0]) and labels[2].startswith(labels[1])


def test_a_label_is_asked_for_after_the_demonstrations():
    before = prompts_icl.label_shared([pair(OTHER)], PAIR)
    first, second = prompts_icl.label_requests(PAIR, before, 1, 2)
    assert first.context == (
        "Instruction: Say whether Sentence 2 follows from Sentence 1. The labels are: entailment, not entailment.\n"
        "\n"
        "Sentence 1: Bo ran.\nSentence 2: Bo slept.\nLabel: not entailment\n"
        "\n"
        "Sentence 1: Ada sold her boat.\nSentence 2: Ada had a boat.\nLabel:"
    )
    assert (first.continuation, second.continuation) == (" entailment", " not entailment")
    assert first.factors == {"k": 1, "part": 2} and first.role == "label"


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (" Ada had a boat.", "Ada had a boat."),
        (" Ada had a boat.\n\nLabel: 1", "Ada had a boat."),
        ("\n Ada had a boat.\n", "Ada had a boat."),
        ("Ada had a boat. Label: 0 (entailment)", "Ada had a boat."),
        ("Sentence 2: Ada had a boat.", "Ada had a boat."),
        ("the river ? First Piece: Who", "the river ?"),
        ("The label says no.", "The label says no."),
        (" \n ", ""),
        ("", ""),
    ],
)
def test_a_completion_ends_at_a_line_break_or_a_field_name(raw, text):
    assert prompts_icl.completion(raw) == text


@given(st.text("ab\n :", max_size=12), st.sampled_from(["", "Label:", "Sentence 2:"]), st.text("ab\n :", max_size=12))
def test_what_is_complete_is_not_changed_by_what_follows(start, field, end):
    raw = start + field + end
    for stop in range(len(raw) + 1):
        if prompts_icl.is_complete(raw[:stop]):
            assert prompts_icl.completion(raw) == prompts_icl.completion(raw[:stop])
            return


@pytest.mark.parametrize(
    ("raw", "option"),
    [
        (" entailment", 0),
        ("Not entailment.", 1),
        (" not_entailment\nSentence 1: x", 1),
        ("1 (not entailment)", 1),
        ("0", 0),
        ("Label: entailment", 0),
        ("entailments are hard", None),
        ("maybe", None),
        ("", None),
    ],
)
def test_a_written_label_is_read_or_it_is_none(raw, option):
    assert prompts_icl.parse_label(raw, PAIR) == option


def test_a_chat_prompt_is_one_message():
    request = prompts_icl.replication(pair(PAIR), "", "pairs", 0, chat=True)
    assert request.conversation == (("user", request.context),)
