"""From the substitutes chosen for an instance's words to the changed instance: edits, articles, and what they broke."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from explorer.records import Instance
from explorer.variants import alignment, articles, fields, inflect
from explorer.variants.fields import Edit
from explorer.variants.lexicon import Sense
from explorer.variants.tagging import Token
from explorer.variants.targets import Target
from explorer.variants.words import Reading, Version

OPENING = frozenset("\"'“‘([*`") | {"``", "**"}  # marks that may stand between an article and its word
GARDEN_PATHS = ("mvrr", "npz")  # SyntaxGym suites that turn on the forms and frames of a verb


@dataclass(frozen=True, slots=True)
class Swap:
    """A word of the original and the word in its place; `start` and `end` count characters of the field `part`."""

    start: int
    end: int
    original: str
    lemma: str
    pos: str
    synset: str
    definition: str
    substitute: str
    part: str = "context"


# --- deciding


@dataclass(frozen=True, slots=True)
class Choice:
    """A word's sense and substitute lemma."""

    sense: Sense
    lemma: str
    by_hand: bool = False


def inflect_for(lemma: str, target: Target) -> str:
    return inflect.inflect(lemma, target.tag) or lemma


# --- writing


def swaps_and_edits(reading: Reading, choices: Mapping[tuple[str, str], Choice]) -> tuple[tuple[Swap, ...], list[Edit]]:
    swaps: dict[tuple[str, int], Swap] = {}
    edits: dict[tuple[str, int], Edit] = {}
    for word in reading.words:
        choice = choices.get((word.lemma, word.pos))
        if choice is None:
            continue
        for number, target in word.targets:
            version = reading.versions[number]
            part, start, end = _locate_word(version, target.start, target.end)
            if (part, start) in swaps:
                continue
            substitute = inflect.match_case(target.form, inflect_for(choice.lemma, target))
            swaps[part, start] = Swap(
                start,
                end,
                target.form,
                word.lemma,
                word.pos,
                choice.sense.synset,
                choice.sense.definition,
                substitute,
                part,
            )
            edits[part, start] = Edit(part, start, end, substitute)
            for token, text in _mended_neighbors(version, target, substitute):
                part, start, end = _locate_word(version, token.start, token.end)
                edits.setdefault((part, start), Edit(part, start, end, text))
    return tuple(swaps[key] for key in sorted(swaps)), list(edits.values())


def _locate_word(version: Version, start: int, end: int) -> tuple[str, int, int]:
    place = fields.locate(version.running, start, end)
    assert place is not None  # words across a border are no targets
    return place


def _mended_neighbors(version: Version, target: Target, substitute: str) -> list[tuple[Token, str]]:
    """The neighbors that must change with a word: a or an before it, the possessive 's or ' behind it."""
    changes = []
    article = article_before(version, target)
    if article and articles.indefinite_article(substitute) != articles.indefinite_article(target.form):
        changes.append((article, articles.mend_article(article.text, substitute)))
    behind = version.tokens[target.index + 1 : target.index + 2]
    if behind and behind[0].tag == "POS" and behind[0].start == target.end:
        ending = _possessive_ending(behind[0].text, target, substitute)
        if ending != behind[0].text and fields.locate(version.running, behind[0].start, behind[0].end):
            changes.append((behind[0], ending))
    return changes


def _possessive_ending(ending: str, target: Target, substitute: str) -> str:
    """The children's becomes the kids', the students' becomes the alumni's."""
    apostrophe = ending[0]
    last = substitute[-1:]
    if last.lower() != "s":
        return ending if len(ending) > 1 else apostrophe + ("S" if last.isupper() else "s")
    return apostrophe if target.tag == "NNS" else ending


