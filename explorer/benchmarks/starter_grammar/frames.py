"""Frames: sentences with slots to fill and places where the members of a pair differ.

{a|b|c}          one of the fillers
{1=a|b|c}        the same; slots of one number choose together: the n-th filler in each
{1}              what the first slot of that number holds, again
{@she} {@he}     a woman's or a man's first name; {@name} either; no two alike in a sentence. {1=@she} can be recalled
[good/bad]       the acceptable member has the first text, the unacceptable one the second; slots may stand inside
"""

from __future__ import annotations

import itertools
import math
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

SLOT = re.compile(r"\{(?:(\d+)=)?([^{}]*)\}")
CONTRAST = re.compile(r"\[([^\[\]/]*)/([^\[\]/]*)\]")
NAMES = Path(__file__).with_name("names.txt")
MOST = 20_000  # ways to fill a frame that are looked at


@dataclass(frozen=True, slots=True)
class Frame:
    """A sentence with slots; its key is its section and its number there."""

    key: str
    text: str


def read_frames(path: Path) -> list[Frame]:
    """The frames of a file, a line each under "== section" headings; lines that begin with "#" are remarks."""
    frames: list[Frame] = []
    section, number = "", 0
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("== "):
            section, number = line.removeprefix("== "), 0
        elif line and not line.startswith("#"):
            number += 1
            frames.append(Frame(f"{section}-{number:02d}", line))
    return frames


def read_names() -> dict[str, list[str]]:
    """First names by slot: @she, @he and @name for either."""
    lines = [line.split() for line in NAMES.read_text(encoding="utf-8").splitlines() if line.startswith("@")]
    names = {slot: first_names for slot, *first_names in lines}
    return {**names, "@name": [name for first_names in names.values() for name in first_names]}


def fill_varied(frame: Frame, count: int, seed: int) -> list[str]:
    """`count` different fillings of a frame, chosen so that they share as few fillers as can be; contrasts stay."""
    chance = random.Random(f"{seed}/{frame.key}/{frame.text}")
    choices = _filler_choices(frame)
    if math.prod(map(len, choices.values())) > MOST:
        raise ValueError(f"{frame.key} can be filled in more than {MOST} ways. Take some fillers out.")
    combinations = list(itertools.product(*choices.values()))
    if len(combinations) < count and "@" not in frame.text:
        raise ValueError(f"{frame.key} can be filled in {len(combinations)} ways, {count} are wanted. Add fillers.")
    chance.shuffle(combinations)
    names = {kind: chance.sample(first_names, len(first_names)) for kind, first_names in read_names().items()}
    return [
        _fill_slots(frame, dict(zip(choices, combination, strict=True)), names)
        for combination in _least_repeating(combinations, count)
    ]


def fill_in_turn(frame: Frame, count: int) -> list[str]:
    """At most `count` fillings of a frame without chance: ways at even steps and names by turns; contrasts stay."""
    choices = _filler_choices(frame)
    combinations = list(itertools.product(*choices.values()))
    step = max(1, len(combinations) // count)
    names = read_names()
    return [
        _fill_slots(frame, dict(zip(choices, combination, strict=True)), names)
        for combination in combinations[::step][:count]
    ]


def split_contrast(filling: str) -> tuple[str, str]:
    """The acceptable and the unacceptable sentence of a filled frame."""
    return sentence(CONTRAST.sub(r"\1", filling)), sentence(CONTRAST.sub(r"\2", filling))


def _filler_choices(frame: Frame) -> dict[str, range]:
    """Every choice of a frame, a group of slots with one number being one choice, with its numbers."""
    sizes: dict[str, int] = {}
    for position, (group, content) in enumerate(_find_slots(frame.text)):
        if content.startswith("@") or content.isdecimal():
            continue
        size = content.count("|") + 1
        if sizes.setdefault(group or f"free {position}", size) != size:
            raise ValueError(f"{frame.key}: the slots numbered {group} have different numbers of fillers.")
    return {name: range(size) for name, size in sizes.items()}


def _find_slots(text: str) -> Iterator[tuple[str, str]]:
    for match in SLOT.finditer(text):
        yield match[1] or "", match[2]


def _least_repeating(combinations: Sequence[tuple[int, ...]], count: int) -> list[tuple[int, ...]]:
    """Greedily the way that repeats the fewest earlier choices; a way is taken twice only when all are used up."""
    used: dict[tuple[int, int], int] = {}
    remaining: list[tuple[int, ...]] = []
    chosen = []
    for _ in range(count):
        remaining = remaining or list(combinations)
        combination = min(
            remaining, key=lambda combination: sum(used.get(choice, 0) for choice in enumerate(combination))
        )
        remaining.remove(combination)
        chosen.append(combination)
        for choice in enumerate(combination):
            used[choice] = used.get(choice, 0) + 1
    return chosen


def _fill_slots(frame: Frame, combination: Mapping[str, int], names: Mapping[str, list[str]]) -> str:
    recalled: dict[str, str] = {}
    present: set[str] = set()
    position = -1

    def fill_slot(match: re.Match[str]) -> str:
        nonlocal position
        position += 1
        group, content = match[1] or "", match[2]
        if content.isdecimal():
            return recalled[content]
        if content.startswith("@"):
            text = _pick_name(names[content], present)
        else:
            text = content.split("|")[combination[group or f"free {position}"]]
        recalled.setdefault(group, text)
        return text

    return SLOT.sub(fill_slot, frame.text)


def _pick_name(names: list[str], present: set[str]) -> str:
    """The next name that the sentence does not have yet; it moves to the end of the list."""
    name = next(name for name in names if name not in present)
    names.remove(name)
    names.append(name)
    present.add(name)
    return name


def sentence(text: str) -> str:
    """The text with single blanks and a capital first letter."""
    text = re.sub(r" +", " ", text).strip()
    return text[:1].upper() + text[1:]
