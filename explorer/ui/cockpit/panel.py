"""The panel of the open word: its senses and synonyms, what the model expected in its place, and its n-grams."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from explorer import display, numbers
from explorer.errors import ExplorerError
from explorer.popularity import indexes
from explorer.popularity.counter import Document
from explorer.records import Instance
from explorer.scoring import http
from explorer.ui import layout, links, live
from explorer.ui.cockpit import edits, layers, scores, state, words
from explorer.ui.cockpit.effects import Effect
from explorer.ui.cockpit.layers import PlacedToken, Row
from explorer.ui.cockpit.words import Span, Words
from explorer.ui.corpus.marked import place_of
from explorer.ui.instance import ngram_rating
from explorer.ui.instance.ngram_rating import Rated, RatedNgram, Source, shown_count
from explorer.ui.strip.strip import Corpus, Expectation, Expected, Gram, Page, Panel, Sense, Synonym
from explorer.variants import fields
from explorer.variants.swappable import SenseView, WordView
from explorer.variants.synonyms import Candidate

CLASSES = {"n": "noun", "v": "verb"}
PREVIEW = "See what each would do to the margin"
PIECES = (
    "A token is a word or its first piece; one with … goes on with the word before. A click puts it here as a word."
)
PIECES_WITHIN = "One with … goes on with “{before}”. A click makes that the word."
READ = "Occurrences, and popularity from 1 to 10."
AROUND = 220  # characters of a document on either side of an n-gram


@dataclass(frozen=True, slots=True)
class Open:
    """The open word: where it stands in the shown instance, its span if it can be swapped, the token clicked.

    before    what stands of the word before the token: "O" where "ut" of "Outside" was clicked
    """

    part: str
    start: int
    text: str
    before: str
    span: Span | None
    row: Row | None
    token: PlacedToken | None


def find_open(instance: Instance, rows: Sequence[Row], spans: Sequence[Span]) -> Open | None:
    """The word that the address says is open; none where none is, or it has gone."""
    word, token = links.recall(state.WORD), links.recall(state.TOKEN)
    if not word:
        return None
    part, _, place = (word if "@" in word else token).rpartition("@")
    start = numbers.whole_or(place, -1)
    span = None
    if "@" not in word:
        with_key = [span for span in spans if span.key == word]
        if not with_key:
            return None
        # A link may name the word alone; a swap before it may have moved it.
        in_row = [span for span in with_key if span.part == part] or with_key
        span = min(in_row, key=lambda span: abs(span.start - start))
        if not span.start <= start < span.end or span.part != part:
            part, start = span.part, span.start
    else:
        span = next((span for span in spans if span.part == part and span.start <= start < span.end), None)
    text = fields.field_texts(instance).get(part, "")
    word_found = edits.word_at(text, start)
    if word_found is None:
        return None
    shown = text[span.start : span.end] if span else word_found.text
    row, placed = _token(rows, part, start)
    before = text[word_found.start : placed.start] if placed else ""
    return Open(part, start, shown, before, span, row, placed)


def _token(rows: Sequence[Row], part: str, start: int) -> tuple[Row | None, PlacedToken | None]:
    for row in rows:
        for token in row.tokens:
            if token.part == part and token.start <= start < max(token.end, token.start + 1):
                return row, token
    return None, None


def panel(
    opened: Open,
    read: Words | None,
    swaps: Mapping[str, str],
    model: str,
    scoring: Mapping[str, Any],
    source: Source | None,
    rated: Sequence[Rated],
    *,
    primed: bool,
    change: edits.Change | None,
    why_no_words: str = "",
    told: Mapping[str, Effect] | None = None,
    verdict: str = "",
    may_tell: bool = False,
) -> Panel:
    """All about the open word; `told` is what its synonyms do, `verdict` that of now."""
    span = opened.span
    view = read.offered.get(span.key) if read and span else None
    senses = _senses(view, swaps.get(span.key, ""), source, told or {}, verdict) if view and span else ()
    about = f"{CLASSES[view.pos]}, {view.lemma}" if view else ""
    # Typed over and then swapped, it was what stands in the benchmark.
    was = change.was if change and change.was else span.was if span else ""
    note = why_no_words
    if not note and not senses:
        note = "It has no synonym that fits here; type another word, or take one that the model expected."
    return Panel(
        id=f"{links.recall(state.WORD)}|{links.recall(state.TOKEN)}",
        title=opened.text,
        about="; ".join(filter(None, [about, f"was “{was}”" if was else ""])),
        heading=_heading(senses),
        senses=senses,
        note=note if not senses else _more(view),
        editable=True,
        swapped=bool(was or change),
        veto=view.lemma if view else "",
        preview=PREVIEW if senses and may_tell and told is None else "",
        expected=_expected_tokens(opened, model, scoring, primed=primed),
        corpus=_corpus(opened, source, rated),
    )


# --- synonyms


def _heading(senses: Sequence[Sense]) -> str:
    counted = any(synonym.count for sense in senses for synonym in sense.synonyms)
    return ("Swap it for (how often it is in the corpus)" if counted else "Swap it for") if senses else "Change it"


def _senses(
    view: WordView, substitute: str, source: Source | None, told: Mapping[str, Effect], verdict: str
) -> tuple[Sense, ...]:
    counts = words.counts(forms_of(view), source.index) if source and not indexes.is_remote(source.index) else {}
    shown = sorted(
        (sense for sense in view.senses if sense.chosen or sense.offered), key=lambda sense: not sense.chosen
    )
    return tuple(_sense(sense, view, substitute, counts, told, verdict) for sense in shown)


def forms_of(view: WordView) -> list[str]:
    """Every synonym on offer, in the form it would be written."""
    return list(dict.fromkeys(candidate.form for sense in view.senses for candidate in sense.offered))


def _sense(
    sense: SenseView,
    view: WordView,
    substitute: str,
    counts: Mapping[str, float],
    told: Mapping[str, Effect],
    verdict: str,
) -> Sense:
    excluded = "; ".join(f"{candidate.lemma} ({candidate.reason})" for candidate in sense.excluded)
    synonyms = tuple(
        _with_effect(_synonym(synonym, synonym.lemma == substitute, counts), told.get(synonym.lemma), verdict)
        for synonym in sense.offered
    )
    return Sense(
        definition=sense.sense.definition,
        chosen=sense.chosen,
        why=f"{sense.sense.synset}, score {sense.score:.3f}" + (f": {view.why}" if sense.chosen else ""),
        synonyms=synonyms,
        excluded=f"Not offered: {excluded}" if excluded else "" if synonyms else "No synonym of this sense fits here.",
    )


def _synonym(candidate: Candidate, picked: bool, counts: Mapping[str, float]) -> Synonym:
    known = candidate.form in counts
    count = shown_count(counts[candidate.form]) if known else ""
    often = f"{candidate.form} occurs {count} times in the corpus; click to put it in"
    return Synonym(
        candidate.form,
        candidate.lemma,
        f"{count}×" if known else "",
        picked,
        often if known else "put this word in its place",
    )


def _with_effect(synonym: Synonym, effect: Effect | None, verdict: str) -> Synonym:
    """The word on offer with its margin, and what the verdict turns to where it turns."""
    if effect is None or math.isnan(effect.margin):
        return synonym
    turns = effect.verdict if effect.verdict != verdict and effect.verdict in ("right", "wrong") else ""
    margin = display.nats(effect.margin, signed=True)
    return replace(
        synonym, effect=f"{display.number(effect.margin, signed=True)}{f' {turns}' if turns else ''}", turns=turns,
        say=f"{synonym.say}; the margin would be {margin}{f', which is {turns}' if turns else ''}",
    )  # fmt: skip


def _more(view: WordView | None) -> str:
    if view is None:
        return ""
    hidden = sum(not (sense.chosen or sense.offered) for sense in view.senses)
    noun = "sense has" if hidden == 1 else "senses have"
    return f"{hidden} more {noun} no synonym that fits here." if hidden else ""


# --- what the model expected


def _expected_tokens(opened: Open, model: str, scoring: Mapping[str, Any], *, primed: bool) -> Expectation:
    heading = "The model's ten likeliest tokens here"
    if opened.row is None or opened.token is None:
        return Expectation(heading, note="Here the text is given to the model, not scored.")
    if http.is_endpoint(model):
        return Expectation(heading, note="The server behind this model does not say what else it expected.")
    if not scores.can_expect(model):
        if why := live.why_unknown(model):
            return Expectation(heading, note=why)
        title = layout.model_title(model)
        note = f"{title} is not loaded: {live.beginning(model)}."
        return Expectation(heading, note=note, offer=f"Ask {title}")
    option = opened.row.asked
    try:
        ranked = scores.expected_tokens(
            model, option.context, option.continuation, opened.token.number, scoring, primed=primed
        )
    except ExplorerError as error:
        return Expectation(heading, note=str(error))
    at_start = opened.token.start == 0
    tokens = [
        Expected(
            ("…" if _goes_on(candidate.text, at_start=at_start) else "") + layers.shown_token(candidate.text) or "∅",
            "" if candidate.stands else _word_of(candidate.text, opened.before, at_start=at_start),
            display.probability(candidate.probability),
            candidate.probability,
            candidate.stands,
        )
        for candidate in ranked
    ]
    return Expectation(heading, tuple(tokens), PIECES_WITHIN.format(before=opened.before) if opened.before else PIECES)


def _goes_on(token: str, *, at_start: bool) -> bool:
    """Whether a token goes on with the word before it."""
    return not at_start and token[:1].isalnum()


def _word_of(token: str, before: str, *, at_start: bool) -> str:
    """The word that a token makes at this place, after what stands of the word before it; "" where it makes none."""
    bare = token.strip()
    if not bare.isalpha() or (before and not before.isalpha()):
        return ""
    if before:
        return before + bare if _goes_on(token, at_start=at_start) else ""
    return bare if at_start or token[:1].isspace() else ""


# --- its n-grams


def grams(opened: Open, rated: Sequence[Rated]) -> list[RatedNgram]:
    """The n-grams over the open token."""
    if opened.token is None or opened.token.option >= len(rated):
        return []
    return layers.grams_over(opened.token, rated[opened.token.option])


def _corpus(opened: Open, source: Source | None, rated: Sequence[Rated]) -> Corpus | None:
    if source is None or not rated:
        return None
    heading = f"Its {source.edges.n}-grams in {source.place}"
    covering = grams(opened, rated)
    if not covering:
        return Corpus(heading, note="No n-gram covers it.")
    wanted = st.session_state.get(state.GRAM, -1)
    documents: tuple[Page, ...] = ()
    note = f"{READ} Choose one to read where it occurs." if any(gram.count > 0 for gram in covering) else READ
    if 0 <= wanted < len(covering):
        try:
            documents, note = _documents(covering[wanted], source)
        except (ExplorerError, OSError, AttributeError) as error:
            note = f"Its documents cannot be shown: {error}"
    shown = tuple(
        Gram(gram.text.strip(), shown_count(gram.count), display.number(gram.popularity, 1), place == wanted)
        for place, gram in enumerate(covering)
    )
    return Corpus(heading, shown, documents, note)


def _documents(gram: RatedNgram, source: Source) -> tuple[tuple[Page, ...], str]:
    if not gram.count > 0:
        return (), "This n-gram does not occur in the corpus, so there is no document to show."
    pages = ngram_rating.documents(source.index, gram.ids)
    if not pages:
        return (), "The index does not show its documents."
    more = gram.count > len(pages)
    note = f"The first {len(pages)} of {shown_count(gram.count)} places." if more else ""
    return tuple(page_of(document) for document in pages), note


def page_of(document: Document) -> Page:
    """A document around the n-gram, cut where it is long; where it stands is told below."""
    pieces = []
    for number, (text, is_gram) in enumerate(document.pieces):
        first, last = number == 0, number == len(document.pieces) - 1
        pieces.append((text if is_gram else _shortened(text, from_left=first, from_right=last), is_gram))
    return Page(tuple(pieces), place_of(document))


def _shortened(text: str, *, from_left: bool, from_right: bool) -> str:
    if len(text) <= 2 * AROUND:
        return text
    if from_left and not from_right:
        return f"… {text[-AROUND:]}"
    if from_right and not from_left:
        return f"{text[:AROUND]} …"
    return f"{text[:AROUND]} … {text[-AROUND:]}"
