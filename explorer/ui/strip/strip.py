"""What a strip shows, and the component that shows it and tells what the reader does with it.

    block = Block(lines, columns)        rows of cells in columns; a pair's two options stand over each other
    draw_strip(Strip(blocks, ...), key, take)

`take` is given what the reader did as a small dictionary: {"do": "open", "key": ...}; others are "close", "swap",
"type", "remove", "restore", "expect", "text", "undo", "redo", "back", "reset", "gram", "pin" and "veto". What
comes with each is in strip.js.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import streamlit as st

from explorer import plain_json

NAME = "lexiscope_strip"
LONGEST = 100_000  # characters of a text that a reader types
MOST = 2**31  # what a place can be
Hue = Literal["surprise", "popular", "for", "against", "plain"]
Act = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Cell:
    """A token, or a word without a number: what is shown, how deep its tint is (0 to 1), what is said of it.

    A cell with a `key` can be opened; `kinds` are classes of strip.css.
    """

    text: str
    number: str = ""
    tint: float = 0.0
    hue: Hue = "surprise"
    say: tuple[str, ...] = ()
    key: str = ""
    kinds: str = ""
    open: bool = False


@dataclass(frozen=True, slots=True)
class Delta:
    """What stands below a column: a number, and in whose favor it is."""

    text: str
    tint: float
    sign: Literal["for", "against"]


@dataclass(frozen=True, slots=True)
class Column:
    """Cells over each other, none where a row has no token there."""

    cells: tuple[Cell | None, ...]
    starts: bool = False  # a word begins here
    delta: Delta | None = None
    foot: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A row: its name, a remark beside it, and the text that can be edited as a whole (none where `part` is "")."""

    name: str
    note: str = ""
    part: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Block:
    """Rows in common columns; `total` heads the row of differences below them, where there is one."""

    lines: tuple[Line, ...]
    columns: tuple[Column, ...]
    say: str
    title: str = ""
    total: str = ""
    plain: bool = False  # words to read, without numbers


@dataclass(frozen=True, slots=True)
class Key:
    """The legend of the tints."""

    label: str
    low: str
    high: str
    hue: Hue
    hint: str = ""


@dataclass(frozen=True, slots=True)
class History:
    """The edits that can be returned to, the oldest first, and which of them is shown."""

    labels: tuple[str, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Synonym:
    """A word on offer: as it would be written, the name a click gives, how often it occurs, and a remark.

    effect    the margin with it, "" where that was not asked for
    turns     "right" or "wrong" where the verdict with it is another than now, else ""
    """

    form: str
    lemma: str
    count: str = ""
    picked: bool = False
    say: str = ""
    effect: str = ""
    turns: str = ""


@dataclass(frozen=True, slots=True)
class Sense:
    """A sense of the open word with its synonyms; `excluded` are those not offered, with reasons."""

    definition: str
    chosen: bool
    why: str
    synonyms: tuple[Synonym, ...]
    excluded: str = ""


@dataclass(frozen=True, slots=True)
class Expected:
    """A token that the model expects: `word` is what a click puts there, "" where it is no word by itself."""

    text: str
    word: str
    probability: str
    share: float
    stands: bool


@dataclass(frozen=True, slots=True)
class Expectation:
    """The likeliest tokens at a place, or in `note` why they are not known; `offer` names the button that asks."""

    heading: str
    tokens: tuple[Expected, ...] = ()
    note: str = ""
    offer: str = ""


@dataclass(frozen=True, slots=True)
class Gram:
    """An n-gram over the open token: how often it occurs, and its popularity from 1 to 10."""

    text: str
    count: str
    popularity: str
    open: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """A document around an n-gram: its pieces, each with whether it is the n-gram, and where it stands."""

    pieces: tuple[tuple[str, bool], ...]
    where: str


@dataclass(frozen=True, slots=True)
class Corpus:
    """The n-grams over the open token, and the documents of the one that is open."""

    heading: str
    grams: tuple[Gram, ...] = ()
    documents: tuple[Page, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Panel:
    """All about the open word: what it can be swapped for, what the model expected, and its n-grams.

    preview   names the button that has all synonyms scored; "" where there is none
    """

    id: str
    title: str
    about: str
    heading: str
    senses: tuple[Sense, ...] = ()
    note: str = ""
    editable: bool = True
    swapped: bool = False
    veto: str = ""
    preview: str = ""
    expected: Expectation | None = None
    corpus: Corpus | None = None


@dataclass(frozen=True, slots=True)
class Strip:
    """All that the component shows; `of` changes with the instance."""

    of: str
    blocks: Sequence[Block]
    history: History
    key: Key | None = None
    panel: Panel | None = None
    changed: bool = False
    pinned: bool = False


def checked_act(act: Mapping[str, Any]) -> dict[str, str | int]:
    """What the browser sent as a flat dictionary of texts and whole numbers; whatever else it holds is left out.

    A page sends what strip.js wrote; whoever speaks the websocket himself sends what he likes.
    """
    plain = plain_json.without_halves({name: value for name, value in act.items() if isinstance(name, str)})
    return {
        name: value
        for name, value in plain.items()
        if (isinstance(value, str) and len(value) <= LONGEST) or (type(value) is int and abs(value) <= MOST)
    }


def draw_strip(strip: Strip, key: str, take: Callable[[Act], None]) -> None:
    """Draws the strip; `take` is given what the reader does with it."""

    def acted() -> None:
        answer = st.session_state.get(key)
        act = answer.get("act") if answer is not None and hasattr(answer, "get") else None
        # A click may arrive after what it was on has gone.
        if isinstance(act, Mapping) and "do" in act:
            take(checked_act(act))

    _component()(key=key, data=asdict(strip), on_act_change=acted)


@st.cache_resource(show_spinner=False)
def _component() -> Callable[..., Any]:
    file = Path(__file__)
    component: Callable[..., Any] = st.components.v2.component(
        NAME,
        css=file.with_suffix(".css").read_text(encoding="utf-8"),
        js=file.with_suffix(".js").read_text(encoding="utf-8"),
        isolate_styles=False,
    )
    return component
