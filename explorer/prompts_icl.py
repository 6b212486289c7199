"""Prompts of the in-context study: replication of data-set instances, and the label of an instance, after k shots.

    Instruction: You are provided with Sentence 1 from the train split of the RTE dataset. ...

    Label: 0 (entailment)
    Sentence 1: ...
    Sentence 2: ...

    Label: 1 (not entailment)
    Sentence 1: ...
    Sentence 2:

The guided instructions and the fields are those of Golchin et al. 2024, Table 1, word for word; the general ones,
which name neither data set nor split, and the instructions to label are ours.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from explorer import prompts
from explorer.records import Factor, Instance, Request
from explorer.variants.demonstrations import Pieces, on_one_line
from explorer.writing import joined, running, without_blanks

# What a prompt holds beside the pieces: instruction, labels. "general" is ours, the others are the paper's.
SETTINGS: Mapping[str, tuple[str, bool]] = {
    "full": ("guided", True),
    "pairs_labels": ("", True),
    "pairs": ("", False),
    "general": ("general", True),
}
FIELDS = ("Sentence 1:", "Sentence 2:", "First Piece:", "Second Piece:", "Label:", "Instruction:")
REPLICATION_TOKENS = 100
LABEL_TOKENS = 10

GUIDED_PAIR = (
    "Instruction: You are provided with Sentence 1 from the {split} split of the {dataset} dataset. Finish Sentence 2 "
    "as appeared in the dataset. Sentence 2 must exactly match the instance in the dataset."
)
GUIDED_TEXT = (
    "Instruction: You are provided with the first piece of an instance from the {split} split of the {dataset} "
    "dataset. Finish the second piece of the instance as exactly appeared in the dataset."
)
GENERAL_PAIR = "Instruction: You are provided with Sentence 1 of a pair of sentences. Finish Sentence 2."
GENERAL_TEXT = "Instruction: You are provided with the first piece of a text. Finish the second piece of the text."
LABEL_PAIR = "Instruction: Say whether Sentence 2 follows from Sentence 1. The labels are: {labels}."
LABEL_TEXT = "Instruction: Say which class the text belongs to. The labels are: {labels}."

DATASETS: Mapping[str, str] = {"wnli": "WNLI", "rte": "RTE", "trec": "TREC", "dbpedia14": "DBpedia"}
CLASSES: Mapping[str, Mapping[str, str]] = {
    "trec": {
        "ABBR": "ABBR: Abbreviation",
        "ENTY": "ENTY: Entity",
        "DESC": "DESC: Description and Abstract Concept",
        "HUM": "HUM: Human Being",
        "LOC": "LOC: Location",
        "NUM": "NUM: Numeric Value",
    },
    "wnli": {"not_entailment": "not entailment"},
    "rte": {"not_entailment": "not entailment"},
}

_BREAK = re.compile("\n|" + "|".join(map(re.escape, FIELDS)))


def is_pair(instance: Instance) -> bool:
    """Whether an instance has two sentences of its own."""
    return bool(instance.second.strip())


def dataset_of(instance: Instance) -> str:
    """What a prompt calls an instance's data set."""
    return DATASETS.get(instance.benchmark, instance.benchmark)


# --- replication


def instruction(instance: Instance, setting: str, split: str) -> str:
    """The instruction of a setting, "" where it has none."""
    kind = SETTINGS[setting][0]
    if not kind:
        return ""
    guided, general = (GUIDED_PAIR, GENERAL_PAIR) if is_pair(instance) else (GUIDED_TEXT, GENERAL_TEXT)
    return (guided if kind == "guided" else general).format(split=split, dataset=dataset_of(instance))


def numbered_label(instance: Instance) -> str:
    """The label as a replication prompt writes it: `1 (entailment)`."""
    assert instance.gold is not None
    option = instance.options[instance.gold]
    return f"{instance.gold} ({CLASSES.get(instance.format, {}).get(option, option)})"


def question(pieces: Pieces, setting: str) -> str:
    """An instance's own part of a replication prompt: all but its second piece."""
    first, second = ("Sentence 1", "Sentence 2") if is_pair(pieces.instance) else ("First Piece", "Second Piece")
    label = f"Label: {numbered_label(pieces.instance)}\n" if SETTINGS[setting][1] else ""
    return f"{label}{running(f'{first}:', pieces.first)}\n{second}:"


