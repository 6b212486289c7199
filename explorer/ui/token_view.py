"""Token strips as HTML: every token a box colored by its surprisal, two texts aligned token by token.

All text comes from data sets, models or the reader, so all of it is escaped. The colors are in style.css; a box only
says how strong its tint is, and so follows the light and the dark theme.
"""

from __future__ import annotations

import difflib
import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from explorer import display

Unit = Literal["nats", "bits"]
Verdict = Literal["right", "wrong", "tie", "none"]

NATS_A_BIT = math.log(2)
DEEPEST = 12.0  # nats at which the tint is full
DEEPEST_DIFFERENCE = 6.0
LONGEST_MATCHED = 4000  # tokens
FOCUSABLE = 120  # tokens a strip may have before the keyboard no longer stops at each

VISIBLE = {" ": "␣", "\n": "↵", "\t": "⇥", "\r": "␍"}


@dataclass(frozen=True, slots=True)
class Token:
    """A token with its surprisal in nats, nan where it was not scored."""

    text: str
    nats: float


def tokens_of(texts: Sequence[str], logprobs: Sequence[float]) -> list[Token]:
    """Tokens with the surprisal that their log-probabilities say."""
    return [Token(text, -float(value)) for text, value in zip(texts, logprobs, strict=True)]


def in_unit(nats: float, unit: Unit) -> float:
    """An amount of nats in nats or bits."""
    return nats / NATS_A_BIT if unit == "bits" else nats


def strip(tokens: Sequence[Token], unit: Unit = "nats", *, context: str = "", label: str = "Tokens") -> str:
    """One text: its context in quiet ink, then a box per token with the surprisal below."""
    focusable = len(tokens) <= FOCUSABLE
    boxes = [_box(token, place, len(tokens), unit, focusable=focusable) for place, token in enumerate(tokens, start=1)]
    before = f'<span class="lx-context">{_shown_context(context)}</span>' if context else ""
    return f'<div class="lx-strip" role="list" aria-label="{_attribute(label)}">{before}{"".join(boxes)}</div>'


def aligned(
    first: Sequence[Token], second: Sequence[Token], unit: Unit = "nats", *, labels: tuple[str, str] = ("A", "B")
) -> str:
    """Two texts in columns: equal tokens over each other, differing ones marked, and below by how much the first is
    less surprising; these differences add up to the margin."""
    words_of_columns: list[list[str]] = []
    focusable = len(first) + len(second) <= FOCUSABLE
    for a, b in align([token.text for token in first], [token.text for token in second]):
        top = first[a] if a is not None else None
        bottom = second[b] if b is not None else None
        differs = top is None or bottom is None or top.text != bottom.text
        starts = any(token is not None and token.text[:1].isspace() for token in (top, bottom))
        cells = [
            _box(top, (a or 0) + 1, len(first), unit, focusable=focusable, differs=differs) if top else _gap(),
            _box(bottom, (b or 0) + 1, len(second), unit, focusable=focusable, differs=differs) if bottom else _gap(),
            _difference(top, bottom, unit),
        ]
        if starts or not words_of_columns:
            words_of_columns.append([])
        words_of_columns[-1].append(f'<div class="lx-column" role="listitem">{"".join(cells)}</div>')
    # The tokens of a word stay on one line, where that is wide enough.
    words = [f'<div class="lx-columns-of-word" role="presentation">{"".join(word)}</div>' for word in words_of_columns]
    label = _attribute(f"{labels[0]} over {labels[1]}, token by token")
    return (
        f'<div class="lx-aligned">{_heads(labels)}<div class="lx-columns" role="list" aria-label="{label}">'
        f"{''.join(words)}</div></div>"
    )


# The first two tokens and the last one are alike; what is between is matched, "s" with "laughs", "laugh" with none:
#
#     first    The   author   s        laugh   .
#     second   The   author   laughs           .
#     pairs    0, 0  1, 1     2, 2     3, none 4, 3
def align(first: Sequence[str], second: Sequence[str]) -> list[tuple[int | None, int | None]]:
    """Pairs of places (or none) that put equal tokens beside each other; every place occurs once, in order."""
    # What two texts begin and end with alike is set aside first: matching takes the square of what is left.
    start = _alike(first, second)
    end = _alike(first[start:][::-1], second[start:][::-1])
    pairs: list[tuple[int | None, int | None]] = [(place, place) for place in range(start)]
    last_a, last_b = len(first) - end, len(second) - end
    pairs += _matched(first[start:last_a], second[start:last_b], start)
    return [*pairs, *((last_a + step, last_b + step) for step in range(end))]


def _alike(first: Sequence[str], second: Sequence[str]) -> int:
    """How many tokens the two begin with alike."""
    different = (place for place, (a, b) in enumerate(zip(first, second, strict=False)) if a != b)
    return next(different, min(len(first), len(second)))


