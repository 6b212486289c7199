"""The lab's context: sentences drawn or typed, kept in the address, drawn as a full run draws them."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from explorer import plain_json, prompts
from explorer.records import Instance
from explorer.variants.context_pools import Pools, candidate_sentences
from explorer.variants.contexts import fold_text, sample_sentences, sampling_key

TYPED = "typed"
MOST_LINES = 100  # of a link; each of them is scored, with all before it
DRAWN = "#"  # what stands before a drawn sentence's id in the address

Sides = Mapping[str, tuple[str, str]]  # sentence id → its suite, and "acceptable" or "unacceptable"


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence of the context: its text and, where it was drawn, its id."""

    text: str
    id: str = ""


def sides_of(pools: Pools) -> Sides:
    """Where each sentence of a benchmark stands."""
    return {
        sentence.id: (suite, side)
        for side, pool in (("acceptable", pools.acceptable), ("unacceptable", pools.unacceptable))
        for suite, sentences in pool.items()
        for sentence in sentences
    }


def kind_of(line: Line, item: Instance, sides: Sides) -> str:
    """What a sentence is to an item: a condition of the study, or typed."""
    if not line.id:
        return TYPED
    if line.id not in sides:
        return "unrelated"
    suite, side = sides[line.id]
    return f"{'matched' if suite == item.group else 'mismatched'}_{side}"


def draw_lines(pools: Pools, item: Instance, kind: str, seed: int, many: int, present: Sequence[Line]) -> list[Line]:
    """The next sentences of a kind before an item, in the order in which a run with this seed has them."""
    used_texts = [*prompts.option_texts(item), *(line.text for line in present)]
    sentences = sample_sentences(
        candidate_sentences(pools, item.group, kind),
        sampling_key(seed, kind, item.id),
        frozenset(map(fold_text, used_texts)),
    )
    return [Line(sentence.text, sentence.id) for sentence in itertools.islice(sentences, many)]


def rearranged(lines: Sequence[Line], order: Sequence[int]) -> list[Line]:
    """The lines in another order; those that it does not name are gone."""
    return [lines[place] for place in order if 0 <= place < len(lines)]


def pack(lines: Sequence[Line]) -> str:
    """The lines as a short text for the address."""
    return json.dumps([f"{DRAWN}{line.id}" if line.id else line.text for line in lines], ensure_ascii=False)


def unpack(text: str, pools: Pools) -> tuple[list[Line], int]:
    """The lines of an address, and how many of them are sentences that are not here."""
    try:
        stored = plain_json.without_halves(plain_json.read(text or "[]"))
    except ValueError:
        return [], 1
    lines, lost = [], 0
    stored = stored if isinstance(stored, list) else []
    for stored_line in stored[:MOST_LINES]:
        name = str(stored_line).removeprefix(DRAWN)
        if not str(stored_line).startswith(DRAWN):
            lines.append(Line(str(stored_line)))
        elif name in pools.by_id:
            lines.append(Line(pools.by_id[name].text, name))
        else:
            lost += 1
    return lines, lost + len(stored[MOST_LINES:])
