"""The longest spans of a text that stand verbatim in a corpus, and what they say of whether the corpus holds the text.

A span is maximal where it cannot go on to either side and still be found, as in OLMoTrace (Liu et al. 2025). Spans end
at the borders of words, since the end of a token is no place where a reader would stop.

    text      the keys to the old cabinet are
    held      "give her the keys to the garden", "the old cabinet are"
    spans     the keys to the
                          the old cabinet are
    the ends of both touch at "the": a text is covered once, however many spans lie over a word
"""

from __future__ import annotations

import contextlib
import math
import unicodedata
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass

from explorer.errors import CountError
from explorer.popularity.cached import may_pass
from explorer.popularity.counter import Counter, TextNotEncoded
from explorer.records import Count

Ids = tuple[int, ...]

LEAST = 6  # tokens a span has at least; shorter ones stand in every corpus of some size
LONGEST = 500  # tokens of a span at most: what a service takes in one query
TOGETHER = 64  # tokens of a piece; pieces are looked up side by side, so that a service is not asked one by one
PARTLY = 0.5  # of a text's characters in one span, from which on it is in the corpus in part
WHOLE, PART, ABSENT, UNKNOWN = "in the corpus", "in part", "not found", "unknown"
RULE = (
    f"“{WHOLE}”: the whole text occurs there word for word. “{PART}”: one span holds at least {PARTLY:.0%} of its "
    f"characters. “{ABSENT}”: neither. “{UNKNOWN}”: it has fewer tokens than a span has at least."
)


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text that the corpus holds `count` times: tokens `start` to `end`, characters `first` to `last`."""

    start: int
    end: int
    first: int
    last: int
    text: str
    ids: Ids
    count: float


@dataclass(frozen=True, slots=True)
class Verbatim:
    """A text in the index's tokens and its maximal spans; shares are of its characters that are no blanks.

    `label` is WHOLE, PART, ABSENT or UNKNOWN by RULE, `reason` says why it is unknown.
    """

    text: str
    ids: Ids
    spans: tuple[Span, ...]
    covered: float
    longest: float
    label: str
    reason: str = ""

    @property
    def member(self) -> float:
        """1 where the corpus holds the whole text, 0 where no span holds much of it, nan in between and unknown."""
        return {WHOLE: 1.0, ABSENT: 0.0}.get(self.label, math.nan)


def trace_text(counter: Counter, text: str, *, least: int = LEAST, part: float = PARTLY) -> Verbatim:
    """The maximal spans of a text, of at least `least` tokens, and its label.

    The text is looked up as it stands within a document and, where the index can tell, as it begins one; what finds
    more of it counts.
    """
    forms = list(dict.fromkeys(_forms(counter, text)))
    traced = [_trace_ids(counter, text, ids, least, part) for ids in forms]
    return max(traced, key=lambda verbatim: (verbatim.label == WHOLE, verbatim.covered, verbatim.longest))


def trace_texts(counter: Counter, texts: Iterable[str], *, least: int = LEAST, part: float = PARTLY) -> list[Verbatim]:
    """Each text traced; one that cannot be encoded is unknown, with the reason."""
    traced = []
    for text in texts:
        try:
            traced.append(trace_text(counter, text, least=least, part=part))
        except TextNotEncoded as error:
            traced.append(Verbatim(text, (), (), math.nan, math.nan, UNKNOWN, str(error)))
    return traced


# A counter may be a service on the web, where each call costs a round trip. So a text is cut into pieces, each with a
# walk of its own that asks for one n-gram and stops until it is sent the answer. One call asks for the n-grams of all
# walks that are under way: there are as many calls as the slowest piece needs, however long the text.
def longest_runs(counter: Counter, ids: Sequence[int], longest: int = LONGEST) -> list[int]:
    """For each token the end of the longest run from it that the corpus holds; itself where not even it occurs.

    Ends never go back from one token to the next, so about two n-grams a token are looked up.
    """
    walks = [_run_ends(tuple(ids), first, longest) for first in range(0, len(ids), TOGETHER)]
    pending: dict[int, Ids] = {number: next(walk) for number, walk in enumerate(walks)}
    ends: dict[int, list[int]] = {}
    while pending:
        answers = _which_occur(counter, list(pending.values()))
        occurrence = dict(zip(pending, answers, strict=True))
        pending = {}
        for number, occurs in occurrence.items():
            try:
                pending[number] = walks[number].send(occurs)
            except StopIteration as done:
                ends[number] = done.value
    return [end for number in sorted(ends) for end in ends[number]]


# From a start the end is looked for in steps of 1, 2, 4, ... until an n-gram does not occur, then between the last two.
# A run that occurs holds only runs that occur, so the next start begins where this one ended:
#
#     ids       a b c d e f        held: a b c, b c d e
#     start a   ab? abc..? no      end behind c
#     start b   bcd? bcde..?       end behind e, and nothing before it is asked again
def _run_ends(ids: Ids, first: int, longest: int) -> Generator[Ids, bool, list[int]]:
    """Asks for n-grams, is sent whether they occur, and gives the ends of the starts of one piece."""
    ends = []
    end = first
    for start in range(first, min(first + TOGETHER, len(ids))):
        end = max(end, start)
        most = min(len(ids), start + longest)
        step, missing = 1, most + 1  # the least end that is known not to occur
        while end < most and end + 1 < missing:
            # Behind the furthest end that is known, one token is the likeliest answer; a long run is found in leaps.
            probed_end = min(end + step, most, missing - 1)
            if (yield ids[start:probed_end]):
                end, step = probed_end, 2 * step
            else:
                missing, step = probed_end, max(1, (probed_end - end) // 2)
        ends.append(end)
    return ends


def _which_occur(counter: Counter, ngrams: Sequence[Ids]) -> list[bool]:
    return [not math.isnan(count.count) and count.count > 0 for count in _count_or_raise(counter, ngrams)]


def _count_or_raise(counter: Counter, ngrams: Sequence[Ids]) -> list[Count]:
    counts = counter.count(ngrams)
    unanswered = next((count for count in counts if may_pass(count)), None)
    if unanswered:
        raise CountError(
            f"{counter.index} could not be asked whether it holds a span ({unanswered.reason}). Try again later."
        )
    return counts


def _forms(counter: Counter, text: str) -> list[Ids]:
    """The text's ids within a document and, where the index tells them apart, at the start of one."""
    forms = list(counter.encode([text]))
    with contextlib.suppress(CountError):  # a service puts a blank before every text
        forms += counter.encode([text], bare=True)
    return forms