def shared(shots: Sequence[Pieces], setting: str, example: Instance, split: str) -> str:
    """What all replication prompts with these demonstrations begin with: the instruction and the demonstrations."""
    opening = instruction(example, setting, split)
    blocks = [running(question(shot, setting), shot.second) for shot in shots]
    return "".join(f"{block}\n\n" for block in ([opening] if opening else []) + blocks)


def replication(pieces: Pieces, before: str, setting: str, k: int, *, chat: bool = False, system: str = "") -> Request:
    """The request to finish an instance; `before` is what `shared` gave for its k demonstrations."""
    text = before + question(pieces, setting)
    factors: dict[str, Factor] = {"setting": setting, "k": k}
    turns = _turns(text, system) if chat else None
    return Request(pieces.instance.id, 0, text, role="replication", factors=factors, conversation=turns)


def _turns(text: str, system: str) -> tuple[tuple[str, str], ...]:
    return (*((("system", system),) if system else ()), ("user", text))


def completion(raw: str) -> str:
    """What a model's answer gives for the second piece: up to the first line break or field name, stripped.

    White space before the answer does not count, nor the asked-for field's name repeated at its start.
    """
    text = raw.lstrip()
    for field in ("Sentence 2:", "Second Piece:"):
        text = text.removeprefix(field).lstrip()
    match = _BREAK.search(text)
    return (text[: match.start()] if match else text).strip()


def is_complete(raw: str) -> bool:
    """Whether nothing that a model goes on to write can change `completion`."""
    text = raw.lstrip()
    for field in ("Sentence 2:", "Second Piece:"):
        text = text.removeprefix(field).lstrip()
    return _BREAK.search(text) is not None


# --- labels


def label_shared(shots: Sequence[Pieces], example: Instance) -> str:
    """What all label prompts with these demonstrations begin with."""
    words = ", ".join(prompts.label_words(example))
    opening = (LABEL_PAIR if is_pair(example) else LABEL_TEXT).format(labels=words)
    blocks = [running(label_question(shot.instance), label_word(shot.instance)) for shot in shots]
    return "".join(f"{block}\n\n" for block in [opening, *blocks])


def label_question(instance: Instance) -> str:
    """An instance's own part of a label prompt."""
    first, second = on_one_line(instance.context), on_one_line(instance.second)
    if not second:
        return running("Text:", first) + "\nLabel:"
    return f"{running('Sentence 1:', first)}\n{running('Sentence 2:', second)}\nLabel:"


def label_word(instance: Instance) -> str:
    """How the instance's class is called in a label prompt."""
    assert instance.gold is not None
    return prompts.label_words(instance)[instance.gold]


def label_requests(instance: Instance, before: str, k: int, order: int) -> list[Request]:
    """A request per label: the label's word after the prompt; `part` is the order of the demonstrations."""
    context = before + label_question(instance)
    factors: dict[str, Factor] = {"k": k, "part": order}
    return [
        Request(instance.id, option, *joined(context, word), "label", factors)
        for option, word in enumerate(prompts.label_words(instance))
    ]


def label_answer(
    instance: Instance, before: str, k: int, repeat: int, *, chat: bool = False, system: str = ""
) -> Request:
    """The request to write the label; `part` is the repeat."""
    text = before + label_question(instance)
    turns = _turns(text, system) if chat else None
    return Request(instance.id, 0, text, role="label_answer", factors={"k": k, "part": repeat}, conversation=turns)


def parse_label(raw: str, instance: Instance) -> int | None:
    """The option that an answer names by its word, its name or its number, or none."""
    lines = raw.strip().splitlines() or [""]
    answer = _bare(lines[0].removeprefix("Label:"))
    names: dict[str, int] = {}
    for option, (name, word) in enumerate(zip(instance.options, prompts.label_words(instance), strict=False)):
        for text in (word, name, str(option)):
            names.setdefault(_bare(text), option)
    for name in sorted(names, key=len, reverse=True):  # "not entailment" before "entailment"
        rest = answer[len(name) :]
        if answer.startswith(name) and (not re.match(r"\w", rest) or without_blanks(name[-1:])):
            return names[name]
    return None


def _bare(text: str) -> str:
    return text.strip().strip(".\"'`*").casefold()
