"""The live lab: click a word, see its senses and synonyms, swap it, and watch probability and popularity move."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from explorer.errors import CountError
from explorer.popularity.indexes import DEMO, GLASSBOX
from explorer.records import Instance
from explorer.ui import instance_list, layout, links, show, texts
from explorer.ui.clickable import clickable
from explorer.ui.instance import finder, ngram_rating, ngram_strip
from explorer.ui.instance import view as instance_view
from explorer.ui.instance.ngram_rating import Source
from explorer.ui.layout import Chosen
from explorer.ui.perturbation import lab_metrics, lab_state, lab_tools, lab_words
from explorer.variants import by_hand
from explorer.variants.perturb import PerturbedInstance
from explorer.variants.swappable import WordView
from explorer.variants.tools import WITHOUT_ENCODER
from explorer.variants.words import Reading

WHAT = ["An instance", "A text of my own"]
POS = {"NV": "Nouns and verbs", "N": "Nouns", "V": "Verbs"}
EXAMPLE = "The old doctor bought a small house near the harbor and astounded every visitor with his stories."


@dataclass(frozen=True, slots=True)
class Words:
    """An instance read, its words that can be swapped, and the method that told their senses apart."""

    reading: Reading
    offered: Mapping[str, WordView]
    method: str


def draw_swap_lab(chosen: Chosen) -> None:
    """Pickers of the text, and the lab below."""
    what = links.pick(
        st.segmented_control, "Swap words in", "what", WHAT, default=WHAT[0], required=True,
        label_visibility="collapsed",
    )  # fmt: skip
    if what == WHAT[0]:
        if not texts.are_here(chosen.benchmark):
            texts.offer(chosen.benchmark)
            return
        listing = instance_list.listing(chosen.benchmark)
        instance = finder.find(listing, "")
        if not instance:
            return
    else:
        text = _own_text()
        if not text.strip():
            show.note("Type a text above.")
            return
        instance = lab_tools.free_text(text)
    lab_state.begin(instance.id)
    _lab(instance, chosen.model, layout.scoring_of(""))


def _own_text() -> str:
    shown = links.recall("text", EXAMPLE)
    st.session_state["lab:text"] = shown
    typed = st.text_area("Text", key="lab:text", height="content", on_change=_take_text) or ""
    return links.remember("text", typed, EXAMPLE)


def _take_text() -> None:
    links.choose("text", str(st.session_state.get("lab:text") or ""))


@st.fragment
def _lab(instance: Instance, model: str, scoring: Mapping[str, Any]) -> None:
    """The words, and the numbers under them; the numbers are drawn without the words, too, and the other way round."""
    st.html(f"<style>{ngram_strip.style()}</style>")
    words = _read(instance)
    if words:
        swaps, made = _words(instance, words)
        changed = by_hand.edited(instance, made)
    else:
        instance_view.text(instance)
        changed = instance
    source = None
    with show.lens("Popularity", ngram_rating.ask_again):
        source = _source(instance, model)
    lab_metrics.draw_lab_metrics(instance, changed, model, scoring, source)
    if words:
        opened = links.recall(lab_state.WORD)
        if opened in words.offered:
            _senses(opened, words.offered[opened], swaps, source)
        _left(made, words.method)
    lab_state.write()


def _read(instance: Instance) -> Words | None:
    """The instance's words; a quiet line where WordNet, the tagger or whatever reads them is not to be had."""
    # A wish to fetch it counts once: where that fails, it is not tried again at every click.
    wanted = st.session_state.pop("lab:fetch", False)
    with show.lens("Words to swap"):
        if not lab_tools.has_wordnet() and not wanted:
            show.nothing_yet(
                "WordNet is not on this machine yet",
                "The lab takes senses and synonyms from WordNet, which is fetched once and then kept.",
            )
            st.button(
                "Fetch WordNet", icon=":material/download:", key="lab:fetch:now",
                on_click=st.session_state.__setitem__, args=("lab:fetch", True),
            )  # fmt: skip
            return None
        kit = lab_tools.tools()
        if kit.senses.name == WITHOUT_ENCODER:
            show.note("The sentence encoder is not to be had, so senses are told apart by Lesk, unlike in full runs.")
        if not lab_tools.wordnet_is_known():
            show.note("WordNet here is another copy than shipped runs were made with, so other words may be offered.")
        reading, offered = lab_tools.read(instance, lab_state.vetoes())
        return Words(reading, offered, kit.senses.name)
    return None


def _words(instance: Instance, words: Words) -> tuple[dict[str, str], PerturbedInstance]:
    """The text with its words to click; the swaps in force, and what they make of the instance."""
    reading = words.reading
    keys = {by_hand.key_of(word.lemma, word.pos) for word in reading.words}
    swaps = {key: value for key, value in lab_state.choices().items() if key in keys}
    made = by_hand.swap(reading, swaps)
    _toolbar(reading, swaps)
    opened = links.recall(lab_state.WORD)
    shown = lab_words.texts_html(instance, by_hand.shown_words(reading, made), words.offered, opened)
    clickable(shown, f"lab:text:{instance.id}", lab_state.open_word)
    if made.instance is None and swaps:
        st.warning(
            show.plain(f"This swap is refused: {made.reason}. A full run would reject the instance for it."),
            icon=":material/block:",
        )
    elif reading.refused:
        st.warning(show.plain(reading.refused), icon=":material/translate:")
    elif not words.offered:
        show.note("No word of this text has a synonym that fits.")
    return swaps, made


