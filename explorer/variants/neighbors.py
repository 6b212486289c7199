"""Neighbors of a text: the same text with one word replaced by another that fits its place.

Source: Mattern et al. 2023, "Membership inference attacks against language models via neighbourhood comparison", where
a masked language model proposes the words. Which words of a text are replaced is drawn by the seed, the instance and
the word alone, so that two options of an instance are changed at the same words wherever they have the same.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from explorer.scoring.encode import why_unencodable
from explorer.scoring.model import Gap, Proposer
from explorer.variants import inflect

PER_TEXT = 10
PROPOSALS = 24  # words asked for a gap, of which those of the original's own lemma are dropped
WORD = re.compile(r"(?<!\w)[^\W\d_]+(?:['’-][^\W\d_]+)*(?!\w)")


@dataclass(frozen=True, slots=True)
class Neighbor:
    """A text with one word replaced: where, by what, and the proposer's log-probability in nats."""

    text: str
    start: int
    original: str
    substitute: str
    logprob: float


@dataclass(frozen=True, slots=True)
class Source:
    """A text whose neighbors are wanted; texts with the same key are changed at the same words."""

    text: str
    key: str


def make_neighbors(
    sources: Sequence[Source], proposer: Proposer, *, count: int = PER_TEXT, seed: int = 0
) -> list[tuple[Neighbor, ...]]:
    """At most `count` different neighbors of each text, its drawn words in turn, each by the best word not yet taken.

    Fewer where no more words fit, none for a text without words. All gaps are put to the proposer in one call.
    """
    drawn = [sample_words(source, count, seed) for source in sources]
    gaps = [
        Gap(source.text[: word.start()], word[0], source.text[word.end() :])
        for source, words in zip(sources, drawn, strict=True)
        for word in words
    ]
    unique_gaps = list(dict.fromkeys(gaps))
    proposed = dict(zip(unique_gaps, proposer.propose(unique_gaps, PROPOSALS), strict=True)) if unique_gaps else {}
    return [_neighbors_of_text(source, words, proposed, count) for source, words in zip(sources, drawn, strict=True)]


def sample_words(source: Source, count: int, seed: int) -> list[re.Match[str]]:
    """At most `count` words of the text in an order that depends on the seed, the key, the word and its number."""
    uses: dict[str, int] = {}
    ranked = []
    for word in WORD.finditer("" if why_unencodable(source.text) else source.text):
        form = word[0].lower()
        uses[form] = uses.get(form, 0) + 1
        name = f"{seed}\x1f{source.key}\x1f{form}\x1f{uses[form]}"
        ranked.append((hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest(), word))
    return [word for _, word in sorted(ranked, key=lambda pair: pair[0])[:count]]


def is_another_word(original: str, candidate: str) -> bool:
    """Whether a proposed word is another word than the original, not a form of the same."""
    old, new = original.lower(), candidate.lower()
    return old != new and not any(
        set(inflect.lemmas_of(old, pos)) & set(inflect.lemmas_of(new, pos)) for pos in ("n", "v")
    )


def _neighbors_of_text(
    source: Source,
    words: Sequence[re.Match[str]],
    proposed: dict[Gap, list[tuple[str, float]]],
    count: int,
) -> tuple[Neighbor, ...]:
    """Round after round one neighbour of each drawn word, until there are enough."""
    waiting = []
    for word in words:
        before, after = source.text[: word.start()], source.text[word.end() :]
        fitting = [
            Neighbor(f"{before}{form}{after}", word.start(), word[0], form, logprob)
            for candidate, logprob in proposed[Gap(before, word[0], after)]
            if is_another_word(word[0], candidate) and (form := inflect.match_case(word[0], candidate))
        ]
        waiting.append(list({neighbor.text: neighbor for neighbor in reversed(fitting)}.values())[::-1])
    chosen: list[Neighbor] = []
    for turn in range(max(map(len, waiting), default=0)):
        chosen += [of_word[turn] for of_word in waiting if turn < len(of_word)]
    return tuple(chosen[:count])