def article_before(version: Version, target: Target) -> Token | None:
    position = target.index - 1
    while position > 0 and (version.tokens[position].text in OPENING or version.tokens[position].text.isspace()):
        position -= 1
    before = version.tokens[position] if position >= 0 else None
    if before is None or before.text.lower() not in ("a", "an"):
        return None
    behind = version.tokens[position + 1]
    if behind.start == before.end and not behind.text.isspace():
        return None  # no blank between: not an article
    return before if fields.locate(version.running, before.start, before.end) else None


# --- checking


def why_broken(reading: Reading, choices: Mapping[tuple[str, str], Choice], new_instance: Instance) -> str:
    """Why the swaps do not preserve the label, "" where they do."""
    old = reading.instance
    if len(set(new_instance.options)) < len(set(old.options)):
        return "two options became the same"
    for a in range(len(reading.versions)):
        for b in range(a + 1, len(reading.versions)):
            first, second = reading.versions[a], reading.versions[b]
            if first.running.family and first.running.family == second.running.family:
                new = [_new_words(version, number, reading, choices) for number, version in ((a, first), (b, second))]
                words = [[token.text for token in version.tokens] for version in (first, second)]
                if not alignment.same_difference(*words, *new):
                    return "the options no longer differ exactly where they did"
    for i, condition in enumerate(old.conditions):
        for j in range(i):
            # Conditions of one's own suites may have regions that others lack.
            pairs = zip(condition.regions, old.conditions[j].regions, strict=False)
            changed = zip(new_instance.conditions[i].regions, new_instance.conditions[j].regions, strict=False)
            if any((a == b) != (c == d) for (a, b), (c, d) in zip(pairs, changed, strict=True)):
                return "the regions no longer differ exactly where they did"
    return ""


def find_parted(instance: Instance, swaps: Sequence[Swap], by_hand: Mapping[str, str]) -> set[tuple[str, str]]:
    """The lemmas whose swap would part a passage's last word from the same word earlier in it, its cue.

    A last word without a cue stays too, unless a hand chose otherwise: nothing tells which of two synonyms comes.
    """
    if instance.kind != "cloze":
        return set()
    target = next((swap for swap in swaps if swap.part == "option 0"), None)
    word = target.original if target else instance.options[0].strip()
    earlier = [swap for swap in swaps if swap.part != "option 0" and swap.original == word]
    if target is None:
        return {(swap.lemma, swap.pos) for swap in earlier}
    if not earlier:
        return (
            set() if {target.lemma, f"{target.lemma}.{target.pos}"} & by_hand.keys() else {(target.lemma, target.pos)}
        )
    # A copy that no swap reaches (another part of speech, a name) keeps the old word, so the last word keeps it, too.
    copies = re.findall(rf"(?<!\w){re.escape(word)}(?!\w)", instance.context)
    return {(target.lemma, target.pos)} if len(copies) > len(earlier) else set()


def _new_words(version: Version, number: int, reading: Reading, choices: Mapping[tuple[str, str], Choice]) -> list[str]:
    """For each token of a version what stands in its place."""
    words = [token.text for token in version.tokens]
    for word in reading.words:
        choice = choices.get((word.lemma, word.pos))
        if choice is None:
            continue
        for where, target in word.targets:
            if where == number:
                words[target.index] = inflect.match_case(target.form, inflect_for(choice.lemma, target))
                for token, text in _mended_neighbors(version, target, words[target.index]):
                    words[token.index] = text
    return words


def find_flags(instance: Instance, swaps: Sequence[Swap]) -> tuple[str, ...]:
    flags = []
    if not swaps:
        flags.append("unchanged")
    verbs = any(swap.pos == "v" for swap in swaps)
    if verbs and instance.phenomenon == "argument_structure":
        flags.append("verb swapped in an argument-structure pair")
    if verbs and instance.kind == "regions" and instance.group.startswith(GARDEN_PATHS):
        flags.append("verb swapped in a garden path")
    if instance.kind == "cloze" and any(swap.part == "option 0" for swap in swaps):
        flags.append("target replaced")
    return tuple(flags)
