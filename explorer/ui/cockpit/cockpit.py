"""One instance under every lens: its verdict and numbers, the strip whose words can be changed, and its context.

cockpit.draw_cockpit(item, chosen, run_id=..., unit=..., layer=layers.POPULARITY)

All that a reader changes goes through `take` into explorer/ui/cockpit/state.py, and from there into the address.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from explorer import numbers, prompts
from explorer.errors import ExplorerError
from explorer.records import Instance
from explorer.scoring import catalog
from explorer.studies import chat
from explorer.ui import layout, links, live, progress, show, token_view
from explorer.ui import scored_options as answers
from explorer.ui.cockpit import (
    context_line,
    edits,
    effects,
    gauges,
    layers,
    panel,
    pinned,
    scores,
    sources,
    state,
    words,
)
from explorer.ui.cockpit.layers import (
    BY_WORD,
    DIFFERENCE,
    LAYERS,
    MODELS,
    POPULARITY,
    SURPRISAL,
    Marks,
    PlacedToken,
    Row,
)
from explorer.ui.cockpit.scores import Scores
from explorer.ui.cockpit.words import Span, Words
from explorer.ui.corpus import asking
from explorer.ui.corpus.lens import draw_corpus_lens
from explorer.ui.instance import answer, ngram_rating
from explorer.ui.instance import view as instance_view
from explorer.ui.instance.ngram_rating import Rated, Source
from explorer.ui.layout import Chosen
from explorer.ui.strip.strip import Act, Block, Cell, History, Strip, draw_strip
from explorer.ui.token_view import Unit
from explorer.variants import by_hand
from explorer.variants.perturb import PerturbedInstance
from explorer.variants.tools import WITHOUT_ENCODER

KEY = "cockpit:strip"
NO_WORDNET = "WordNet, which knows senses and synonyms, is not on this machine yet."
MOST_WAITING = 4  # texts that are shown until they are scored
POS = {"NV": "Nouns and verbs", "N": "Nouns", "V": "Verbs"}


@dataclass(frozen=True, slots=True)
class ShownInstance:
    """The instance with all edits: what was typed over, the words read in that, and what the swaps make of it."""

    item: Instance
    base: Instance
    read: Words | None
    made: PerturbedInstance | None
    changed: Instance
    why_no_words: str = ""

    @property
    def spans(self) -> Sequence[Span]:
        """The words that can be swapped."""
        return self.read.spans(self.made) if self.read and self.made else ()


def draw_cockpit(
    item: Instance, chosen: Chosen, *, run_id: str = "", unit: Unit = "nats", shape: str = instance_view.SHAPES[0],
    layer: str = SURPRISAL, draws: bool = False,
) -> None:  # fmt: skip
    """The cockpit on one instance; `layer` is what its strip shows first, `draws` offers what a full run would swap."""
    state.forget_other_instance(item.id, takes_context=context_line.takes_context(item))
    _cockpit(item, chosen, run_id, unit, shape, layer, draws)


@st.fragment
def _cockpit(item: Instance, chosen: Chosen, run_id: str, unit: Unit, shape: str, layer: str, draws: bool) -> None:
    """Only this part is drawn anew when a word is clicked or changed."""
    state.write()  # before anything is drawn: a link that is copied is the address of what is shown
    model, scoring = chosen.model, layout.scoring_of(run_id)
    above = st.container(key="cockpit-above", gap="small")
    waiting = st.empty()
    first = KEY not in st.session_state  # of this visit; later strips take the place of the one before
    if first:
        waiting.html(_placeholder(item, "lx-waiting"))
    # What a layer asks for stands beneath the strip, which stays where it is from layer to layer.
    controls, strip, choice, below = st.container(), st.container(), st.container(), st.container()
    with above:
        lines = context_line.lines_of(item)
        sentences = [line.text for line in lines]
        # Without swaps the text is known before its words are read, and its scores need not wait for them.
        shown = _apply(item, with_words=bool(state.edits().swaps))
        known = scores.scores_of(item, shown.changed, sentences, model, run_id, scoring)
        gauges.draw_verdict(item, known)
        numbers = st.container()
    if first:
        waiting.html(_placeholder(item, "lx-waiting lx-under-verdict"))
    with strip, show.lens("Words to swap"):
        shown = shown if shown.read else _apply(item, with_words=True)
    source: Source | None = None
    rated: Sequence[Rated] = ()
    with numbers:
        below_numbers = st.container()
        with show.lens("Popularity", ngram_rating.ask_again):
            source = sources.pick_source(item, model)
            rated = sources.rated(item, shown.changed, source) if source else ()
        with below_numbers:
            gauges.draw_gauges(item, shown.changed, known, rated, source, unit)
    waiting.empty()
    with controls:
        picked = _controls(item, shown, layer, draws)
    with choice:
        other = _pick_other(chosen.model) if picked == MODELS else ""
        if picked == POPULARITY:
            with show.lens("Other deciles"):
                sources.pick_deciles(item, chosen.model)
    with strip:
        _how_asked(run_id, primed=bool(lines))
        _strip(shown, chosen, known, picked, other, source, rated, unit, scoring, primed=bool(lines))
    with below:
        gauges.draw_likeness(item, shown.changed)
        _remarks(shown)
        if known.after and instance_view.has_tokens(known.after):
            instance_view.draw_more(shown.changed, known.after, unit, shape)
        draw_corpus_lens(shown.changed, model, source.index if source else asking.default_index(model))
        if context_line.takes_context(item):
            context_line.draw_context_line(item, lines, known, unit)
        pinned.draw_pins(model, run_id, scoring, source, unit)


# --- what is shown


def _placeholder(item: Instance, kinds: str) -> str:
    """The texts in a box as high as what comes in its place, so that what stands below does not move."""
    texts = "".join(f"<p>{show.escaped(text)}</p>" for text in prompts.option_texts(item)[:MOST_WAITING])
    note = "Words, scores and popularity are being read…"
    return f'<div class="{kinds}" role="status"><p class="lx-quiet">{note}</p>{texts}</div>'


def _apply(item: Instance, *, with_words: bool) -> ShownInstance:
    """The instance with the edits of the address; its words are read where they can be, and else it is said why not."""
    now = state.edits()
    base = edits.with_texts(item, now.texts)
    read, why = _read(base) if with_words else (None, "")
    if read is None:
        return ShownInstance(item, base, None, None, base, why)
    changed = read.swapped(now.chosen)
    return ShownInstance(item, base, read, changed, by_hand.edited_instance(base, changed))


def _read(base: Instance) -> tuple[Words | None, str]:
    if why := words.why_unread(base):  # before the tagger and WordNet are loaded, or asked for
        return None, why
    # A wish to fetch it counts once: where that fails, it is not tried again at every click.
    wanted = st.session_state.pop("lab:fetch", False)
    if not words.has_wordnet() and not wanted:
        return None, NO_WORDNET
    try:
        return words.read_words(base, state.vetoes()), ""
    except (ExplorerError, OSError, ImportError) as error:
        return None, f"Words to swap cannot be shown: {error}"


def _how_asked(run_id: str, *, primed: bool) -> None:
    """A line where the run asked as a chat or for a judgment, and how that is with what is shown here."""
    sentence = layout.asked_in_words(run_id)
    if sentence and layout.settings_of(run_id).get("ask") == "judge":
        sentence += " Verdict and strip here are of the sentences themselves."
    if primed and chat.is_chat(layout.settings_of(run_id)):
        sentence += " So do these scores: the user says the context and asks for a sentence."
    if sentence:
        show.note(sentence)


def _remarks(shown: ShownInstance) -> None:
    """What a reader should know of the words: that some cannot be had, are refused, or are never swapped."""
    read, made = shown.read, shown.made
    if read is None and shown.why_no_words == words.refused(shown.base) != "":
        st.warning(show.plain(shown.why_no_words), icon=":material/translate:")
        return
    if read is None:
        with st.container(horizontal=True, vertical_alignment="center"):
            show.note(shown.why_no_words)
            if not words.has_wordnet() and shown.why_no_words == NO_WORDNET:
                st.button(
                    "Fetch WordNet", icon=":material/download:", key="lab:fetch:now", type="tertiary",
                    on_click=st.session_state.__setitem__, args=("lab:fetch", True),
                )  # fmt: skip
        return
    if read.method == WITHOUT_ENCODER:
        show.note("The sentence encoder is not to be had, so senses are told apart by Lesk, unlike in full runs.")
    if not words.wordnet_is_known():
        show.note("WordNet here is another copy than shipped runs were made with, so other words may be offered.")
    if made and made.instance is None and state.edits().swaps:
        st.warning(
            show.plain(f"This swap is refused: {made.reason}. A full run would reject the instance for it."),
            icon=":material/block:",
        )
    if st.session_state.pop("lab:nothing", False):
        show.note("This draw swaps nothing: no word has a synonym that fits, or a full run would reject the instance.")
    if vetoed := state.vetoes():
        with st.container(horizontal=True, vertical_alignment="center"):
            show.note("Never swapped:")
            for word in vetoed:
                st.button(
                    show.plain(word), icon=":material/close:", key=f"lab:allow:{word}", type="tertiary",
                    on_click=state.allow, args=(word,), help="Allow it again",
                )  # fmt: skip


# --- controls


def _controls(item: Instance, shown: ShownInstance, layer: str, draws: bool) -> str:
    """The layer of the strip; beside it what a full run would swap, where a page offers it."""
    several = len(item.options) == 2 and item.kind not in ("labelled", "regions")
    offered = [layer_name for layer_name in LAYERS if layer_name != DIFFERENCE or several]
    with st.container(horizontal=True, vertical_alignment="center", key="cockpit-layers"):
        picked = links.pick(
            st.segmented_control, "Shown on the strip", "layer", offered, default=layer, required=True,
            label_visibility="collapsed",
        )  # fmt: skip
        if draws and shown.read:
            _drawing(shown.read)
    return picked


def _pick_other(model: str) -> str:
    """The second model: small ones that are here, those of runs, or any other of the list."""
    known = [model.id for model in catalog.MODELS.values() if model.kind == "causal"]
    options = [name for name in dict.fromkeys([*known, *progress.models_of_runs()]) if name != model]
    options.sort(key=lambda name: not live.answers_at_once(name))
    wish = links.recall("other")
    options += [wish] if wish and wish not in options and wish != model else []
    return links.pick(
        st.selectbox, "Second model", "other", options, always=True, format_func=layout.model_title, width=260,
    )  # fmt: skip


def _drawing(read: Words) -> None:
    with st.popover("Draw swaps", icon=":material/casino:", key="lab:drawing"):
        pos = links.pick(
            st.segmented_control, "Among", "pos", list(POS), default="NV", required=True, format_func=POS.get
        )
        seed = int(
            st.number_input(
                "Seed",
                min_value=0,
                max_value=links.MOST,
                value=links.whole_number("seed"),
                step=1,
                key="lab:seed",
                width=110,
            )
        )
        links.remember("seed", str(seed), "0")
        st.button(
            "Draw", icon=":material/casino:", key="lab:draw", on_click=_sample_swaps, args=(read, pos, seed),
            help="Swaps what a full run with this seed would swap",
        )  # fmt: skip


def _sample_swaps(read: Words, pos: str, seed: int) -> None:
    substitutes = by_hand.sample_substitutes(read.reading, words.tools(), pos, seed)
    state.change(f"Drawn swaps, seed {seed}", swaps=state.format_swaps(substitutes))
    st.session_state["lab:nothing"] = not substitutes


# --- the strip


def _strip(
    shown: ShownInstance, chosen: Chosen, known: Scores, layer: str, other: str, source: Source | None,
    rated: Sequence[Rated], unit: Unit, scoring: Mapping[str, Any], *, primed: bool,
) -> None:  # fmt: skip
    """The strip of what is shown now, and the panel of its open word."""
    changed = shown.changed
    current = known.after or (known.before if words.same_text(shown.item, changed) else None)
    has_tokens = current is not None and instance_view.has_tokens(current)
    rows = layers.rows(changed, current.asked) if current and has_tokens else []
    rated_options = rated[len(rated) // 2 :]
    spans = shown.spans
    opened = panel.find_open(changed, rows, spans)
    marks = Marks(spans, links.recall(state.WORD), edits.touched(shown.item, changed))
    steps = state.history()
    pin = state.pin_of(shown.item)
    faults = list(dict.fromkeys(row.asked.reason for row in rows if row.asked.reason))
    blocks = _blocks(shown, chosen, layer, other, rows, rated_options, marks, unit, scoring, known, primed=primed)
    told, may_tell = None, False
    if opened and opened.span and shown.read and not primed:
        may_tell = effects.can_be_told(shown.item, chosen.model)
        if may_tell and effects.is_wanted(shown.item, opened.span.key):
            told = effects.of_synonyms(shown.base, shown.read, opened.span.key, chosen.model, scoring)
    draw_strip(
        Strip(
            of=shown.item.id,
            blocks=blocks,
            history=History(tuple(label for label, _ in steps.steps), steps.at),
            key=layers.key_of(layer, unit, source.edges.n if source else 0) if rows and not faults else None,
            panel=panel.panel(
                opened, shown.read, state.edits().chosen, chosen.model, scoring, source, rated_options, primed=primed,
                change=edits.change_at(marks.changed, opened.part, opened.start, opened.start + 1),
                why_no_words=shown.why_no_words, told=told, may_tell=may_tell,
                verdict=answers.verdict_of(current.judgment.value("correct")) if current else "",
            ) if opened else None,
            changed=bool(state.edits() != state.Edits()),
            pinned=pin in state.pins(),
        ),
        KEY,
        _taker(shown, opened, chosen.model),
    )  # fmt: skip


def _blocks(
    shown: ShownInstance,
    chosen: Chosen,
    layer: str,
    other: str,
    rows: Sequence[Row],
    rated_options: Sequence[Rated],
    marks: Marks,
    unit: Unit,
    scoring: Mapping[str, Any],
    known: Scores,
    *,
    primed: bool,
) -> list[Block]:
    changed = shown.changed
    notes = gauges.notes(shown.item, known, unit)

    def by_surprisal(token: PlacedToken) -> Cell:
        return layers.surprisal_cell(token, unit, marks)

    def by_popularity(token: PlacedToken) -> Cell:
        return layers.popularity_cell(
            token, rated_options[token.option] if token.option < len(rated_options) else None, marks
        )

    def by_word(token: PlacedToken) -> Cell:
        return layers.word_cell(token, unit, marks)

    if layer == BY_WORD:
        given_words = changed.extra.get("words", {})
        words_of = [layers.by_word(row, given_words.get(str(row.asked.option), ())) for row in rows]
        return layers.blocks(changed, words_of, by_word, unit, notes, total="each", marks=marks)
    if layer == POPULARITY and rated_options:
        return layers.blocks(changed, rows, by_popularity, unit, notes, marks=marks)
    if layer == DIFFERENCE and len(rows) == 2:
        return layers.blocks(
            changed, rows, _by_difference(rows, unit, marks), unit, notes, total="Margin so far", marks=marks
        )
    if layer == MODELS and rows and other and (second := _second(changed, other, scoring, primed=primed)):
        names = (layout.model_title(chosen.model), layout.model_title(other))
        return layers.two_models(changed, rows, second, names, by_surprisal, unit, marks)
    return layers.blocks(changed, rows, by_surprisal, unit, notes, total="each", marks=marks)


def _by_difference(rows: Sequence[Row], unit: Unit, marks: Marks) -> Callable[[PlacedToken], Cell]:
    """Each token by what its text gains on the other in its column."""
    first, second = (row.tokens for row in rows)
    gains: dict[tuple[int, int], float] = {}
    texts = [[token.token.text for token in tokens] for tokens in (first, second)]
    for a, b in token_view.align(*texts):
        top, bottom = (first[a] if a is not None else None), (second[b] if b is not None else None)
        nats = layers.difference(top, bottom)
        if top:
            gains[0, top.number] = nats
        if bottom:
            gains[1, bottom.number] = -nats
    place = {id(token): (row, token.number) for row, tokens in enumerate((first, second)) for token in tokens}
    return lambda token: layers.difference_cell(token, gains[place[id(token)]], unit, marks)


def _second(changed: Instance, other: str, scoring: Mapping[str, Any], *, primed: bool) -> list[Row]:
    """The rows of the second model; none, and a line that says why, where it cannot be had at once."""
    title = layout.model_title(other)
    if primed:
        show.note(f"After a context one model is shown; clear the context to see {title} beside it.")
        return []
    if why := live.why_unknown(other):
        show.note(why)
        return []
    if not live.answers_at_once(other) and st.session_state.get("score:second") != other:
        st.button(
            f"Score with {show.plain(title)} too", key="score:second:now", icon=":material/bolt:",
            on_click=st.session_state.__setitem__, args=("score:second", other),
        )  # fmt: skip
        return []
    about = tuple(sorted(scoring.items()))
    second_answer: answer.Answer | None = live.attempt(
        "second", other, about, lambda: scores.second(changed, other, scoring)
    )
    return layers.rows(changed, second_answer.asked) if second_answer else []


def _taker(shown: ShownInstance, opened: panel.Open | None, model: str) -> Callable[[Act], None]:
    """What becomes of what the reader does with the strip that is shown."""
    simple = {
        "close": state.close_word,
        "undo": state.undo,
        "redo": state.redo,
        "reset": state.reset,
        "pin": lambda: state.pin(shown.item),
    }

    def apply_act(act: Act) -> None:
        def text(name: str) -> str:
            return str(act.get(name, ""))

        def number(name: str) -> int:
            return numbers.whole_or(str(act.get(name, "")), -1)

        links.take_event()
        done = str(act.get("do", ""))
        if done in simple:
            simple[done]()
        elif done == "open":
            key, _, place = text("key").partition("|")
            state.open_word(key or place, place)
        elif done == "back":
            state.go_to_step(number("to"))
        elif done == "gram":
            st.session_state[state.GRAM] = number("n")
        elif done == "expect":
            st.session_state[scores.EXPECTS] = model
        elif done == "text":
            _typed_over(shown, text("part"), text("text"))
        elif opened is not None:
            _change_word(shown, opened, done, act)

    return apply_act


def _typed_over(shown: ShownInstance, part: str, text: str) -> None:
    new = edits.typed_over(shown.changed, part, text)
    _keep_typed(shown, new, f"Typed: {' '.join(text.split())}")


def _change_word(shown: ShownInstance, opened: panel.Open, done: str, act: Act) -> None:
    """The open word swapped for a synonym, typed over, removed, or put back."""
    span, chosen = opened.span, state.edits().chosen
    was = span.was if span and span.was else opened.text
    typed = str(act.get("text", "")).strip()
    change = edits.change_at(edits.touched(shown.item, shown.changed), opened.part, opened.start, opened.start + 1)
    if done == "effects" and span:
        effects.want(shown.item, span.key)
    elif done == "veto" and span and shown.read and span.key in shown.read.offered:
        state.veto(shown.read.offered[span.key].lemma)
    elif done == "swap" and span:
        lemma = str(act.get("lemma", ""))
        if not _is_plain_word(lemma):
            return
        other_swaps = {key: value for key, value in chosen.items() if key != span.key}
        # A second click on the same synonym puts the word back.
        if chosen.get(span.key) == lemma:
            state.change(f"Put back “{was}”", swaps=state.format_swaps(other_swaps))
        else:
            state.change(f"{was} → {lemma}", swaps=state.format_swaps({**other_swaps, span.key: lemma}))
    elif done == "restore" and span and span.was and not _was_typed(change, span):
        other_swaps = {key: value for key, value in chosen.items() if key != span.key}
        state.change(f"Put back “{was}”", swaps=state.format_swaps(other_swaps))
    elif done == "restore":
        label = f"Put back “{change.was}”" if change and change.was else f"Removed “{opened.text}”"
        _keep_typed(shown, edits.put_back(shown.item, shown.changed, opened.part, opened.start), label)
    elif done == "type" and span and not span.was and _is_plain_word(typed):
        state.change(f"{was} → {typed}", swaps=state.format_swaps({**chosen, span.key: typed}))
    elif done in ("type", "remove"):
        text = typed if done == "type" else ""
        new = edits.word_changed(shown.changed, opened.part, opened.start, text)
        _keep_typed(shown, new, f"{opened.text} → {text}" if text else f"Removed “{opened.text}”")
        if not text:
            state.close_word()
        else:
            place = f"{opened.part}@{span.start if span else opened.start}"
            state.open_word(place, place)


def _was_typed(change: edits.Change | None, span: Span) -> bool:
    """Whether a swapped word had been typed over before, so that another one stands in the benchmark."""
    return change is not None and bool(change.was) and change.was.casefold() != span.was.casefold()


def _is_plain_word(text: str) -> bool:
    """Whether a word can stand among the swaps of the address, where : and ; have a meaning."""
    return bool(text.strip()) and not set(text) & set(":;")


def _keep_typed(shown: ShownInstance, new: Instance, label: str) -> None:
    """A text typed over stands for the swaps made before it, which are part of it now."""
    state.change(label, edit=state.format_texts(edits.differing(shown.item, new)), swaps="")
