"""What was pinned, side by side: each with its verdict, its margin, its popularity and its tokens."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping
from typing import Any

import streamlit as st

from explorer import benchmarks, display, prompts
from explorer.popularity import indexes
from explorer.records import Instance
from explorer.ui import instance_list, links, live, resources, show, texts, token_view
from explorer.ui import scored_options as answers
from explorer.ui.cockpit import edits, scores, state, words
from explorer.ui.instance import answer, ngram_rating, own_texts
from explorer.ui.instance import view as instance_view
from explorer.ui.instance.answer import Answer
from explorer.ui.instance.ngram_rating import Source
from explorer.ui.token_view import Unit, in_unit
from explorer.variants import by_hand

SIDE_BY_SIDE = 2


def draw_pins(model: str, run_id: str, scoring: Mapping[str, Any], source: Source | None, unit: Unit) -> None:
    """The pinned instances, two in a row; nothing where none is pinned."""
    pins = state.pins()
    if not pins:
        return
    st.subheader("Pinned", anchor=False)
    if len(pins) == 1:
        show.note("Pin another to compare the two side by side.")
    with st.container(key="lx-pins"):
        for start in range(0, len(pins), SIDE_BY_SIDE):
            for place, (column, pin) in enumerate(zip(st.columns(SIDE_BY_SIDE), pins[start:], strict=False), start):
                with column, st.container(border=True), show.lens("What was pinned"):
                    _pin(place, pin, model, run_id, scoring, source, unit)


def version(pin: Mapping[str, str]) -> tuple[Instance, Instance] | None:
    """A pinned instance as it stands, and with the edits it was pinned with; none where its texts are not here."""
    item = own_texts.from_fields(pin["id"], pin) or _of_benchmark(pin["id"])
    if item is None:
        return None
    base = edits.with_texts(item, state.parse_texts(pin[state.EDIT]))
    swaps = state.parse(pin[state.SWAPS])
    if not swaps or words.refused(base) or not words.has_wordnet():
        return item, base
    read = words.read_words(base, ())
    return item, by_hand.edited_instance(base, read.swapped(swaps))


def _of_benchmark(instance_id: str) -> Instance | None:
    """The instance of this id; none where its benchmark is not here, since a link may name any."""
    benchmark = instance_id.partition("/")[0]
    if benchmark not in benchmarks.names(resources.settings()) or not texts.are_here(benchmark):
        return None
    return instance_list.listing(benchmark).by_id.get(instance_id)


def _pin(
    place: int, pin: Mapping[str, str], model: str, run_id: str, scoring: Mapping[str, Any], source: Source | None,
    unit: Unit,
) -> None:  # fmt: skip
    pinned_version = version(pin)
    with st.container(horizontal=True, vertical_alignment="center"):
        changed = " (changed)" if pin[state.EDIT] or pin[state.SWAPS] else ""
        st.html(f'<p class="lx-where">{html.escape(display.instance(pin["id"]) + changed)}</p>')
        if st.button("Open", key=f"pin:open:{place}", type="tertiary"):
            _open(pin)
            st.rerun(scope="app")  # another instance is another page around the cockpit, too
        st.button("Unpin", key=f"pin:gone:{place}", type="tertiary", on_click=_unpin, args=(place,))
    if pinned_version is None:
        show.note("Its text is not on this machine.")
        return
    item, shown = pinned_version
    answered = _answer_of_version(item, shown, model, run_id, scoring)
    if answered is None:
        instance_view.text(shown)
        return
    correct = answered.judgment.get("correct")
    kind = answers.verdict_of(correct.value)
    margin = answered.judgment.value("margin")
    facts = [] if math.isnan(margin) else [f"margin {display.number(in_unit(margin, unit), signed=True)} {unit}"]
    if source and not indexes.is_remote(source.index):
        rated = ngram_rating.rate(prompts.option_texts(shown), source)
        ips = rated[min(shown.gold or 0, len(rated) - 1)].ips.value
        facts += [] if math.isnan(ips) else [f"popularity (IPS) {ips:.2f}"]
    st.html(token_view.verdict(kind, ", ".join(facts), answers.VERDICT_WORDS.get(item.format, {}).get(kind, "")))
    options = answers.options_of(answered.asked)
    if not any(option.tokens for option in options):
        instance_view.text(shown)
    elif len(options) == 2 and item.kind != "regions":
        names = (answers.option_name(item, options[0].option), answers.option_name(item, options[1].option))
        st.html(token_view.aligned(options[0].tokens, options[1].tokens, unit, labels=names))
    else:
        for option in options:
            st.html(token_view.strip(option.tokens, unit))


def _answer_of_version(
    item: Instance, shown: Instance, model: str, run_id: str, scoring: Mapping[str, Any]
) -> Answer | None:
    stored = answer.stored(run_id, item) if run_id and words.same_text(item, shown) else None
    if stored and instance_view.has_tokens(stored):
        return stored
    if not scores.is_short(shown) or not live.answers_at_once(model):
        return stored
    return live.attempt("pins", model, shown.id, lambda: answer.now(shown, model, scoring))


def _open(pin: Mapping[str, str]) -> None:
    if state.collection(pin["id"]) != state.collection(st.session_state.get(state.SHOWN, pin["id"])):
        links.choose(state.CONTEXT, state.EMPTY_CONTEXT)
    item = own_texts.from_fields(pin["id"], pin)
    if item is None:
        links.choose("what", own_texts.OF_BENCHMARK)
        links.choose("instance", pin["id"])
    else:
        links.choose("what", own_texts.OWN_PAIR if item.group else own_texts.OWN_TEXT)
        for name, value in {**own_texts.fields_of(item), **({"suite": item.group} if item.group else {})}.items():
            links.choose(name, value)
    if item is None or item.benchmark:
        links.choose("benchmark", pin["id"].partition("/")[0])
    st.session_state[state.SHOWN] = pin["id"]
    st.session_state.pop(state.HISTORY, None)
    links.choose(state.EDIT, pin[state.EDIT])
    links.choose(state.SWAPS, pin[state.SWAPS])
    state.close_word()


def _unpin(place: int) -> None:
    pins = state.pins()
    state.store_pins(pins[:place] + pins[place + 1 :])