def _matched(first: Sequence[str], second: Sequence[str], start: int) -> list[tuple[int | None, int | None]]:
    """The pairs of two middles that begin at `start`; side by side where they are too long to be matched."""
    pairs: list[tuple[int | None, int | None]] = []
    opcodes: Sequence[tuple[str, int, int, int, int]]
    if max(len(first), len(second)) > LONGEST_MATCHED:
        opcodes = [("replace", 0, len(first), 0, len(second))]
    else:
        opcodes = difflib.SequenceMatcher(None, first, second, autojunk=False).get_opcodes()
    for _, a, a_end, b, b_end in opcodes:
        for step in range(max(a_end - a, b_end - b)):
            left = start + a + step if a + step < a_end else None
            right = start + b + step if b + step < b_end else None
            pairs.append((left, right))
    return pairs


def key(unit: Unit) -> str:
    """The legend of the tints."""
    most = in_unit(DEEPEST, unit)
    return (
        f'<div class="lx-key"><span>surprisal in {unit}</span><span>0</span><span class="lx-ramp"></span>'
        f"<span>{most:.0f} or more</span></div>"
    )


def verdict(kind: Verdict, text: str, word: str = "") -> str:
    """A verdict as a word and a sentence; the word says it too, so that color is not needed."""
    word = html.escape(word or {"right": "Right", "wrong": "Wrong", "tie": "Tie", "none": "No verdict"}[kind])
    return (
        f'<p class="lx-verdict lx-{kind}" role="status"><span class="lx-word">{word}</span> '
        f"<span>{html.escape(text)}</span></p>"
    )


def visible(text: str) -> str:
    """The text with its blanks and line breaks made visible."""
    return "".join(VISIBLE.get(character, character) for character in text)


def lines_of(token: Token, place: int, many: int) -> list[str]:
    """What is told of a token: its text, where it stands, its surprisal and its probability."""
    lines = [f"“{visible(token.text)}”", f"token {place} of {many}"]
    if math.isnan(token.nats):
        return [*lines, "not scored"]
    return [
        *lines,
        f"{token.nats:.3f} nats, {in_unit(token.nats, 'bits'):.3f} bits",
        f"probability {probability(token.nats)}",
    ]


def _box(token: Token, place: int, many: int, unit: Unit, *, focusable: bool, differs: bool = False) -> str:
    scored = not math.isnan(token.nats)
    kinds = ["lx-token"]
    kinds += ["lx-word"] if token.text[:1].isspace() else []
    kinds += ["lx-differs"] if differs else []
    kinds += [] if scored else ["lx-unscored"]
    tint = min(1.0, max(0.0, token.nats / DEEPEST)) if scored else 0.0
    lines = lines_of(token, place, many)
    number = display.number(in_unit(token.nats, unit), 1)
    stop = ' tabindex="0"' if focusable else ""
    return (
        f'<span class="{" ".join(kinds)}" role="listitem"{stop} style="--tint:{tint:.3f}"'
        f' aria-label="{_attribute(", ".join(lines))}">'
        f'<span class="lx-text" aria-hidden="true">{_shown_token(token.text)}</span>'
        f'<span class="lx-number" aria-hidden="true">{number}</span>'
        f'<span class="lx-tip" aria-hidden="true">{"<br>".join(html.escape(line) for line in lines)}</span></span>'
    )


def probability(nats: float) -> str:
    """A surprisal as a probability, with digits that still say something when it is small."""
    return display.probability(math.exp(-nats))


def _difference(top: Token | None, bottom: Token | None, unit: Unit) -> str:
    known = [token.nats for token in (top, bottom) if token is not None]
    if any(math.isnan(nats) for nats in known):
        return f'<span class="lx-delta">{display.MISSING}</span>'
    # How much less surprising the first text is here; a token that only one text has counts whole.
    nats = (bottom.nats if bottom else 0.0) - (top.nats if top else 0.0)
    tint = min(1.0, abs(nats) / DEEPEST_DIFFERENCE)
    kind = "lx-for" if nats > 0 else "lx-against"
    number = display.number(in_unit(nats, unit), 1, signed=True)
    return f'<span class="lx-delta {kind}" style="--tint:{tint:.3f}">{number}</span>'


def _heads(labels: tuple[str, str]) -> str:
    names = "".join(f'<span class="lx-head">{html.escape(label)}</span>' for label in (*labels, "Difference"))
    return f'<div class="lx-column lx-heads">{names}</div>'


def _gap() -> str:
    return '<span class="lx-token lx-gap" aria-label="no token here"></span>'


def _shown_token(text: str) -> str:
    # The leading blank is the space between the boxes; any other blank is shown as a mark.
    return html.escape(visible(text.removeprefix(" ") or text))


def _shown_context(text: str) -> str:
    return html.escape(text).replace("\n", "↵<br>")


def _attribute(text: str) -> str:
    return html.escape(text, quote=True)
