"""Instances → requests: every space and delimiter is decided here.

    requests(instance)                      what a model is asked, in the project's own convention ("natural")
    requests(instance, preset="lm-eval")    as lm-evaluation-harness 0.4 asks; "minicons": bare sentences
    option_texts(instance)                  each option as running text, without prompt words
    differing_spans(first, second)          where two texts differ, for scoring only what differs

`FORMATS` has a line for each kind of prompt; a prompt that no preset changes is the same in all. The blank between two
pieces is put by `writing.joined` alone, whatever white space stands at their edges; under "lm-eval" and "minicons" the
texts are as the harness takes them.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from explorer import gaps
from explorer.errors import UsageError
from explorer.records import Condition, Factor, Instance, Request
from explorer.scoring.policy import PRESETS
from explorer.writing import blank, joined, parted, pieces, running

Span = tuple[int, int]  # first character, character after the last
Joining = Literal["stripped", "file"]


@dataclass(frozen=True, slots=True)
class Options:
    """What a caller may choose: the preset, demonstrations for a labeled set, how regions are joined."""

    preset: str = "natural"
    demonstrations: Sequence[Instance] = ()
    regions: Joining = "stripped"


@dataclass(frozen=True, slots=True)
class Format:
    """How the instances of one format are asked and read."""

    ask: Callable[[Instance, Options], list[Request]]
    texts: Callable[[Instance], tuple[str, ...]]


def requests(
    instance: Instance,
    preset: str = "natural",
    *,
    demonstrations: Sequence[Instance] = (),
    regions: Joining = "stripped",
) -> list[Request]:
    """The requests of an instance, in the order of its options (for SyntaxGym: of its conditions and regions)."""
    if preset not in PRESETS:
        raise UsageError(f"There is no preset {preset!r}; there are {', '.join(PRESETS)}.")
    return _format(instance).ask(instance, Options(preset, demonstrations, regions))


def option_texts(instance: Instance) -> tuple[str, ...]:
    """Each option as it would stand in running text, without prompt words; the text alone where options share it.

    Pairs: the sentences. Choices: premise and alternative, goal and solution, the sentence with the option filled in.
    Cloze: the whole passage. Regions: the sentence of each condition. Labelled, concept, text: the one text.
    """
    return _format(instance).texts(instance)


def differing_spans(first: str, second: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """The character spans of words and signs that one text has and the other has not, for each text.

    What is shared is found by difflib, as in CrowS-Pairs' own metric, there over tokens and here over words, so that
    it is the same for every tokenizer.
    """
    ours, theirs = _words(first), _words(second)
    matcher = difflib.SequenceMatcher(None, [word for word, _ in ours], [word for word, _ in theirs], autojunk=False)
    changes = [bounds for what, *bounds in matcher.get_opcodes() if what != "equal"]
    return (
        tuple(_whole(ours[begin:end]) for begin, end, _, _ in changes if begin < end),
        tuple(_whole(theirs[begin:end]) for _, _, begin, end in changes if begin < end),
    )


def _words(text: str) -> list[tuple[str, Span]]:
    return [(piece.text, (piece.start, piece.end)) for piece in pieces(text, signs=True)]


def _whole(words: Sequence[tuple[str, Span]]) -> Span:
    return words[0][1][0], words[-1][1][1]


def label_words(instance: Instance) -> tuple[str, ...]:
    """How a labeled set's classes are called in a prompt, in the order of the instance's options."""
    named = WORDS.get(instance.format, {})
    return tuple(named.get(option) or _split_camel(option) for option in instance.options)


def sentence(condition: Condition, regions: Joining = "stripped") -> str:
    """The text of a SyntaxGym condition."""
    return "".join(piece for _, piece in _pieces(condition, regions))


# --- pairs


def _ask_sentences(instance: Instance, options: Options) -> list[Request]:
    # The harness puts its delimiter, a blank, before the sentence even where there is no context.
    delimiter = " " if options.preset == "lm-eval" else ""
    return _after("", instance, delimiter, options)


def _ask_bare(instance: Instance, options: Options) -> list[Request]:
    return _after("", instance, "", options)


def _after(context: str, instance: Instance, delimiter: str, options: Options, role: str = "option") -> list[Request]:
    """Each option after the context; `delimiter` is what the harness puts before it, whatever it begins with."""
    if options.preset == "lm-eval":
        pairs = [(context, delimiter + text) for text in instance.options]
    elif options.preset == "minicons" and not context:
        pairs = [("", text) for text in instance.options]
    else:
        pairs = [joined(context.lstrip(), text) for text in instance.options]
    return [Request(instance.id, i, *pair, role) for i, pair in enumerate(pairs)]


def _options(instance: Instance) -> tuple[str, ...]:
    return tuple(text.strip() for text in instance.options)


# --- choices


def _ask_choice(instance: Instance, options: Options) -> list[Request]:
    return _after(instance.context, instance, " ", options)


def _ask_piqa(instance: Instance, options: Options) -> list[Request]:
    goal = instance.context if options.preset == "lm-eval" else instance.context.strip()
    return _after(f"Question: {goal}\nAnswer:", instance, " ", options)


CONNECTORS = {"cause": "because", "effect": "therefore"}


def _ask_copa(instance: Instance, options: Options) -> list[Request]:
    """Premise without its full stop, connector; alternative with a small first letter (also "i", as the harness)."""
    premise = instance.context.strip()
    connector = str(instance.extra.get("connector") or CONNECTORS[instance.extra["question"]])
    if options.preset == "lm-eval":  # the harness drops the last character, whatever it is
        return [
            Request(instance.id, i, f"{premise[:-1]} {connector}", f" {text[:1].lower()}{text[1:]}")
            for i, text in enumerate(instance.options)
        ]
    context = running(premise.removesuffix(".").removesuffix("。"), connector)
    small = (f"{text[:1].lower()}{text[1:]}" for text in map(str.strip, instance.options))
    return [Request(instance.id, i, *joined(context, text)) for i, text in enumerate(small)]


# Published sets that are scored by the rest of the sentence even where that is a full stop (34 of WinoGrande's 1,267
# sentences), as their authors and the harness do; stored runs and printed figures rest on it.
PARTIAL_TO_THE_END = ("winogrande", "winogrande_train_xs")


def _ask_winogrande(instance: Instance, options: Options) -> list[Request]:
    """Partial evaluation: the option stands in the context, the rest of the sentence is scored for each.

    Where no word stands behind the gap, the option is scored together with what closes the sentence.
    """
    before, rest = gaps.around(instance.context)
    if options.preset == "lm-eval" and rest.strip():
        return [Request(instance.id, i, before + text, " " + rest.strip()) for i, text in enumerate(instance.options)]
    filled = [_in_gap(before, text, rest) for text in instance.options]
    # A full stop tells little of what stands before it: log P(" cat.") is compared, not log P(".") behind each option.
    if pieces(rest) or (rest.strip() and instance.benchmark in PARTIAL_TO_THE_END):
        return [Request(instance.id, i, head + option, tail) for i, (head, option, tail) in enumerate(filled)]
    return [Request(instance.id, i, *parted(head, option + tail)) for i, (head, option, tail) in enumerate(filled)]


def _in_gap(before: str, option: str, rest: str) -> tuple[str, str, str]:
    """What stands before an option in a gap, the option, and what stands behind it, with the sentence's own blanks."""
    text = option.strip()
    head = before.lstrip() if text else before.strip()
    return head, text, rest.rstrip() if text or head else rest.strip()


