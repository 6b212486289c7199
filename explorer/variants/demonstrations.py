"""Test items and demonstrations of in-context studies: drawn apart, balanced by label, cut into two pieces.

Source: Golchin et al. 2024, "Memorization in In-Context Learning", section 4. Theirs are 200 and 200 of the training
split; here also no demonstration shares its text, or the first sentence of a pair, with a test item.
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from explorer.errors import UsageError
from explorer.records import Instance
from explorer.writing import fold_text

INSTANCES = 200
DEMONSTRATIONS = 200
FIRST_SHARE, LAST_SHARE = 0.6, 0.8  # of a text's blanks stand before the cut
# Line breaks and tabs, at which a completion would end.
_BREAKS = re.compile(r"(?<![ \xa0])[ \xa0]*[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]\s*")  # with the blanks around them


@dataclass(frozen=True, slots=True)
class Pieces:
    """An instance in two pieces: the sentences of a pair, or one text cut at a blank (`blank` of `blanks`, from 1)."""

    instance: Instance
    first: str
    second: str
    blank: int = 0
    blanks: int = 0


@dataclass(frozen=True, slots=True)
class Draw:
    """Test items and demonstrations, each balanced by label to one in every beginning of the list.

    `remarks` says what was left out, and where there are fewer than were asked for.
    """

    instances: tuple[Pieces, ...]
    demonstrations: tuple[Pieces, ...]
    split: str
    remarks: tuple[str, ...] = ()


def sample_items(
    candidates: Sequence[Instance],
    *,
    split: str = "",
    instances: int = INSTANCES,
    demonstrations: int = DEMONSTRATIONS,
    seed: int = 0,
) -> Draw:
    """Test items and demonstrations out of one split: the named one, else `train` where there is one, else the first.

    The two lists share no text, and no first sentence of a pair; pairs within a list may share one.
    """
    split = _split_of(candidates, split)
    remarks: list[str] = []
    usable = _usable([instance for instance in candidates if instance.split == split], seed, remarks)
    labels = list(dict.fromkeys(_label(piece) for piece in usable))
    if len(labels) < 2:
        raise UsageError(
            f"The split {split!r} has {len(labels)} label(s) in use; demonstrations need at least two. Choose another "
            "split or benchmark."
        )
    chance = random.Random(f"{seed}/draw")
    sides = _share_out(usable, (instances, demonstrations), len(labels), chance)
    drawn = []
    for name, wanted, members in zip(("instances", "demonstrations"), (instances, demonstrations), sides, strict=True):
        picked = tuple(_in_rounds(members, random.Random(f"{seed}/{name}")))[:wanted]
        if len(picked) < wanted:
            counts = Counter(_label(piece) for piece in members)
            rarest = min(labels, key=lambda label: counts[label])
            remarks.append(f"{len(picked)} of {wanted} {name}: the class {rarest} has only {counts[rarest]} for them")
        drawn.append(picked)
    return Draw(drawn[0], drawn[1], split, tuple(remarks))


def orders(demonstrations: Sequence[Pieces], count: int, seed: int = 0) -> list[tuple[Pieces, ...]]:
    """Orders of the same demonstrations, the first as drawn, the others shuffled anew; all balanced in every beginning.

    The first k of an order are its k demonstrations, so that a larger k goes on from a smaller one; another order's
    first k may be others.
    """
    shuffled = [tuple(demonstrations)]
    for number in range(1, count):
        chance = random.Random(f"{seed}/order/{number}")
        members = list(demonstrations)
        chance.shuffle(members)
        # What a last, incomplete round can hold is decided by the labels that are left over.
        shuffled.append(tuple(_in_rounds(members, chance)))
    return shuffled


def cut(instance: Instance, seed: int = 0) -> Pieces | str:
    """The instance in two pieces, or why it has none.

    A single text is cut at one of its blanks, drawn between 60 and 80% of them; the earlier tool of the same authors
    drew the same share for every text.
    """
    first, second = on_one_line(instance.context), on_one_line(instance.second)
    if second:
        return Pieces(instance, first, second) if first else "the first sentence is empty"
    places = [match.span() for match in re.finditer(" +", first)]
    if not places:
        return "the text has no blank to cut at"
    low, high = math.ceil(FIRST_SHARE * len(places)), math.floor(LAST_SHARE * len(places))
    if low > high:  # no blank of a short text stands there: the nearest
        low = high = max(1, round((FIRST_SHARE + LAST_SHARE) / 2 * len(places)))
    chosen = random.Random(f"{seed}/cut/{instance.id}").randint(low, high)
    start, end = places[chosen - 1]
    return Pieces(instance, first[:start], first[end:], chosen, len(places))


def on_one_line(text: str) -> str:
    """The text without line breaks and tabs, outer blanks stripped."""
    return _BREAKS.sub(" ", text).strip()


def _split_of(candidates: Sequence[Instance], wanted: str) -> str:
    known = list(dict.fromkeys(candidate.split for candidate in candidates))
    if wanted and wanted not in known:
        raise UsageError(f"There is no instance of the split {wanted!r}; the splits are {', '.join(known)}.")
    if not known:
        raise UsageError("There is no instance to draw from. Choose another benchmark, or fewer restrictions.")
    return wanted or ("train" if "train" in known else known[0])


def _usable(candidates: Sequence[Instance], seed: int, remarks: list[str]) -> list[Pieces]:
    """The labelled instances that can be cut, each text once."""
    usable: list[Pieces] = []
    seen: set[tuple[str, str]] = set()
    left: Counter[str] = Counter()
    for candidate in candidates:
        pieces = cut(candidate, seed) if candidate.gold is not None else "it has no label"
        text = (_folded(candidate.context), _folded(candidate.second))
        if isinstance(pieces, str):
            left[pieces] += 1
        elif text in seen:
            left["the text occurs before"] += 1
        else:
            seen.add(text)
            usable.append(pieces)
    remarks += [f"{count} left out: {why}" for why, count in left.items()]
    return usable


def _share_out(
    usable: Sequence[Pieces], wanted: tuple[int, int], labels: int, chance: random.Random
) -> tuple[list[Pieces], list[Pieces]]:
    """All of a text's instances go to one side: the one that lacks most of what their labels have to fill there."""
    together: dict[str, list[Pieces]] = defaultdict(list)
    for piece in usable:
        together[_folded(piece.instance.context)].append(piece)
    keys = list(together)
    chance.shuffle(keys)
    rarest = min(Counter(_label(piece) for piece in usable).values())
    # Of a class that is too small for both, the test items get half at most.
    items = max(1, min(math.ceil(wanted[0] / labels), rarest // 2))
    quotas = (items, max(1, min(math.ceil(wanted[1] / labels), rarest - items)))
    counts: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    sides: tuple[list[Pieces], list[Pieces]] = ([], [])
    for key in keys:
        members = together[key]
        chance.shuffle(members)
        full = [sum(counts[side][_label(piece)] for piece in members) / quotas[side] for side in (0, 1)]
        side = 0 if full[0] <= full[1] else 1
        sides[side].extend(members)
        counts[side].update(_label(piece) for piece in members)
    return sides


def _in_rounds(members: Sequence[Pieces], chance: random.Random) -> Iterator[Pieces]:
    """One instance of each label a round, in a random order a round, until a label has none left."""
    waiting: dict[str, list[Pieces]] = defaultdict(list)
    for piece in reversed(members):
        waiting[_label(piece)].append(piece)
    names = list(waiting)
    while True:
        having = [name for name in names if waiting[name]]
        chance.shuffle(having)
        yield from (waiting[name].pop() for name in having)
        if not having or len(having) < len(names):
            return


def _label(piece: Pieces) -> str:
    instance = piece.instance
    return instance.options[instance.gold] if instance.options and instance.gold is not None else instance.label


def _folded(text: str) -> str:
    return fold_text(text)
