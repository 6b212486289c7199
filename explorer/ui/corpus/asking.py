"""What a page asks of an index about one text, each answer kept, and nothing of a service before somebody says so."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from explorer.errors import CountError
from explorer.popularity import indexes, verbatim
from explorer.popularity.counter import Document, TokenIndex
from explorer.popularity.next_tokens import Following
from explorer.popularity.verbatim import Verbatim
from explorer.settings import Settings
from explorer.ui import corpus_mark, links, resources, show, visitor
from explorer.ui.corpus.figure_grams import Gram
from explorer.ui.instance import ngram_rating
from explorer.variants import wordnet

ASKED = "corpus:indexes"  # in the session: services that the reader said yes to, and indexes to be built
DRAWN = 60  # tokens of a text whose n-grams are counted
LONGEST = 2_000  # characters of a text


@dataclass(frozen=True, slots=True)
class Counted:
    """A text in the index's tokens, and the counts of its n-grams of 1 to some tokens, of its first DRAWN tokens."""

    ids: tuple[int, ...]
    tokens: tuple[str, ...]
    grams: tuple[Gram, ...]


def default_index(model: str) -> str:
    """The index of this machine that holds what the model was trained on; else that of the glass box."""
    names = corpus_mark.local_names(resources.settings())
    return next((name for name in names if indexes.is_pretraining_data(name, model)), names[0])


def may_ask(index: str) -> bool:
    """Whether an index may be asked now; else a button asks, and what it takes stands beside it."""
    if index in st.session_state.get(ASKED, ()):
        return True
    if indexes.is_remote(index):
        warning, label = f"The texts go to the service behind {index}, about five questions a second.", "Ask it"
    elif index == indexes.GLASSBOX and not ngram_rating.is_built(index):
        if wordnet.find_wordnet(resources.settings()) is not None:
            return True  # built from what is here, in seconds
        warning = f"The index of {indexes.title_of(index)} is made of WordNet, which is not on this machine yet."
        label = "Fetch WordNet and build it"
    else:
        return True
    with st.container(horizontal=True, vertical_alignment="center"):
        show.note(warning)
        st.button(label, key=f"corpus:ask:{index}", type="primary", on_click=_say_yes, args=(index,))
    return False


def _say_yes(index: str) -> None:
    st.session_state[ASKED] = {*st.session_state.get(ASKED, ()), index}
    ngram_rating.ask_again()


def check(text: str) -> str:
    """The text without blanks around it; CountError where it is longer than a page can show."""
    if len(text) > LONGEST:
        raise CountError(
            f"The text has {len(text):,} characters, expected at most {LONGEST:,}. Search for a part of it, or look it "
            "up from the command line (corpus)."
        )
    return text.strip()


def counted(ids: tuple[int, ...], index: str, longest: int) -> Counted:
    """The n-grams of a text in the index's tokens, and their counts."""
    return ngram_rating.patiently(index, lambda: _counted(ids, index, longest, resources.settings()))


@st.cache_data(max_entries=128, show_spinner="Counting the text's n-grams")
def _counted(ids: tuple[int, ...], index: str, longest: int, settings: Settings) -> Counted:
    counter = _counter(index)
    tokens = counter.decode(ids)
    many = min(len(ids), DRAWN)
    places = [(start, n) for n in range(1, longest + 1) for start in range(many - n + 1)]
    counts = counter.count([ids[start : start + n] for start, n in places])
    if counts and all(math.isnan(count.count) for count in counts):
        raise CountError(f"{index} gave no count: {counts[0].reason}.")
    grams = tuple(
        Gram(start, n, "".join(tokens[start : start + n]), counted.count)
        for (start, n), counted in zip(places, counts, strict=True)
    )
    return Counted(ids, tokens, grams)


def traced(text: str, index: str, least: int = verbatim.LEAST) -> Verbatim:
    """The text's verbatim spans and its label."""
    return ngram_rating.patiently(index, lambda: _traced(text, index, least, resources.settings()))


@st.cache_data(max_entries=256, show_spinner="Looking for spans of the text in the corpus")
def _traced(text: str, index: str, least: int, settings: Settings) -> Verbatim:
    return verbatim.trace_text(_counter(index), text, least=least)


def following_tokens(ids: Sequence[int], index: str, *, back_off: bool) -> Following:
    """What follows these tokens in the corpus; CountError of an index over characters, which has no tokens."""
    if index.startswith(indexes.MINI):
        raise CountError("an index over characters has no next tokens. Choose an index of tokens.")
    return ngram_rating.patiently(index, lambda: _following_tokens(tuple(ids), index, back_off, resources.settings()))


@st.cache_data(max_entries=128, show_spinner=False)
def _following_tokens(ids: tuple[int, ...], index: str, back_off: bool, settings: Settings) -> Following:
    return _counter(index).following(ids, back_off=back_off)


def documents(ids: Sequence[int], index: str, limit: int) -> list[Document]:
    """The first places of the corpus that hold these tokens."""
    return ngram_rating.documents(index, ids, limit)


def _counter(index: str) -> TokenIndex:
    return resources.resources().counter(index)  # type: ignore[return-value]


def pick_index(model: str) -> str:
    """The name of the index: one of this machine, the service's one that fits the model, or any other typed in."""
    local_indexes = corpus_mark.local_names(resources.settings())
    fitting = indexes.suggest_index(model)
    known = list(
        dict.fromkeys([default_index(model), *local_indexes, *([fitting] if fitting else []), *indexes.INDEXES])
    )
    wish = links.recall("index")
    names = list(dict.fromkeys([*known, *([wish] if wish else [])]))
    return links.pick(
        st.selectbox, "Index", "index", names, default=known[0], format_func=_title, accept_new_options=True,
        on_pick=visitor.allow, width=330,
        help="One of this machine, one of a service, a folder, or http://host:port#name: type it and press Enter.",
    )  # fmt: skip


def _title(index: str) -> str:
    if index == indexes.GLASSBOX or indexes.is_former(index):
        return indexes.title_of(index)
    known = indexes.INDEXES.get(index)
    if known is None:
        return index
    month = index.rpartition("_cc_")[2] if "_cc_" in index else ""
    tokens = "characters" if index.startswith(indexes.MINI) else f"tokens of {known.tokenizer}"
    return ", ".join(filter(None, (indexes.CORPORA[known.corpus], month, tokens)))