def _context_and_option(instance: Instance) -> tuple[str, ...]:
    return tuple(running(instance.context, text) for text in instance.options)


def _gap_filled(instance: Instance) -> tuple[str, ...]:
    before, rest = gaps.around(instance.context)
    return tuple("".join(_in_gap(before, text, rest)).strip() for text in instance.options)


# --- contexts


def _ask_contexts(instance: Instance, options: Options) -> list[Request]:
    """The continuation after each context: log P(continuation | context)."""
    if options.preset == "lm-eval":
        pairs = [(context, " " + instance.second) for context in instance.options]
    else:
        pairs = [joined(context.lstrip(), instance.second) for context in instance.options]
    return [Request(instance.id, i, *pair) for i, pair in enumerate(pairs)]


def _contexts_and_continuation(instance: Instance) -> tuple[str, ...]:
    return tuple(running(context, instance.second) for context in instance.options)


# --- cloze


def _ask_cloze(instance: Instance, options: Options) -> list[Request]:
    return _after(instance.context, instance, " ", options, "target")


# --- regions


def _ask_regions(instance: Instance, options: Options) -> list[Request]:
    """A request per region after all earlier ones; `part` is the region's number, counted from 1 as formulas do.

    An empty region is not asked: its surprisal is 0.
    """
    region_requests = []
    for i, condition in enumerate(instance.conditions):
        context = ""
        for number, piece in _pieces(condition, options.regions):
            factors: dict[str, Factor] = {"condition": condition.name, "part": number}
            region_requests.append(Request(instance.id, i, context, piece, "region", factors))
            context += piece
    return region_requests


def _pieces(condition: Condition, joining: Joining) -> list[tuple[int, str]]:
    """(region number, its text with the blank before it) of each region that is not empty.

    "stripped" joins regions as any two pieces of a text, without regard to the white space at their edges; "file" keeps
    that as it is and puts one blank between.
    """
    pieces: list[tuple[int, str]] = []
    before = ""
    for number, text in enumerate(condition.regions, 1):
        bare = text.strip()
        if not bare:
            continue
        if joining == "stripped":
            pieces.append((number, blank(before, bare) + bare))
        else:
            pieces.append((number, f" {text}" if pieces else text))
        before = bare
    return pieces


def _condition_sentences(instance: Instance) -> tuple[str, ...]:
    return tuple(sentence(condition) for condition in instance.conditions)


# --- labeled sets


