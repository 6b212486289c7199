"""The line under the strip that takes a context: sentences typed or drawn, and the margin after each of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import streamlit as st

from explorer import display
from explorer.records import Instance
from explorer.studies.priming import context as priming_context
from explorer.ui import links, resources, show
from explorer.ui import scored_options as answers
from explorer.ui.cockpit import state
from explorer.ui.cockpit.scores import Scores
from explorer.ui.priming import live as priming_live
from explorer.ui.priming import sentence_list
from explorer.ui.priming.context import TYPED, Line, Sides, draw_lines, kind_of, pack, rearranged, sides_of, unpack
from explorer.ui.priming.figure_curves import name_of
from explorer.ui.priming.figure_lab import KINDS, margin_growth
from explorer.ui.priming.live import Point
from explorer.ui.token_view import Unit, in_unit
from explorer.variants.context_pools import CONDITIONS, Pools, candidate_sentences

KINDS_OF_INSTANCE = ("pair", "regions")  # what a context can be put before
HEIGHT = 290  # of the curve, in pixels
AMOUNTS = ["1", "3", "5", "10", "20"]


def takes_context(item: Instance) -> bool:
    """Whether sentences can be put before an instance: pairs and suites are judged after them."""
    return item.kind in KINDS_OF_INSTANCE


def pools_of(benchmark: str) -> tuple[Pools, str]:
    """The benchmark's sentences, and where unrelated ones are from: WikiText, or our own texts where it is not here."""
    shared = resources.resources()
    for source, name in priming_context.SOURCES.items():
        pools, why_not = priming_context.pools_of(shared, benchmark, (), source)
        if not why_not:
            return pools, name
    return pools, ""


def lines_of(item: Instance) -> list[Line]:
    """The sentences of the context that the address asks for."""
    packed = state.edits().context
    if packed == state.EMPTY_CONTEXT or not takes_context(item):
        return []
    with st.spinner("Reading the sentences that contexts are drawn from"):
        pools, _ = pools_of(item.benchmark)
    lines, lost = unpack(packed, pools)
    if lost:
        show.note(
            f"Left out, since another benchmark or version has it: {display.counted(lost, 'sentence')} of the link."
        )
    return lines


def draw_context_line(item: Instance, lines: Sequence[Line], known: Scores, unit: Unit) -> None:
    """A line to type a sentence in and a menu to draw some; below them the sentences and the curve of the margin."""
    points = known.points
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.text_input(
            "A sentence before the pair", key="context:typed", label_visibility="collapsed", icon=":material/add:",
            placeholder="Put a sentence before the pair: type it and press Enter", on_change=_take_typed, args=(lines,),
        )  # fmt: skip
        menu = st.popover("Draw sentences", icon=":material/casino:", key="context:menu", on_change="rerun")
        if menu.open:
            with menu:
                _draw_menu(item, lines)
        if lines:
            st.button(
                "Clear", key="context:clear", icon=":material/close:", type="tertiary",
                on_click=state.change, args=("Cleared the context",), kwargs={"context": state.EMPTY_CONTEXT},
            )  # fmt: skip
    if not lines:
        return
    pools, source = pools_of(item.benchmark)
    sides: Sides = resources.resources().once(("sides", item.benchmark, source), lambda: sides_of(pools))
    if points:
        verdicts = [answers.verdict_of(point.judgment.value("correct")) for point in points]
        show.note(" ".join([flips_in_words(verdicts), *priming_live.remarks(points), *_another_start(known, unit)]))
    left, right = st.columns([1.15, 1], gap="large")
    with left:
        _list(item, lines, sides, points)
    with right:
        if points and not math.isnan(points[0].judgment.value("margin")):
            show.chart(
                margin_growth(
                    [in_unit(point.judgment.value("margin"), unit) for point in points],
                    [line.text for line in lines],
                    [kind_of(line, item, sides) for line in lines],
                    unit,
                ).update_layout(height=HEIGHT),
                key="context:growth",
                alt="The margin after every sentence of the context, and what each sentence adds",
            )


def _another_start(known: Scores, unit: Unit) -> list[str]:
    """Why the pair without a context has another margin here than by itself, where it has."""
    if known.before is None or math.isnan(known.plain):
        return []
    alone = known.before.judgment.value("margin")
    if math.isnan(alone) or abs(alone - known.plain) < 0.005:
        return []
    alone_text, plain_text = (display.number(in_unit(value, unit), signed=True) for value in (alone, known.plain))
    return [
        f"Compared with {alone_text} {unit}: the pair without a context, scored as it is behind one, with a blank "
        f"before it; as a text by itself it has {plain_text}."
    ]


