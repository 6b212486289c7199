"""Texts that begin like one another, encoded by what is new in each: a long context is read once, not once a length.

A context that grows sentence by sentence stands before a target at eleven lengths and more. Only the longest text of
such a family is encoded whole. Of each other one its end is, with some characters before it, and the two are joined
where they give the same tokens:

    whole     The dog barks. |  A cat sleeps. The bird sings. He runs.     tokens of the longest text
    its end                   .. cat sleeps. She swims.                     of a shorter one, from a little before
                                 └── same ──┘                              tokens and places agree: joined here
    joined    The dog barks. |  A cat sleeps. She swims.

Tokenizers work word by word or by local merges, so where both agree for many tokens they agree before and behind. Three
joined texts of every call are also encoded whole; where one comes out otherwise, all are.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

Encode = Callable[[list[str]], list[Any]]  # texts to encodings of the package tokenizers

LEAD = 120  # characters of the shared beginning that an end is encoded with
SETTLED = 24  # of these, the first: a tokenizer may treat the start of a text in its own way
AGREEING = 6  # tokens that must be the same on both sides
GUARD = 16  # characters before the end of what is shared, which what follows may change
PAYS_FROM = 400  # characters of a context; shorter ones are encoded whole
CHECKED = 3  # joined texts that are also encoded whole


@dataclass(frozen=True, slots=True)
class Tokens:
    """A text's tokens: ids, and the encoding of its end, which begins at character `at` with token number `before`."""

    ids: list[int]
    end: Any  # an encoding of the package tokenizers
    text: str  # that `end` is of
    at: int = 0
    before: int = 0


class _WholeText:
    """A text encoded as a whole, with what is asked of it many times."""

    def __init__(self, text: str, encoding: Any) -> None:
        self.text = text
        self.encoding = encoding

    @cached_property
    def ids(self) -> list[int]:
        return list(self.encoding.ids)

    @cached_property
    def offsets(self) -> list[tuple[int, int]]:
        return list(self.encoding.offsets)

    @cached_property
    def starts(self) -> list[int]:
        return [start for start, _ in self.offsets]


def encode(encode_batch: Encode, pairs: Sequence[tuple[str, str]]) -> list[Tokens]:
    """The tokens of context + continuation, as if each had been encoded as a whole, in the order asked."""
    texts = [context + continuation for context, continuation in pairs]
    leader = _leaders([context for context, _ in pairs])
    whole_ones = [i for i, first in enumerate(leader) if first == i]
    encoded = dict(zip(whole_ones, encode_batch([texts[i] for i in whole_ones]), strict=True))
    tokens_of: list[Tokens | None] = [None] * len(pairs)
    for i in whole_ones:
        tokens_of[i] = Tokens(encoded[i].ids, encoded[i], texts[i])
    shorter = [i for i, first in enumerate(leader) if first != i]
    if shorter:
        wholes = {i: _WholeText(texts[i], encoded[i]) for i in {leader[i] for i in shorter}}
        begins = [_start_of_end(pairs[i][0]) for i in shorter]
        ends = encode_batch([texts[i][begin:] for i, begin in zip(shorter, begins, strict=True)])
        for i, begin, end in zip(shorter, begins, ends, strict=True):
            tokens_of[i] = _splice(wholes[leader[i]], texts[i], len(pairs[i][0]), begin, end)
        _take_back_if_wrong(encode_batch, texts, shorter, tokens_of)
    unsplit = [i for i, tokens in enumerate(tokens_of) if tokens is None]
    if unsplit:
        for i, encoding in zip(unsplit, encode_batch([texts[i] for i in unsplit]), strict=True):
            tokens_of[i] = Tokens(encoding.ids, encoding, texts[i])
    return [tokens for tokens in tokens_of if tokens is not None]


def _leaders(contexts: Sequence[str]) -> list[int]:
    """For each context the number of the longest that begins with it; its own where there is none or it is short."""
    # Sorted, a context stands right before those that begin with it, so from behind the last one is the longest.
    order = sorted(range(len(contexts)), key=contexts.__getitem__, reverse=True)
    leaders = list(range(len(contexts)))
    current = -1
    for i in order:
        if len(contexts[i]) < PAYS_FROM:
            continue
        if current >= 0 and contexts[current].startswith(contexts[i]):
            leaders[i] = current
        else:
            current = i
    return leaders


def _start_of_end(context: str) -> int:
    """Where the end of a text begins: at a blank, some way before its context ends."""
    place = context.rfind(" ", 0, len(context) - LEAD)
    return place if place > 0 else len(context) - LEAD


def _splice(whole: _WholeText, text: str, shared: int, begin: int, end: Any) -> Tokens | None:
    """A text by the beginning of a longer one and its own end; None where the two do not agree between them."""
    offsets, ids = end.offsets, end.ids
    # Only tokens that lie well within what both texts hold; the first characters of a text may be read otherwise.
    first = next((j for j, (start, _) in enumerate(offsets) if start >= SETTLED), len(offsets))
    last = next((j for j, (_, stop) in enumerate(offsets) if begin + stop > shared - GUARD), len(offsets))
    if last - first < AGREEING:
        return None
    same = bisect.bisect_left(whole.starts, begin + offsets[first][0])
    after = same + last - first
    if whole.ids[same:after] != ids[first:last]:
        return None
    places = [(begin + start, begin + stop) for start, stop in offsets[first:last]]
    if whole.offsets[same:after] != places:
        return None
    return Tokens([*whole.ids[:same], *ids[first:]], end, text[begin:], begin, same - first)


def _take_back_if_wrong(
    encode_batch: Encode, texts: Sequence[str], joined: Sequence[int], tokens_of: list[Tokens | None]
) -> None:
    """Takes back all joined texts where one of a few is not what it is as a whole."""
    spliced = [i for i in joined if tokens_of[i] is not None]
    if not spliced:
        return
    chosen = sorted({spliced[0], spliced[-1], max(spliced, key=lambda i: len(texts[i]))})[:CHECKED]
    for i, encoding in zip(chosen, encode_batch([texts[i] for i in chosen]), strict=True):
        tokens = tokens_of[i]
        if tokens is None or encoding.ids != tokens.ids:
            for each in spliced:
                tokens_of[each] = None
            return