WORDS: Mapping[str, Mapping[str, str]] = {
    "wnli": {"not_entailment": "not entailment"},
    "rte": {"not_entailment": "not entailment"},
    "trec": {
        "ABBR": "abbreviation",
        "ENTY": "entity",
        "DESC": "description",
        "HUM": "person",
        "LOC": "location",
        "NUM": "number",
    },
}
TRUE_FALSE = {"entailment": "True", "not_entailment": "False"}


def _split_camel(name: str) -> str:
    """The name itself, or for "WrittenWork" its words: "written work"."""
    if re.fullmatch(r"([A-Z][a-z]+)+", name):
        return re.sub(r"(?<!^)(?=[A-Z])", " ", name).lower()
    return name


def _ask_label(instance: Instance, options: Options) -> list[Request]:
    """Text, then "Label:", and each class as the continuation; demonstrations stand before, parted by empty lines."""
    entailment = instance.format in ("wnli", "rte")
    if options.preset == "lm-eval" and entailment:
        blocks = [_true_or_false(shot) + " " + TRUE_FALSE[shot.options[_gold(shot)]] for shot in options.demonstrations]
        context = "\n\n".join([*blocks, _true_or_false(instance)])
        pairs = [(context, f" {TRUE_FALSE[option]}") for option in instance.options]
    else:
        blocks = [
            running(f"{_label_text(shot)}\nLabel:", label_words(shot)[_gold(shot)]) for shot in options.demonstrations
        ]
        context = "\n\n".join([*blocks, f"{_label_text(instance)}\nLabel:"])
        pairs = [joined(context, word) for word in label_words(instance)]
    factors = {"k": len(options.demonstrations)}
    return [Request(instance.id, i, *pair, "label", factors) for i, pair in enumerate(pairs)]


def _gold(shot: Instance) -> int:
    if shot.gold is None:
        raise UsageError(f"{shot.id} has no label, so it cannot be a demonstration. Leave it out.")
    return shot.gold


def _true_or_false(instance: Instance) -> str:
    return f"{instance.context}\nQuestion: {instance.second} True or False?\nAnswer:"


def _label_text(instance: Instance) -> str:
    first, second = _without_tabs(instance.context), instance.second.strip()
    return running("Sentence 1:", first) + "\n" + running("Sentence 2:", second) if second else first


def _without_tabs(text: str) -> str:
    """DBpedia's sentences are parted by tabs, which stand for blanks."""
    return re.sub(r"(?<![ \xa0])[ \xa0]*\t\s*", " ", text).strip()


def _labeled_text(instance: Instance) -> tuple[str, ...]:
    return (running(_without_tabs(instance.context), instance.second),)


# --- concepts and texts


ONTOLOGIES = {"GO": "Gene Ontology", "UBERON": "Uberon Ontology"}


def _ask_concept(instance: Instance, options: Options) -> list[Request]:
    """The completion prompt of Bombieri et al. (2024); the digits of the identifier are scored."""
    prefix, _, digits = instance.options[0].partition(":")
    ontology = ONTOLOGIES.get(prefix, f"{prefix} ontology")
    context = f"In the {ontology}, the {prefix} ID of the label '{instance.context.strip()}' is {prefix}:"
    return [Request(instance.id, 0, context, digits, "target")]


def _ask_text(instance: Instance, options: Options) -> list[Request]:
    return [Request(instance.id, 0, "", instance.context.strip(), "target")]


def _context(instance: Instance) -> tuple[str, ...]:
    return (instance.context.strip(),)


FORMATS: dict[str, Format] = {
    "sentence": Format(_ask_sentences, _options),
    "pair_in_context": Format(_ask_choice, _context_and_option),
    "crows_pairs": Format(_ask_bare, _options),
    "choice": Format(_ask_choice, _context_and_option),
    "piqa": Format(_ask_piqa, _context_and_option),
    "copa": Format(_ask_copa, _context_and_option),
    "winogrande": Format(_ask_winogrande, _gap_filled),
    "context_options": Format(_ask_contexts, _contexts_and_continuation),
    "cloze": Format(_ask_cloze, _context_and_option),
    "syntaxgym": Format(_ask_regions, _condition_sentences),
    "labelled": Format(_ask_label, _labeled_text),
    "wnli": Format(_ask_label, _labeled_text),
    "rte": Format(_ask_label, _labeled_text),
    "trec": Format(_ask_label, _labeled_text),
    "dbpedia14": Format(_ask_label, _labeled_text),
    "concept": Format(_ask_concept, _context),
    "text": Format(_ask_text, _context),
}

# Formats that ask for one text or for regions, or for options after nothing: what a context adds cannot be compared.
WITHOUT_CONTEXT = ("sentence", "crows_pairs", "cloze", "syntaxgym", "concept", "text")


def compares_after_context(instance: Instance) -> bool:
    """Whether the instance has options that are compared after a context."""
    if instance.format in WITHOUT_CONTEXT:
        return False
    return instance.format == "context_options" or bool(instance.context.strip())


def _format(instance: Instance) -> Format:
    try:
        return FORMATS[instance.format]
    except KeyError:
        raise UsageError(f"{instance.id} has the format {instance.format!r}; there are {', '.join(FORMATS)}.") from None
