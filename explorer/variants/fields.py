"""An instance as the running texts a reader would see, each piece of them tied to the field it came from."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from explorer import gaps
from explorer.records import Condition, Instance
from explorer.writing import blank, joined


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a running text: `text[start:end]` is the field `part` from its character `offset` on."""

    part: str  # "context", "second", "option 0", "condition 1 region 2"
    start: int
    end: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Running:
    """A running text and its pieces; texts of the same `family` are versions of each other (options, conditions)."""

    text: str
    pieces: tuple[Piece, ...]
    family: str = ""


@dataclass(frozen=True, slots=True)
class Edit:
    """The characters `start` to `end` of a field replaced by other text."""

    part: str
    start: int
    end: int
    text: str


def running_texts(instance: Instance) -> list[Running]:
    """The texts of an instance, each whole: shared fields first, then what differs from option to option."""
    if instance.kind == "cloze":
        return [_running_of_cloze(instance)]
    if instance.kind == "choice" and instance.format == "winogrande":
        return [_running_of_option(instance, i) for i in range(len(instance.options))]
    if instance.kind in ("pair", "choice", "rating"):
        fields = (("context", instance.context), ("second", instance.second))
        shared = [_running_of_text(part, text) for part, text in fields if text]
        return [*shared, *(_running_of_text(f"option {i}", text, "options") for i, text in enumerate(instance.options))]
    if instance.kind == "regions":
        return [_running_of_regions(number, condition) for number, condition in enumerate(instance.conditions)]
    if instance.kind in ("labelled", "text"):
        fields = (("context", instance.context), ("second", instance.second))
        return [_running_of_text(part, text) for part, text in fields if text]
    return []


def _running_of_text(part: str, text: str, family: str = "") -> Running:
    return Running(text, (Piece(part, 0, len(text)),), family)


def _running_of_cloze(instance: Instance) -> Running:
    context, last = joined(instance.context, instance.options[0])
    start = len(context) + len(last) - len(last.strip())
    pieces = (
        Piece("context", 0, len(context)),
        Piece("option 0", start, len(context) + len(last), _leading_blanks(instance.options[0])),
    )
    return Running(context + last, pieces)


def _leading_blanks(text: str) -> int:
    """How many characters of white space a text begins with."""
    return len(text) - len(text.lstrip())


def _running_of_option(instance: Instance, number: int) -> Running:
    before, after = gaps.around(instance.context)
    option = instance.options[number].strip()
    gap = len(before)
    behind = gap + len(option)
    pieces = (
        Piece("context", 0, gap),
        Piece(f"option {number}", gap, behind, _leading_blanks(instance.options[number])),
        Piece("context", behind, behind + len(after), len(instance.context) - len(after)),
    )
    return Running(before + option + after, pieces, "options")


def _running_of_regions(number: int, condition: Condition) -> Running:
    text, pieces = "", []
    for region, content in enumerate(condition.regions):
        bare = content.strip()
        if not bare:
            continue
        text += blank(text, bare)
        pieces.append(
            Piece(f"condition {number} region {region}", len(text), len(text) + len(bare), _leading_blanks(content))
        )
        text += bare
    return Running(text, tuple(pieces), "conditions")


def locate(running: Running, start: int, end: int) -> tuple[str, int, int] | None:
    """Field and characters of a stretch of a running text, None where it crosses a border."""
    for piece in running.pieces:
        if piece.start <= start and end <= piece.end:
            shift = piece.offset - piece.start
            return piece.part, start + shift, end + shift
    return None


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """The text with its edits made; everything between them stays character for character."""
    pieces, last = [], 0
    for edit in sorted(edits, key=lambda edit: edit.start):
        pieces += [text[last : edit.start], edit.text]
        last = edit.end
    return "".join([*pieces, text[last:]])


def rebuild_instance(instance: Instance, edits: Sequence[Edit], **changes: object) -> Instance:
    """The instance with the edits made in its fields."""
    by_part: dict[str, list[Edit]] = {}
    for edit in edits:
        by_part.setdefault(edit.part, []).append(edit)

    def edited(part: str, text: str) -> str:
        return apply_edits(text, by_part.get(part, ()))

    return dataclasses.replace(
        instance,
        context=edited("context", instance.context),
        second=edited("second", instance.second),
        options=_edited_options(instance, by_part),
        conditions=tuple(
            Condition(
                condition.name,
                tuple(edited(f"condition {i} region {j}", text) for j, text in enumerate(condition.regions)),
            )
            for i, condition in enumerate(instance.conditions)
        ),
        **changes,  # type: ignore[arg-type]
    )


def _edited_options(instance: Instance, by_part: Mapping[str, Sequence[Edit]]) -> tuple[str, ...]:
    return tuple(apply_edits(text, by_part.get(f"option {i}", ())) for i, text in enumerate(instance.options))


def field_texts(instance: Instance) -> dict[str, str]:
    """Every field that an edit can name, with its text."""
    texts = {"context": instance.context, "second": instance.second}
    texts |= {f"option {i}": text for i, text in enumerate(instance.options)}
    for i, condition in enumerate(instance.conditions):
        texts |= {f"condition {i} region {j}": text for j, text in enumerate(condition.regions)}
    return texts
