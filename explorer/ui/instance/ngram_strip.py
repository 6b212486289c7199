"""The n-gram strip: every token colored by the popularity of the n-grams that cover it, down to the documents.

ngram_strip.draw_ngram_strip(instance, model)    in any page: a panel with the deciles' picker, the strip of
                                                 each option, the n-grams over the token that was clicked, and a text
                                                 of the reader's own
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from explorer import display, prompts
from explorer.popularity.counter import Document
from explorer.records import Instance
from explorer.ui import links, show, token_view
from explorer.ui import scored_options as answers
from explorer.ui.clickable import clickable
from explorer.ui.columns import count_column, text_column
from explorer.ui.instance import ngram_rating
from explorer.ui.instance.corpus_note import corpus_note
from explorer.ui.instance.ngram_rating import Rated, RatedNgram, Source, shown_count

HIGHEST = 10
AROUND = 220  # characters of a document on either side of an n-gram
SHOWN_NGRAMS = 4  # in a token's hover


@st.fragment
def draw_ngram_strip(instance: Instance, model: str) -> None:
    """The popularity of an instance's texts, token by token."""
    st.html(f"<style>{style()}</style>")
    with show.lens("Popularity, token by token,", ngram_rating.ask_again):
        source = pick_source(instance.benchmark, model)
        if source is None:
            return
        corpus_note(source.edges, model)
        texts = list(dict.fromkeys(prompts.option_texts(instance)))
        rated = ngram_rating.rate(texts, source)
        for number, one in enumerate(rated):
            _option(instance, number, one, rated)
        st.html(key(source))
        _picked(rated, source, f"ngram:{instance.id}")
        _own_text(instance, texts[0], source)


def pick_source(benchmark: str, model: str) -> Source | None:
    """The deciles to rate by: a stored run's that fit the index, or where there are none, what can be counted now."""
    stored = ngram_rating.stored(benchmark, model)
    if stored.sources:
        chosen = links.pick(
            st.selectbox,
            "Rated by",
            "deciles",
            list(stored.sources),
            format_func=lambda run_id: stored.sources[run_id].title,
        )
        return stored.sources[chosen]
    few = ngram_rating.can_count(benchmark)
    if stored.unfit and few:
        source = ngram_rating.own_source(benchmark)
        show.note(f"Rated by what is counted now: {stored.unfit}")
        return source
    if f"ngram:counted:{benchmark}" not in st.session_state:
        show.nothing_yet(
            "Nothing to rate by yet",
            "Popularity is a decile among the n-grams of a set of instances, so a run has to count them first"
            + (", or they are counted here in the demonstration corpus." if few else ".")
            + (f" Those that are stored do not fit: {stored.unfit}" if stored.unfit else ""),
            f"python -m explorer run popularity --model {model} --benchmark {benchmark}",
        )
        if not few or not st.button("Count them now", icon=":material/bolt:", key="ngram:count"):
            return None
        st.session_state[f"ngram:counted:{benchmark}"] = True
    return ngram_rating.own_source(benchmark)


def strip_html(rated: Rated, number: int = 0, picked: int | None = None) -> str:
    """A button a token, tinted by its popularity; its hover tells the n-grams over it with their counts."""
    boxes = [_box(rated, place, number, place == picked) for place in range(len(rated.tokens))]
    return f'<div class="lx-strip" role="group" aria-label="Tokens by popularity">{"".join(boxes)}</div>'


def key(source: Source) -> str:
    """The legend of the tints."""
    return (
        f'<div class="lx-key"><span>popularity of the {source.edges.n}-grams over a token</span><span>1</span>'
        f'<span class="lx-ramp lx-ramp-pop"></span><span>{HIGHEST}</span><span>· click a token for its n-grams</span>'
        "</div>"
    )


def describe(rated: Rated) -> str:
    """The IPS of a text in words."""
    if math.isnan(rated.ips.value):
        return f"no IPS: {rated.ips.reason}"
    return f"IPS {rated.ips.value:.2f} over {rated.ips.ngrams} distinct {rated.n}-grams"


def style() -> str:
    """The style sheet of strips and lab."""
    return _style(Path(__file__).with_name("lexical.css"))


