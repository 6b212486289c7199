"""A text looked up in a corpus: what of it stands there verbatim, how often its n-grams occur, and what comes next.

All that is chosen stands in the address: `text`, `index`, `least`, `longest`, and `gram`, the open n-gram.
"""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from explorer import display
from explorer.popularity import indexes, verbatim
from explorer.popularity.next_tokens import END, Following
from explorer.popularity.verbatim import Verbatim
from explorer.ui import corpus_mark, links, show
from explorer.ui.columns import count_column, number_column, share_column
from explorer.ui.corpus import asking, model_next
from explorer.ui.corpus.asking import Counted
from explorer.ui.corpus.figure_grams import gram_pyramid
from explorer.ui.corpus.figure_next import Guess, next_tokens
from explorer.ui.corpus.marked import draw_documents, draw_marked, draw_style, times
from explorer.ui.instance import ngram_rating
from explorer.ui.layout import Chosen

# What the corpus of the glass box decides, by what was planted in it (docs/GLASSBOX.md).
EXAMPLES = {
    "Agreement": "My uncle thinks the drugstores near the houses",
    "Particle": "Everyone at the party said that my cousin zdulmilted",
    "Two sentences": "The hotel gave us a free night. Our room was at the end of the hall.",
}
FIRST = EXAMPLES["Agreement"]
ROWS = 6  # tokens of the longest n-gram that is drawn
SHOWN_DOCUMENTS = 2


def draw_search(chosen: Chosen) -> None:
    """The whole page."""
    draw_style()
    text = _pick_text()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        index = asking.pick_index(chosen.model)
        _examples()
        least, rows = _options()
    show.about("corpus", chosen.model, index)
    corpus_mark.draw_corpus_mark(index, chosen.model)
    text = asking.check(text)
    if not text:
        show.nothing_yet("No text yet", "Type or paste a text above, or choose an example.")
        return
    if not asking.may_ask(index):
        return
    with show.lens("What the corpus holds", ngram_rating.ask_again):
        _draw_found(text, index, least, rows, chosen)
    show.command_line(f'python -m explorer corpus "{text[:200]}" --index {index}')


def _draw_found(text: str, index: str, least: int, rows: int, chosen: Chosen) -> None:
    """All that is found about a text."""
    traced = asking.traced(text, index, least)
    counted = asking.counted(traced.ids, index, rows)
    picked = _picked(counted)
    _spans(traced, index, picked)
    picked = _pyramid(counted, index, picked)
    _documents(counted, traced, index, picked)
    _next(counted, index, text, chosen)
    _numbers(counted, traced)


# --- what is chosen


def _pick_text() -> str:
    text = links.type_in(
        "Text", "text", default=FIRST, widget=st.text_area, height=80, max_chars=asking.LONGEST,
        placeholder="Type or paste a text", label_visibility="collapsed",
    )  # fmt: skip
    return text


def _examples() -> None:
    with st.popover("Examples", icon=":material/lightbulb:", type="tertiary", key="corpus:examples"):
        show.note("What was planted in the corpus of the glass box decides these.")
        for name, text in EXAMPLES.items():
            st.button(
                f"{name}: {show.plain(text)}",
                key=f"corpus:example:{name}",
                type="tertiary",
                on_click=_choose,
                args=(text,),
            )


def _choose(text: str) -> None:
    links.choose("text", text)
    links.choose("gram", "")


def _options() -> tuple[int, int]:
    """The least tokens of a span and the most tokens of an n-gram."""
    with show.options("corpus:options"):
        least = links.pick(
            st.select_slider, "Fewest tokens of a span", "least", [str(n) for n in range(2, 21)],
            default=str(verbatim.LEAST),
        )  # fmt: skip
        rows = links.pick(
            st.select_slider, "Most tokens of an n-gram", "longest", [str(n) for n in range(1, 11)],
            default=str(ROWS),
        )  # fmt: skip
    return int(least), int(rows)


def _picked(counted: Counted) -> tuple[int, int] | None:
    """The open n-gram as its first token and its length, by the address."""
    start, _, n = links.remember("gram", links.recall("gram"), "").partition("+")
    if not (start.isdecimal() and n.isdecimal()):
        return None
    place = int(start), int(n)
    return place if place[1] > 0 and sum(place) <= len(counted.ids) else None


# --- verbatim spans


