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
    usable = _usable_pieces([instance for instance in candidates if instance.split == split], seed, remarks)
    labels = list(dict.fromkeys(_label_of(piece) for piece in usable))
    if len(labels) < 2:
        raise UsageError(
            f"The split {split!r} has {len(labels)} label(s) in use; demonstrations need at least two. Choose another "
            "split or benchmark."
        )
    chance = random.Random(f"{seed}/draw")
    shares = _share_out(usable, (instances, demonstrations), len(labels), chance)
    drawn = []
    for name, size, members in zip(("instances", "demonstrations"), (instances, demonstrations), shares, strict=True):
        picked = tuple(_in_rounds(members, random.Random(f"{seed}/{name}")))[:size]
        if len(picked) < size:
            counts = Counter(_label_of(piece) for piece in members)
            rarest = min(labels, key=lambda label: counts[label])
            remarks.append(f"{len(picked)} of {size} {name}: the class {rarest} has only {counts[rarest]} for them")
        drawn.append(picked)
    return Draw(drawn[0], drawn[1], split, tuple(remarks))


def sample_orders(demonstrations: Sequence[Pieces], count: int, seed: int = 0) -> list[tuple[Pieces, ...]]:
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


def cut_in_two(instance: Instance, seed: int = 0) -> Pieces | str:
    """The instance in two pieces, or why it has none.

    A single text is cut at one of its blanks, drawn between 60 and 80% of them; the earlier tool of the same authors
    drew the same share for every text.
    """
    first, second = on_one_line(instance.context), on_one_line(instance.second)
    if second:
        return Pieces(instance, first, second) if first else "the first sentence is empty"
    blanks = [match.span() for match in re.finditer(" +", first)]
    if not blanks:
        return "the text has no blank to cut at"
    low, high = math.ceil(FIRST_SHARE * len(blanks)), math.floor(LAST_SHARE * len(blanks))
    if low > high:  # no blank of a short text stands there: the nearest
        low = high = max(1, round((FIRST_SHARE + LAST_SHARE) / 2 * len(blanks)))
    chosen = random.Random(f"{seed}/cut/{instance.id}").randint(low, high)
    start, end = blanks[chosen - 1]
    return Pieces(instance, first[:start], first[end:], chosen, len(blanks))


def on_one_line(text: str) -> str:
    """The text without line breaks and tabs, outer blanks stripped."""
    return _BREAKS.sub(" ", text).strip()


def _split_of(candidates: Sequence[Instance], asked_split: str) -> str:
    splits = list(dict.fromkeys(candidate.split for candidate in candidates))
    if asked_split and asked_split not in splits:
        raise UsageError(f"There is no instance of the split {asked_split!r}; the splits are {', '.join(splits)}.")
    if not splits:
        raise UsageError("There is no instance to draw from. Choose another benchmark, or fewer restrictions.")
    return asked_split or ("train" if "train" in splits else splits[0])


def _usable_pieces(candidates: Sequence[Instance], seed: int, remarks: list[str]) -> list[Pieces]:
    """The labelled instances that can be cut, each text once."""
    usable: list[Pieces] = []
    earlier_texts: set[tuple[str, str]] = set()
    reasons: Counter[str] = Counter()
    for candidate in candidates:
        pieces = cut_in_two(candidate, seed) if candidate.gold is not None else "it has no label"
        text = (_folded_text(candidate.context), _folded_text(candidate.second))
        if isinstance(pieces, str):
            reasons[pieces] += 1
        elif text in earlier_texts:
            reasons["the text occurs before"] += 1
        else:
            earlier_texts.add(text)
            usable.append(pieces)
    remarks += [f"{count} left out: {why}" for why, count in reasons.items()]
    return usable


def _share_out(
    usable: Sequence[Pieces], sizes: tuple[int, int], labels: int, chance: random.Random
) -> tuple[list[Pieces], list[Pieces]]:
    """All of a text's instances go to one side: the one that lacks most of what their labels have to fill there."""
    by_text: dict[str, list[Pieces]] = defaultdict(list)
    for piece in usable:
        by_text[_folded_text(piece.instance.context)].append(piece)
    keys = list(by_text)
    chance.shuffle(keys)
    rarest = min(Counter(_label_of(piece) for piece in usable).values())
    # Of a class that is too small for both, the test items get half at most.
    items = max(1, min(math.ceil(sizes[0] / labels), rarest // 2))
    quotas = (items, max(1, min(math.ceil(sizes[1] / labels), rarest - items)))
    counts: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    shares: tuple[list[Pieces], list[Pieces]] = ([], [])
    # A demonstration with a test item's own text would give its answer away, so a text goes whole to one side: the one
    # that has less of what it needs of the text's own labels, so that a rare class fills both sides alike.
    for key in keys:
        members = by_text[key]
        chance.shuffle(members)
        fill_rates = [sum(counts[share][_label_of(piece)] for piece in members) / quotas[share] for share in (0, 1)]
        share = 0 if fill_rates[0] <= fill_rates[1] else 1
        shares[share].extend(members)
        counts[share].update(_label_of(piece) for piece in members)
    return shares


def _in_rounds(members: Sequence[Pieces], chance: random.Random) -> Iterator[Pieces]:
    """One instance of each label a round, in a random order a round, until a label has none left."""
    waiting: dict[str, list[Pieces]] = defaultdict(list)
    for piece in reversed(members):
        waiting[_label_of(piece)].append(piece)
    names = list(waiting)
    while True:
        having = [name for name in names if waiting[name]]
        chance.shuffle(having)
        yield from (waiting[name].pop() for name in having)
        if not having or len(having) < len(names):
            return


def _label_of(piece: Pieces) -> str:
    instance = piece.instance
    return instance.options[instance.gold] if instance.options and instance.gold is not None else instance.label


def _folded_text(text: str) -> str:
    return fold_text(text)
