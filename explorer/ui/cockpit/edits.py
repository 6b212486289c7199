"""Texts of an instance typed over: a whole text, or one word of it, wherever the options share that word."""

from __future__ import annotations

import bisect
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from explorer import numbers
from explorer.records import Instance
from explorer.ui import token_view
from explorer.variants import fields
from explorer.writing import Piece, pieces, running

BETWEEN_REGIONS = " | "


def with_texts(instance: Instance, texts: Mapping[str, str]) -> Instance:
    """The instance with these texts in place of its own; itself where they are its own."""
    parts_now = fields.field_texts(instance)
    changes = [
        fields.Edit(part, 0, len(parts_now[part]), text)
        for part, text in texts.items()
        if part in parts_now and text != parts_now[part]
    ]
    if not changes:
        return instance
    return fields.rebuild_instance(instance, changes, parent=instance.parent or instance.id, edit="typed by a reader")


def differing(instance: Instance, other: Instance) -> dict[str, str]:
    """The texts of another version that differ from the instance's own, by field."""
    parts_now = fields.field_texts(instance)
    return {
        part: text for part, text in fields.field_texts(other).items() if part in parts_now and text != parts_now[part]
    }


def whole_text(instance: Instance, part: str) -> str:
    """A text as it is edited: a field, or the regions of a condition with a bar between them."""
    if part in (parts_now := fields.field_texts(instance)):
        return parts_now[part]
    number = _condition(part)
    return BETWEEN_REGIONS.join(instance.conditions[number].regions) if number < len(instance.conditions) else ""


def typed_over(instance: Instance, part: str, text: str) -> Instance:
    """The instance with a whole text typed over."""
    if part in fields.field_texts(instance):
        return with_texts(instance, {part: text})
    number = _condition(part)
    if number >= len(instance.conditions):
        return instance
    many = len(instance.conditions[number].regions)
    typed = [piece.strip() for piece in text.split(BETWEEN_REGIONS.strip())]
    # Formulas name regions by number: a missing one is empty, those too many belong to the last.
    typed += [""] * (many - len(typed))
    regions = [*typed[: many - 1], running(*typed[many - 1 :])]
    return with_texts(instance, {f"condition {number} region {i}": region for i, region in enumerate(regions)})


def word_at(text: str, place: int) -> Piece | None:
    """The word that stands at this character of a text."""
    return next((piece for piece in pieces(text, signs=True) if piece.start <= place < piece.end), None)


def word_changed(instance: Instance, part: str, place: int, new: str) -> Instance:
    """The instance with another word ("" for none) where this character stands, in all texts that share the word there.

    Options are versions of each other: a word of both that stands in the same place is changed in both.
    """
    parts_now = fields.field_texts(instance)
    word = word_at(parts_now.get(part, ""), place)
    if word is None:
        return instance
    texts = {part: _replace_word(parts_now[part], word, new)}
    for other in parts_now:
        if (
            other != part
            and _are_versions(part, other)
            and (same := _same_word(parts_now[part], word, parts_now[other]))
        ):
            texts[other] = _replace_word(parts_now[other], same, new)
    return with_texts(instance, texts)


@dataclass(frozen=True, slots=True)
class Change:
    """Characters of a changed text (`start` to `end`) and what stood there before: "" where nothing did."""

    start: int
    end: int
    was: str


def touched(instance: Instance, other: Instance) -> dict[str, list[Change]]:
    """The words of another version that the instance does not have there, by field, in their order."""
    parts_now = fields.field_texts(instance)
    return {part: _changes(parts_now[part], text) for part, text in differing(instance, other).items()}


def change_at(changes: Mapping[str, Sequence[Change]], part: str, start: int, end: int) -> Change | None:
    """The change that these characters of a field touch."""
    in_order = changes.get(part, ())
    last = bisect.bisect_left(in_order, end, key=lambda change: change.start) - 1
    return in_order[last] if last >= 0 and start < in_order[last].end else None


def put_back(instance: Instance, changed: Instance, part: str, place: int) -> Instance:
    """The changed version with what stood at this character, in all texts that were changed alike.

    As `word_changed` changes a word of all options that share it, so it comes back in all of them: a pair of which one
    sentence alone is the old one would differ in more than it should.
    """
    changes, texts = touched(instance, changed), fields.field_texts(changed)
    change = change_at(changes, part, place, place + 1)
    if change is None:
        return changed
    new = texts[part][change.start : change.end]
    alike = {part: change}
    for other, of_other in changes.items():
        if other != part and _are_versions(part, other):
            same = (each for each in of_other if (each.was, texts[other][each.start : each.end]) == (change.was, new))
            if (its := next(same, None)) is not None:
                alike[other] = its
    return with_texts(changed, {name: _restored(texts[name], each) for name, each in alike.items()})


def _restored(text: str, change: Change) -> str:
    if not change.was:
        return _replace_word(text, Piece(text[change.start : change.end], change.start, change.end), "")
    return text[: change.start] + change.was + text[change.end :]


# A word for a word is a change of its own, so that each can be put back; what was added beside it belongs to it:
#
#     The cat sees  →  The dog hears       cat → dog, sees → hears
#     The cat sees  →  The big dog sees    cat → big dog
def _changes(before: str, after: str) -> list[Change]:
    old, new = pieces(before, signs=True), pieces(after, signs=True)
    changes: list[Change] = []
    gone: list[Piece] = []
    come: list[Piece] = []

    def close() -> None:
        if come:
            was = before[gone[0].start : gone[-1].end] if gone else ""
            changes.append(Change(come[0].start, come[-1].end, was))
        gone.clear()
        come.clear()

    for a, b in token_view.align([piece.text for piece in old], [piece.text for piece in new]):
        if a is not None and b is not None and old[a].text == new[b].text:
            close()
            continue
        if gone and a is not None and b is not None:
            close()
        gone += [old[a]] if a is not None else []
        come += [new[b]] if b is not None else []
    close()
    return changes


def _condition(part: str) -> int:
    return numbers.whole_or(part.removeprefix("condition "), 1 << 30) if part.startswith("condition ") else 1 << 30


def _are_versions(part: str, other: str) -> bool:
    """Whether two fields are versions of one text: options, or the same region of two conditions."""
    if part.startswith("option ") and other.startswith("option "):
        return True
    named, others = (re.fullmatch(r"condition \d+ (region \d+)", name) for name in (part, other))
    return bool(named and others and named[1] == others[1])


def _same_word(text: str, word: Piece, other: str) -> Piece | None:
    mine, theirs = pieces(text, signs=True), pieces(other, signs=True)
    pairs = token_view.align([piece.text for piece in mine], [piece.text for piece in theirs])
    for a, b in pairs:
        if a is not None and b is not None and mine[a].start == word.start and mine[a].text == theirs[b].text:
            return theirs[b]
    return None


def _replace_word(text: str, word: Piece, new: str) -> str:
    new = " ".join(new.split())
    before, after = text[: word.start], text[word.end :]
    if new:
        return before + new + after
    beginning = before.rstrip() if before.strip() else before
    after = after.lstrip() if not before.strip() else after
    # The sentence still begins as a sentence.
    if not before.strip() and word.text[:1].isupper():
        after = after[:1].upper() + after[1:]
    return beginning + after