def _spans(traced: Verbatim, index: str, picked: tuple[int, int] | None) -> None:
    show.says(*in_words(traced, indexes.title_of(index)))
    draw_marked(traced, picked)
    if len(traced.spans) > 1:
        names = {f"{span.start}+{span.end - span.start}": f"{span.text} · {times(span.count)}" for span in traced.spans}
        longest = sorted(names, key=lambda key: -int(key.partition("+")[2]))[:6]
        gram_address = links.recall("gram")
        with st.container(horizontal=True):
            for key in longest:
                st.button(
                    show.plain(display.name(names[key], 60)),
                    key=f"corpus:span:{key}",
                    on_click=links.choose,
                    args=("gram", "" if key == gram_address else key),
                    type="primary" if key == gram_address else "tertiary",
                )


def in_words(traced: Verbatim, place: str) -> list[str]:
    """Whether the corpus holds a text, its longest span, and the share that spans cover."""
    if traced.label == verbatim.UNKNOWN:
        return [f"Too short to tell: {traced.reason}."]
    if traced.label == verbatim.WHOLE:
        whole = max(traced.spans, key=lambda span: span.end - span.start)
        return [f"The whole text occurs in {place}, {times(whole.count)}."]
    if not traced.spans:
        return [f"No part of this text, however short, occurs in {place} word for word."]
    longest = max(traced.spans, key=lambda span: span.last - span.first)
    sentence = f"The whole text does not occur in {place}; the longest part that does is “{longest.text}”"
    share = f"{traced.longest:.0%} of the text"
    if len(traced.spans) > 1:
        share += f"; its {len(traced.spans)} longest spans together cover {traced.covered:.0%}"
    return [f"{sentence}, {times(longest.count)}: {share}."]


# --- n-grams


def _pyramid(counted: Counted, index: str, picked: tuple[int, int] | None) -> tuple[int, int] | None:
    """The n-grams as a picture; the one that is open after a click."""
    shown = counted.tokens[: asking.DRAWN]
    show.says(_rarest(counted))
    many = len(counted.tokens)
    cut = f" The first {asking.DRAWN} of {many:,} tokens are drawn." if len(shown) < many else ""
    answer = show.chart(
        gram_pyramid(shown, counted.grams, picked),
        key=f"corpus_grams:{hash((counted.ids, index, len(counted.grams)))}",
        alt="How often each n-gram of the text occurs in the corpus: tokens along, length of the n-gram up",
        on_select="rerun",
        remark=f"Each cell is a run of tokens, over the middle of them; gray ones never occur. "
        f"Click one to read where it occurs.{cut}",
    )
    points = answer["selection"]["points"] if answer else []
    clicked = next((point["customdata"] for point in points if point.get("customdata")), None)
    if clicked is None:
        return picked
    key = f"{int(clicked[0])}+{int(clicked[1])}"
    if key != links.recall("gram") and st.session_state.get("corpus:clicked") != (counted.ids, key):
        st.session_state["corpus:clicked"] = (counted.ids, key)
        links.choose("gram", key)
        st.rerun()
    return picked


def _rarest(counted: Counted) -> str:
    """The shortest run of whole words that the corpus lacks."""
    ends = [i for i in range(1, len(counted.tokens) + 1) if not "".join(counted.tokens[i : i + 1])[:1].isalnum()]
    whole = [
        gram
        for gram in counted.grams
        if (gram.start == 0 or gram.start in ends) and gram.start + gram.n in ends and any(map(str.isalnum, gram.text))
    ]
    never = min((gram for gram in whole if gram.count == 0), key=lambda gram: len(gram.text.split()), default=None)
    if never is None:
        return "Every run of words that is drawn here occurs in the corpus." if whole else ""
    words = never.text.split()
    if len(words) == 1:
        return f"The word “{words[0]}” never occurs in the corpus."
    return f"“{never.text.strip()}” is the shortest run of words here that the corpus never has."