def _source(instance: Instance, model: str) -> Source | None:
    """The deciles by which the lab rates: of this benchmark's runs, for a text of one's own of any run.

    Where none of the stored ones fit the index that is here, those that can be counted now.
    """
    stored = ngram_rating.stored(instance.benchmark, model)
    first = next(iter(stored.sources), "")
    index = stored.sources[first].index if first else GLASSBOX
    if index in (DEMO, GLASSBOX) and not (lab_tools.has_wordnet() or ngram_rating.is_built(index)):
        # Not fetched unasked, where a button offers it.
        raise CountError("its index is made of WordNet, which is not on this machine yet.")
    if not first:
        if stored.unfit and ngram_rating.can_count(instance.benchmark or ngram_rating.OWN_TEXTS):
            return ngram_rating.own_source(instance.benchmark)
        if stored.unfit:
            raise CountError(stored.unfit)
        return None
    if len(stored.sources) == 1:
        return stored.sources[first]
    with st.popover("Deciles", icon=":material/tune:", key="lab:deciles"):
        chosen = links.pick(
            st.selectbox,
            "Popularity rated by",
            "deciles",
            list(stored.sources),
            format_func=lambda run_id: stored.sources[run_id].title,
        )
    return stored.sources[chosen]


def _toolbar(reading: Reading, swaps: Mapping[str, str]) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        pos = links.pick(
            st.segmented_control, "Draw among", "pos", list(POS), default="NV", required=True, format_func=POS.get
        )
        seed = int(
            st.number_input(
                "Seed", min_value=0, max_value=links.MOST, value=links.whole("seed"), step=1, key="lab:seed", width=110
            )
        )
        links.remember("seed", str(seed), "0")
        st.button(
            "Draw", icon=":material/casino:", key="lab:draw", on_click=_draw, args=(reading, pos, seed),
            help="Swaps what a full run with this seed would swap",
        )  # fmt: skip
        st.button(
            "Undo", icon=":material/undo:", key="lab:undo", on_click=lab_state.undo, disabled=not lab_state.can_undo()
        )
        st.button(
            "Reset", icon=":material/restart_alt:", key="lab:reset", on_click=lab_state.choose, args=({},),
            disabled=not swaps,
        )  # fmt: skip
    if st.session_state.pop("lab:nothing", False):
        show.note("This draw swaps nothing: no word has a synonym that fits, or a full run would reject the instance.")


def _draw(reading: Reading, pos: str, seed: int) -> None:
    drawn = by_hand.draw(reading, lab_tools.tools(), pos, seed)
    lab_state.choose(drawn)
    st.session_state["lab:nothing"] = not drawn


def _senses(key: str, view: WordView, swaps: Mapping[str, str], source: Source | None) -> None:
    """The open word: its senses with their synonyms, a word of one's own, and the veto."""
    with st.container(border=True):
        st.subheader(show.plain(f"{view.lemma} ({lab_words.CLASSES[view.pos]})"), anchor=False)
        counts = lab_tools.counts(lab_words.forms_of(view), source.index) if source else {}
        chosen = swaps.get(key, "")
        clickable(lab_words.senses_html(view, chosen, counts), f"lab:senses:{key}", _swapper(key, swaps))
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.text_input(
                "Another word", key=f"lab:own:{key}", placeholder="any other word", width=220,
                on_change=_take_own, args=(key, swaps),
            )  # fmt: skip
            if chosen:
                st.button(
                    "Put the word back", icon=":material/undo:", key="lab:back", on_click=lab_state.choose,
                    args=({one: value for one, value in swaps.items() if one != key},),
                )  # fmt: skip
            st.button(
                f"Never swap “{show.plain(view.lemma)}”", icon=":material/block:", key="lab:veto",
                on_click=lab_state.veto, args=(view.lemma,),
                help="In this lab, and in perturbation runs started from this window",
            )  # fmt: skip
        if counts:
            show.note("The number beside a synonym is how often it occurs in the corpus.")


def _swapper(key: str, swaps: Mapping[str, str]):
    def swap(lemma: str) -> None:
        kept = {one: value for one, value in swaps.items() if one != key}
        # A second click on the same synonym puts the word back.
        lab_state.choose(kept if swaps.get(key) == lemma else {**kept, key: lemma})

    return swap


def _take_own(key: str, swaps: Mapping[str, str]) -> None:
    typed = str(st.session_state.get(f"lab:own:{key}") or "").strip().replace(";", " ").replace(":", " ")
    if typed:
        lab_state.choose({**swaps, key: typed})
        st.session_state[f"lab:own:{key}"] = ""


def _left(made: PerturbedInstance, method: str) -> None:
    vetoed = lab_state.vetoes()
    if vetoed:
        with st.container(horizontal=True, vertical_alignment="center"):
            show.note("Never swapped:")
            for word in vetoed:
                st.button(
                    show.plain(word), icon=":material/close:", key=f"lab:allow:{word}", type="tertiary",
                    on_click=lab_state.allow, args=(word,), help="Allow it again",
                )  # fmt: skip
    stays = [f"{form} ({reason})" for form, reason in made.left if reason != "vetoed"]
    if stays:
        with st.expander("Nouns and verbs that stay"):
            show.note("; ".join(stays))
            show.note(f"Senses are told apart by the method {method!r}.")