def _draw_menu(item: Instance, lines: Sequence[Line]) -> None:
    with st.spinner("Reading the sentences that contexts are drawn from"):
        pools, source = pools_of(item.benchmark)
    stereotypes = item.format == "crows_pairs"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        many = links.pick(st.selectbox, "How many", "draw", AMOUNTS, default="3", width=90)
        seed = _seed()
    for kind in CONDITIONS:
        name = name_of(kind, stereotypes=stereotypes)
        st.button(
            f"{name[0].upper()}{name[1:]}",
            key=f"context:draw:{kind}",
            icon=":material/add:",
            type="tertiary",
            disabled=not candidate_sentences(pools, item.group, kind),
            help=_meaning(kind, item, source),
            on_click=_draw_more,
            args=(pools, item, kind, seed, int(many), lines, name),
        )


def _seed() -> int:
    st.session_state["context:seed"] = links.whole_number("seed")
    seed = st.number_input(
        "Seed", min_value=0, max_value=links.MOST, step=1, key="context:seed", width=110, on_change=_take_seed,
        help="Which sentences are drawn: the same as in a run with this seed.",
    )  # fmt: skip
    links.remember("seed", str(int(seed)), "0")
    return int(seed)


def _take_seed() -> None:
    links.choose("seed", str(int(st.session_state["context:seed"])))


def _draw_more(pools: Pools, item: Instance, kind: str, seed: int, many: int, lines: Sequence[Line], name: str) -> None:
    new_lines = draw_lines(pools, item, kind, seed, many, lines)
    noun = "sentence" if len(new_lines) == 1 else "sentences"
    state.change(f"{len(new_lines)} {noun} before it: {name}", context=pack([*lines, *new_lines]))


def _take_typed(lines: Sequence[Line]) -> None:
    text = " ".join(str(st.session_state["context:typed"]).split())
    st.session_state["context:typed"] = ""
    if text:
        state.change(f"Before it: {text}", context=pack([*lines, Line(text)]))


def _meaning(kind: str, item: Instance, source: str) -> str:
    if kind == "unrelated":
        return show.plain(f"From {source}.") if source else "There is no source of unrelated sentences."
    match, _, side = kind.partition("_")
    where = f"the suite {item.group}" if match == "matched" else "the other suites"
    return show.plain(f"The {side} sentences of {where}, without this pair's own.")


def _list(item: Instance, lines: Sequence[Line], sides: Sides, points: Sequence[Point]) -> None:
    margins = [point.judgment.value("margin") for point in points] or [math.nan] * (len(lines) + 1)
    verdicts = [answers.verdict_of(point.judgment.value("correct")) for point in points]
    steps = [after - before for before, after in pairwise(margins)]
    reach = max((abs(step) for step in steps if not math.isnan(step)), default=0.0)
    shown = []
    for place, (line, step) in enumerate(zip(lines, steps, strict=True), 1):
        kind = kind_of(line, item, sides)
        flips = bool(verdicts) and verdicts[place] not in (verdicts[place - 1], "none")
        shown.append(
            sentence_list.ShownSentence(
                text=line.text,
                name=kind_name(kind, item),
                color=KINDS[kind],
                added="" if math.isnan(step) else display.number(step, signed=True),
                share=0.0 if math.isnan(step) or not reach else step / reach,
                flip=f"→ {verdicts[place]}" if flips else "",
            )
        )
    sentence_list.draw_sentence_list(shown, _rearrange(lines))


def _rearrange(lines: Sequence[Line]) -> Callable[[list[int]], None]:
    def rearrange(order: list[int]) -> None:
        label = "Another order of the context" if len(order) == len(lines) else "A sentence less before it"
        state.change(label, context=pack(rearranged(lines, order)))

    return rearrange


def kind_name(kind: str, item: Instance) -> str:
    """What a kind of context sentence is called."""
    return "typed" if kind == TYPED else name_of(kind, stereotypes=item.format == "crows_pairs")


def flips_in_words(verdicts: Sequence[str]) -> str:
    """Where along the context the verdict changes, in one sentence."""
    words = ["no score" if verdict == "none" else verdict for verdict in verdicts]
    turns = [place for place in range(1, len(words)) if words[place] != words[place - 1]]
    if not turns:
        return f"{words[0].capitalize()} without a context, and after every sentence of it."
    turned = ", ".join(f"{words[place]} from {place}" for place in turns)
    return f"{words[0].capitalize()} without a context; counted in sentences, {turned} on."
