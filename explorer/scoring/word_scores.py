"""Word by word: the log-probabilities of tokens added up to those of words.

A word is what stands between blanks. Tokens carry the blank in front of them, so the blank belongs to the word behind
it, and a mark belongs to the word it is attached to, as in studies of reading times, minicons and surprisal:

    tokens   The | _cat | s | _ran | . |          nats   2.1 | 6.0 | 1.5 | 4.0 | 0.3
    words    The | cats     | ran.                       2.1 | 7.5       | 4.3

    white space alone (a line break)   goes to the word behind it; at the end of a text, to the last word
    bytes of one character             stay together, whatever tokens they are spread over
    a token over two words             cannot be divided: the two are given as one, and `covers` says of how many
    a word without a score             nan with a reason, as the first where no BOS stands before it

So the words of a text add up to the text, apart from those without a score. What is not corrected for: whether a word
is over is told by the token behind it (Pimentel and Meister 2024; Oh and Schuler 2024), so its probability is that of
all words that begin so.
"""

from __future__ import annotations

import bisect
import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from explorer.writing import without_blanks

By = Literal["auto", "blanks", "characters"]
BY: dict[By, str] = {
    "auto": "by blanks, and in scripts that have none between words by characters",
    "blanks": "by blanks alone",
    "characters": "each character by itself, with the marks on it",
}
FIRST = "its first token has no probability: nothing stands before it (no BOS)"
UNSCORED = "one of its tokens has no probability"
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class WordScore:
    """A word of a scored text: its characters `start` to `end`, its tokens, the sum of their log-probabilities in nats.

    `covers` is how many words it is, more than one where a token reaches over several; nan has a reason.
    """

    text: str
    start: int
    end: int
    first: int  # its first token
    tokens: int
    logprob: float
    covers: int = 1
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Piece:
    """Tokens that cannot be parted, as the bytes of one character: their characters in the text, and their places."""

    start: int
    end: int
    first: int
    last: int


def sum_by_word(
    tokens: Sequence[str], logprobs: Sequence[float], by: By = "auto", given: Sequence[str] = ()
) -> list[WordScore] | str:
    """The words of a scored text, or why there are none; `given` words stand for those that `by` would find."""
    text = "".join(tokens)
    spans = align(text, given) if given else find_words(text, by)
    if isinstance(spans, str):
        return spans
    if not tokens:
        return "there are no tokens"
    spans = spans or [(0, len(text))]
    starts, ends = [start for start, _ in spans], [end for _, end in spans]
    word_scores: list[WordScore] = []
    group: list[_Piece] = []
    words: list[int] = []  # of the group, by number
    # A group grows while its tokens share a word: "cats" is _cat + s (two tokens, one word), and a token "to be" would
    # tie two words together. It is closed when a piece begins that shares no word with it.
    for piece in _pieces(tokens):
        numbers = _word_numbers(piece, text, starts, ends)
        # A new word begins where no word of this piece is in the group already.
        if group and numbers[0] > words[-1]:
            word_scores.append(_merge_pieces(group, words, text, spans, logprobs))
            group, words = [], []
        group.append(piece)
        words += [number for number in numbers if number not in words]
    word_scores.append(_merge_pieces(group, words, text, spans, logprobs))
    return word_scores


def find_words(text: str, by: By = "auto") -> list[Span]:
    """The places of a text's words, without the white space between them."""
    spans: list[Span] = []
    start = -1
    for place, char in enumerate(text):
        if char.isspace():
            if start >= 0:
                spans.append((start, place))
            start = -1
        elif start < 0:
            start = place
        elif by != "blanks" and _begins(text, place, by) and not _opens(text, start, place):
            spans.append((start, place))
            start = place
    return [*spans, (start, len(text))] if start >= 0 else spans


def align(text: str, words: Sequence[str]) -> list[Span] | str:
    """The places of given words in a text, white space aside; why they are not the text's words where they are not."""
    spans: list[Span] = []
    place = 0
    for word in words:
        start = -1
        for char in "".join(word.split()):
            while place < len(text) and text[place].isspace():
                place += 1
            if place >= len(text) or text[place] != char:
                return f"the given words do not make up the text: {word[:40]!r} is not what stands at character {place}"
            start = place if start < 0 else start
            place += 1
        if start >= 0:
            spans.append((start, place))
    rest = text[place:].strip()
    return f"the given words do not make up the text: {rest[:40]!r} is left over" if rest else spans


def _begins(text: str, place: int, by: By) -> bool:
    """Whether a new word begins at a character that follows another one."""
    char, before = text[place], text[place - 1]
    if unicodedata.category(char)[0] == "M" or char in "\u200c\u200d" or before == "\u200d":
        return False
    if by == "characters":
        return True
    # A mark belongs to what stands before it, but an opening one to what it opens.
    if not char.isalnum():
        return unicodedata.category(char) in ("Ps", "Pi") and _without_blanks(text, place - 1)
    return without_blanks(char) or _without_blanks(text, place - 1)


def _without_blanks(text: str, place: int) -> bool:
    """Whether the last letter up to here is of a script whose words stand side by side."""
    while place >= 0 and not text[place].isalnum() and not text[place].isspace():
        place -= 1
    return place >= 0 and without_blanks(text[place])


def _opens(text: str, start: int, place: int) -> bool:
    """Whether nothing but opening marks stands before a character of its word."""
    return all(unicodedata.category(char) in ("Ps", "Pi") for char in text[start:place])


def _pieces(tokens: Sequence[str]) -> list[_Piece]:
    """The tokens, with those that print nothing joined to the one behind them, which prints their character."""
    pieces: list[_Piece] = []
    done, first = 0, 0
    for place, token in enumerate(tokens):
        if token:
            pieces.append(_Piece(done, done + len(token), first, place))
            done += len(token)
            first = place + 1
    if first < len(tokens):
        last = pieces.pop() if pieces else _Piece(0, 0, 0, 0)
        pieces.append(_Piece(last.start, last.end, last.first, len(tokens) - 1))
    return pieces


def _word_numbers(piece: _Piece, text: str, starts: Sequence[int], ends: Sequence[int]) -> list[int]:
    """The numbers of the words that a piece has characters of; of white space, the word behind it, or the last one."""
    inside = text[piece.start : piece.end]
    start = piece.start + len(inside) - len(inside.lstrip())
    end = piece.start + len(inside.rstrip())
    numbers = list(range(bisect.bisect_right(ends, start), bisect.bisect_left(starts, end)))
    return numbers or [min(bisect.bisect_left(starts, piece.start), len(starts) - 1)]


def _merge_pieces(
    group: Sequence[_Piece], words: Sequence[int], text: str, spans: Sequence[Span], logprobs: Sequence[float]
) -> WordScore:
    first, last = group[0].first, group[-1].last
    token_logprobs = logprobs[first : last + 1]
    unscored = [place for place, value in enumerate(token_logprobs, first) if math.isnan(value)]
    start, end = spans[words[0]][0], spans[words[-1]][1]
    return WordScore(
        text=text[start:end],
        start=start,
        end=end,
        first=first,
        tokens=last - first + 1,
        logprob=math.nan if unscored else math.fsum(token_logprobs),
        covers=len(words),
        reason="" if not unscored else FIRST if unscored == [0] else UNSCORED,
    )
