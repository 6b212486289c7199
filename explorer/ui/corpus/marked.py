"""A text with what the corpus holds of it marked, and documents with a match marked, as HTML."""

from __future__ import annotations

import html
import itertools
from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from explorer import display
from explorer.popularity import indexes
from explorer.popularity.counter import Document
from explorer.popularity.verbatim import Verbatim
from explorer.ui import show

AROUND = 140  # characters of a document on either side of a match


def draw_style() -> None:
    """The style sheet of marked texts, once on a page."""
    st.html(f"<style>{_style(Path(__file__).with_name('corpus.css'))}</style>")


@st.cache_data(max_entries=1, show_spinner=False)
def _style(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def draw_marked(traced: Verbatim, picked: tuple[int, int] | None = None) -> None:
    """The text, each span underlined; where spans lie over one another the ground is darker."""
    st.html(_marked_html(traced, picked))


def _marked_html(traced: Verbatim, picked: tuple[int, int] | None) -> str:
    borders = sorted({0, len(traced.text), *(place for span in traced.spans for place in (span.first, span.last))})
    parts = []
    for start, end in itertools.pairwise(borders):
        over = [span for span in traced.spans if span.first <= start and end <= span.last]
        text = html.escape(traced.text[start:end])
        if not over:
            parts.append(text)
            continue
        spans_in_words = "; ".join(f"“{span.text}” {times(span.count)}" for span in over)
        kind = "lx-held lx-twice" if len(over) > 1 else "lx-held"
        if picked in [(span.start, span.end - span.start) for span in over]:
            kind += " lx-picked"
        parts.append(f'<mark class="{kind}" title="{html.escape(spans_in_words, quote=True)}">{text}</mark>')
    return f'<p class="lx-sentence lx-traced">{"".join(parts)}</p>'


def draw_documents(documents: Sequence[Document], count: float) -> None:
    """Documents with their match marked, cut where they are long."""
    for document in documents:
        st.html(
            f'<div class="lx-document"><p>{_around(document)}</p>'
            f'<p class="lx-quiet lx-note">{html.escape(place_of(document))}</p></div>'
        )
    if count > len(documents):
        shown = f"first {len(documents)}" if len(documents) > 1 else "first"
        show.note(f"The {shown} of {display.count(count)} places.")


def place_of(document: Document) -> str:
    """Where a document stands, in words: its corpus or file and its number there, and its length."""
    file, _, number = document.source.rpartition(":")
    if file and number.isdecimal():
        # In these indexes the corpus itself stands in the place of a file.
        title = "Glass box" if file == indexes.GLASSBOX else file
        place = f"{title}, document {int(number):,}"
    else:
        place = document.source or f"document {document.number:,}"
    return f"{place} · {document.tokens:,} tokens"


def _around(document: Document) -> str:
    first = next((i for i, (_, is_match) in enumerate(document.pieces) if is_match), 0)
    before = "".join(text for text, _ in document.pieces[:first])
    match = document.pieces[first][0] if document.pieces else ""
    words = match.lstrip(" ")  # the blank before a word is no part of what is marked
    before, match = before + match[: len(match) - len(words)], words
    after = "".join(text for text, _ in document.pieces[first + 1 :])
    # The line before and the line after: where lines are short texts of their own, further ones tell of other things.
    near, on = "\n".join(before.split("\n")[-2:])[-AROUND:], "\n".join(after.split("\n")[:2])[:AROUND]
    head = f"… {near}" if len(near) < len(before) else before
    tail = f"{on} …" if len(on) < len(after) else after
    return f"{html.escape(head)}<mark>{html.escape(match)}</mark>{html.escape(tail)}".replace("\n", "<br>")


def times(count: float) -> str:
    """A count as a sentence ends with it."""
    if count != count:
        return "an unknown number of times"
    return "once" if count == 1 else "twice" if count == 2 else f"{display.count(count)} times"