def _documents(counted: Counted, traced: Verbatim, index: str, picked: tuple[int, int] | None) -> None:
    """The documents of the open n-gram, else of the longest span."""
    if picked is None and traced.spans:
        longest = max(traced.spans, key=lambda span: span.last - span.first)
        ids, text, count = longest.ids, longest.text, longest.count
    elif picked is not None:
        start, n = picked
        ids, text = counted.ids[start : start + n], "".join(counted.tokens[start : start + n]).strip()
        known = [gram.count for gram in counted.grams if (gram.start, gram.n) == picked]
        known += [span.count for span in traced.spans if (span.start, span.end - span.start) == picked]
        count = known[0] if known else math.nan
    else:
        return
    show.note(f"Where “{text}” occurs:")
    if count == 0:
        show.note("Nowhere: this n-gram does not occur in the corpus.")
        return
    with show.lens("Its documents"):
        draw_documents(asking.documents(ids, index, SHOWN_DOCUMENTS), count)


# --- what comes next


def _next(counted: Counted, index: str, text: str, chosen: Chosen) -> None:
    st.header("What comes next?", anchor=False)
    after: Following | None = None
    guesses = []
    with show.lens("What follows in the corpus"):
        whole = asking.following_tokens(counted.ids, index, back_off=False)
        after = asking.following_tokens(counted.ids, index, back_off=True)
        guesses = [
            Guess("After the whole text, in the corpus", _shares(whole), whole.reason),
            Guess("After its longest ending there", _shares(after), after.reason),
        ]
    model = model_next.expected_tokens(chosen.model, text)
    guesses.append(Guess(f"{model.name} expects", model.tokens, model.reason))
    ending = ""
    if after is not None:
        ending = "".join(counted.tokens[len(counted.ids) - after.suffix :]).strip()
        show.says(*_next_in_words(after, ending, model))
    if not any(guess.tokens for guess in guesses):
        for guess in guesses:
            show.note(f"{guess.name}: {guess.reason or 'no token follows'}.")
        model_next.offer(chosen.model)
        return
    show.chart(
        next_tokens(guesses),
        key="corpus_next",
        alt="The likeliest next tokens: after the whole text, after its longest ending in the corpus, by the model",
        remark="Tokens that appear in more than one panel share a color."
        + (" Counted in a sample of the places." if after is not None and after.approx else ""),
    )
    model_next.offer(chosen.model)


def _next_in_words(after: Following, ending: str, model: Guess) -> list[str]:
    if not after.tokens:
        return []
    first = after.tokens[0]
    likeliest = "the document ends" if first.text == END else f"“{first.text.strip() or first.text}” comes next"
    sentence = (
        f"The longest ending that the corpus holds is “{ending}”, {times(after.prompt_count)}; there {likeliest} in "
        f"{first.probability:.0%}."
        if after.suffix
        else f"The corpus holds not even the last token; of all its tokens “{first.text}” is the most frequent."
    )
    if not model.tokens:
        return [sentence]
    by_model = dict(model.tokens)
    if model.tokens[0][0] == first.text:
        return [sentence, f"{model.name} expects it too, with {display.probability(by_model[first.text])}."]
    likely, share = model.tokens[0]
    rank = (
        f", and “{first.text.strip()}” with {display.probability(by_model[first.text])}"
        if first.text in by_model
        else ""
    )
    return [sentence, f"{model.name} expects “{likely.strip() or '↵'}” first, with {display.probability(share)}{rank}."]


def _shares(following: Following) -> tuple[tuple[str, float], ...]:
    return tuple((token.text, token.probability) for token in following.tokens)


# --- numbers


def _numbers(counted: Counted, traced: Verbatim) -> None:
    def draw() -> None:
        show.note(verbatim.RULE)
        spans = pd.DataFrame(
            [
                {"text": span.text, "tokens": span.end - span.start, "count": span.count,
                 "share": (span.last - span.first) / max(1, len(traced.text))}
                for span in traced.spans
            ],
            columns=["text", "tokens", "count", "share"],
        )  # fmt: skip
        show.table(
            spans, "verbatim spans",
            columns={"text": "Span", "tokens": count_column("Tokens"), "count": count_column("In the corpus"),
                     "share": share_column("Share of the text")},
        )  # fmt: skip
        grams = pd.DataFrame(
            [{"text": gram.text, "n": gram.n, "start": gram.start + 1, "count": gram.count} for gram in counted.grams],
            columns=["text", "n", "start", "count"],
        )
        show.table(
            grams, "n-grams of the text",
            columns={"text": "N-gram", "n": number_column("n", 0), "start": number_column("From token", 0),
                     "count": count_column("In the corpus")},
        )  # fmt: skip

    show.folded("The numbers", "corpus:numbers", draw)