def _trace_ids(counter: Counter, text: str, ids: Ids, least: int, part: float) -> Verbatim:
    pieces = counter.decode(ids)
    characters = character_places(pieces, text)
    ends = longest_runs(counter, ids)
    runs = []
    for start, end in _maximal_runs([(start, end) for start, end in enumerate(ends)]):
        cut = _at_word_borders(text, characters, start, end)
        if cut:
            runs.append(cut)
    spans_of_tokens = [(start, end) for start, end in _maximal_runs(runs) if end - start >= least]
    counts = _count_or_raise(counter, [ids[start:end] for start, end in spans_of_tokens])
    spans = tuple(
        _make_span(text, characters, ids, start, end, count.count)
        for (start, end), count in zip(spans_of_tokens, counts, strict=True)
    )
    return _label_spans(text, ids, spans, least, part)


def _label_spans(text: str, ids: Ids, spans: tuple[Span, ...], least: int, part: float) -> Verbatim:
    inked = [not sign.isspace() for sign in text]
    all_of_it = sum(inked)
    if len(ids) < least or not all_of_it:
        why = f"the text has {len(ids):,} tokens, and a span has at least {least:,}"
        return Verbatim(text, ids, (), math.nan, math.nan, UNKNOWN, why)
    covered = {position for span in spans for position in range(span.first, span.last) if inked[position]}
    longest = max((sum(inked[span.first : span.last]) for span in spans), default=0) / all_of_it
    label = WHOLE if longest == 1 else PART if longest >= part else ABSENT
    return Verbatim(text, ids, spans, len(covered) / all_of_it, longest, label)


def _maximal_runs(runs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The runs that lie in no other, from left to right."""
    maximal: list[tuple[int, int]] = []
    for start, end in sorted(set(runs), key=lambda run: (run[0], -run[1])):
        if end > start and (not maximal or end > maximal[-1][1]):
            maximal.append((start, end))
    return maximal


def _at_word_borders(text: str, characters: Sequence[tuple[int, int]], start: int, end: int) -> tuple[int, int] | None:
    """The run without the parts of words at its two ends; none where nothing is left."""
    while start < end and not _is_border(text, characters[start][0]):
        start += 1
    while start < end and not _is_border(text, characters[end - 1][1]):
        end -= 1
    return (start, end) if start < end else None


def _is_border(text: str, position: int) -> bool:
    """Whether no word goes on over this place; scripts without blanks have borders everywhere."""
    before, after = text[position - 1 : position] if position else "", text[position : position + 1]
    inside = before.isalnum() and after.isalnum()
    return not inside or "Lo" in (unicodedata.category(before), unicodedata.category(after))


def _make_span(text: str, characters: Sequence[tuple[int, int]], ids: Ids, start: int, end: int, count: float) -> Span:
    first, last = characters[start][0], characters[end - 1][1]
    shown = text[first:last].strip()  # a token may be a blank alone
    first += len(text[first:last]) - len(text[first:last].lstrip())
    return Span(start, end, first, first + len(shown), shown, ids[start:end], count)


def character_places(pieces: Sequence[str], text: str) -> list[tuple[int, int]]:
    """Where each token stands in the text it was made of, as characters, without the blank before it.

    A token that holds only a part of a character shares the place of all tokens of that character.
    """
    characters: list[tuple[int, int]] = []
    at, number = 0, 0
    while number < len(pieces):
        broken = number
        while broken < len(pieces) and "\ufffd" in pieces[broken]:
            broken += 1
        if broken > number:  # tokens of parts of characters, up to where the next whole token stands
            after = text.find(pieces[broken].strip(), at) if broken < len(pieces) else -1
            until = after if after >= 0 else len(text)
            first = at + len(text[at:until]) - len(text[at:until].lstrip())
            characters += [(first, until)] * (broken - number)
            at, number = until, broken
            continue
        bare = pieces[number].strip()
        first_of_token = text.find(bare, at) if bare else at
        first_of_token = at if first_of_token < 0 else first_of_token
        end = min(len(text), first_of_token + len(bare))
        characters.append((first_of_token, end))
        at, number = end, number + 1
    return characters