@st.cache_data(max_entries=1, show_spinner=False)
def _style(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _option(instance: Instance, number: int, rated: Rated, others: Sequence[Rated]) -> None:
    name = answers.option_name(instance, number) if instance.kind != "regions" else instance.conditions[number].name
    remark = describe(rated)
    if number == instance.gold and len(others) > 1:
        difference = _difference(others, number)
        remark += f", relative difference {display.points(difference)}%" if difference == difference else ""
    st.html(f'<p class="lx-option"><b>{html.escape(name)}</b><span class="lx-quiet">{html.escape(remark)}</span></p>')
    picked = st.session_state.get(f"ngram:{instance.id}")
    place = picked[1] if picked and picked[0] == number else None
    clickable(strip_html(rated, number, place), f"strip:{instance.id}:{number}", _picker(f"ngram:{instance.id}"))


def _picker(name: str) -> Callable[[str], None]:
    """Keeps under this name which token of which text was clicked."""

    def pick(value: str) -> None:
        number, _, place = value.partition(":")
        st.session_state[name] = (int(number), int(place))

    return pick


def _difference(rated: Sequence[Rated], gold: int) -> float:
    from explorer.popularity.ips import relative_difference

    return relative_difference([one.ips for one in rated], gold)[0]


def _box(rated: Rated, place: int, number: int, picked: bool) -> str:
    text, value = rated.tokens[place], rated.popularity[place]
    known = not math.isnan(value)
    kinds = ["lx-token", "lx-pop"]
    kinds += ["lx-word"] if text[:1].isspace() else []
    kinds += ["lx-picked"] if picked else []
    kinds += [] if known else ["lx-unscored"]
    covering = sorted(rated.covering(place), key=lambda one: (math.isnan(one.count), -one.count))
    lines = [
        f"“{token_view.visible(text)}”, popularity {value:.1f}" if known else f"“{token_view.visible(text)}”: no n-gram"
    ]
    lines += [f"{shown_count(one.count)} × “{one.text.strip()}”" for one in covering[:SHOWN_NGRAMS]]
    lines += [f"and {len(covering) - SHOWN_NGRAMS} more"] if len(covering) > SHOWN_NGRAMS else []
    tint = (value - 1) / (HIGHEST - 1) if known else 0.0
    shown = token_view.visible(text.removeprefix(" ") or text)
    return (
        f'<button type="button" class="{" ".join(kinds)}" data-pick="{number}:{place}" style="--tint:{tint:.3f}"'
        f' aria-pressed="{str(picked).lower()}" aria-label="{html.escape(", ".join(lines), quote=True)}">'
        f'<span class="lx-text" aria-hidden="true">{html.escape(shown)}</span>'
        f'<span class="lx-number" aria-hidden="true">{display.number(value, 1) if known else display.MISSING}</span>'
        f'<span class="lx-tip" aria-hidden="true">{"<br>".join(html.escape(line) for line in lines)}</span></button>'
    )


def _picked(rated: Sequence[Rated], source: Source, name: str) -> None:
    """The n-grams over the token that was clicked; one of them opens its documents."""
    picked = st.session_state.get(name)
    if picked is None or picked[0] >= len(rated) or picked[1] >= len(rated[picked[0]].tokens):
        return
    one = rated[picked[0]]
    covering = one.covering(picked[1])
    if not covering:
        return
    show.section(f"n-grams over “{one.tokens[picked[1]].strip()}”")
    table = pd.DataFrame(
        {
            "text": [each.text.strip() for each in covering],
            "count": [each.count for each in covering],
            "popularity": [each.popularity for each in covering],
            "reason": [each.reason for each in covering],
        }
    )
    columns: dict[str, Any] = {
        "text": text_column("n-gram", width="large"),
        "count": count_column("Occurrences"),
        "popularity": count_column("Popularity", "1 (rarest tenth) to 10"),
    }
    if any(table["reason"]):
        columns["reason"] = "Remark"
    rows = show.table(
        table,
        f"n-grams {name} {picked}",
        columns=columns,
        caption="The n-grams over a token, with their counts",
        picks=f"{name}:{picked}",
    )
    if rows:
        with show.lens("Documents"):
            _documents(covering[rows[0]], source)
    else:
        show.note("Select a row to read the documents that hold the n-gram.")


def _documents(ngram: RatedNgram, source: Source) -> None:
    if not ngram.count > 0:
        show.note("This n-gram does not occur in the corpus, so there is no document to show.")
        return
    documents = ngram_rating.documents(source.index, ngram.ids)
    if not documents:
        show.note("The index does not show its documents.")
    for document in documents:
        st.html(document_html(document))
    if ngram.count > len(documents) > 0:
        show.note(f"The first {len(documents)} of {shown_count(ngram.count)} places.")


def document_html(document: Document) -> str:
    """A document around the n-gram, which is marked; where it stands is told below."""
    pieces = []
    for number, (text, is_ngram) in enumerate(document.pieces):
        if is_ngram:
            pieces.append(f"<mark>{html.escape(text)}</mark>")
        else:
            first, last = number == 0, number == len(document.pieces) - 1
            pieces.append(html.escape(_shortened(text, from_left=first, from_right=last)))
    where = f"{document.source or f'document {document.number:,}'} · {document.tokens:,} tokens"
    return f'<div class="lx-document">{"".join(pieces)}<span class="lx-quiet">{html.escape(where)}</span></div>'


def _shortened(text: str, *, from_left: bool, from_right: bool) -> str:
    if len(text) <= 2 * AROUND:
        return text
    if from_left and not from_right:
        return f"… {text[-AROUND:]}"
    if from_right and not from_left:
        return f"{text[:AROUND]} …"
    return f"{text[:AROUND]} … {text[-AROUND:]}"


def _own_text(instance: Instance, text: str, source: Source) -> None:
    """A text of the reader's own, rated by the same deciles."""
    show.section("Another text, by the same deciles")
    typed = st.text_area(
        "Another text", text, key=f"ngram:own:{instance.id}", height="content", label_visibility="collapsed"
    )
    if not typed.strip() or typed == text:
        show.note("Change the text and press Ctrl+Enter: it is counted and rated at once.")
        return
    before, after = ngram_rating.rate([text, typed], source)
    st.html(
        f'<p class="lx-option"><b>Changed</b><span class="lx-quiet">{html.escape(_change(before, after))}</span></p>'
    )
    name = f"ngram:own:{instance.id}:picked"
    picked = st.session_state.get(name)
    clickable(strip_html(after, 0, picked[1] if picked else None), f"strip:own:{instance.id}", _picker(name))
    _picked([after], source, name)


def _change(before: Rated, after: Rated) -> str:
    difference = after.ips.value - before.ips.value
    if math.isnan(difference):
        return describe(after)
    return f"{describe(after)}, originally {before.ips.value:.2f} ({display.number(difference, signed=True)})"
