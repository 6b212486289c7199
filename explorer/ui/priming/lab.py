"""The live lab: a pair, a context that is drawn or typed, and the margin after every sentence of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import streamlit as st

from explorer import display
from explorer.records import Instance
from explorer.studies.priming import context as priming_context
from explorer.ui import layout, links, live, resources, show, texts, token_view
from explorer.ui import scored_options as answers
from explorer.ui.instance import view as instance_view
from explorer.ui.instance.answer import Answer
from explorer.ui.layout import Chosen
from explorer.ui.priming import live as priming_live
from explorer.ui.priming import sentence_list
from explorer.ui.priming.context import TYPED, Line, Sides, draw_lines, kind_of, pack, rearranged, sides_of, unpack
from explorer.ui.priming.figure_curves import name_of
from explorer.ui.priming.figure_lab import KINDS, margin_growth
from explorer.ui.priming.live import Point
from explorer.ui.priming.pair import pick_pair
from explorer.variants.context_pools import CONDITIONS, Pools, candidates

AMOUNTS = ["1", "3", "5", "10", "20"]
EMPTY = "[]"


def draw_priming_lab(chosen: Chosen) -> None:
    """The whole lab; ExplorerError where the benchmark or the model cannot be had."""
    if not texts.are_here(chosen.benchmark):
        texts.offer(chosen.benchmark)
        return
    item = pick_pair(chosen)
    if item is None:
        show.nothing_yet(
            "This benchmark has no pairs",
            "Choose BLiMP, SyntaxGym, CrowS-Pairs, the starter pairs or pairs of your own in the bar at the top.",
        )
        return
    with st.spinner("Reading the sentences that contexts are drawn from"):
        pools, source = pools_of(chosen.benchmark)
    _lab(chosen, item, pools, source)


def pools_of(benchmark: str) -> tuple[Pools, str]:
    """The benchmark's sentences, and where unrelated ones are from: WikiText, or our own texts where it is not here."""
    shared = resources.resources()
    for source, name in priming_context.SOURCES.items():
        pools, why_not = priming_context.pools_of(shared, benchmark, (), source)
        if not why_not:
            return pools, name
    return pools, ""


@st.fragment
def _lab(chosen: Chosen, item: Instance, pools: Pools, source: str) -> None:
    """The context and what it does; only this part is drawn anew when the context changes."""
    sides: Sides = resources.resources().once(("sides", chosen.benchmark, source), lambda: sides_of(pools))
    lines, lost = unpack(links.recall("context", EMPTY), pools)
    if lost:
        show.note(f"{lost} sentences of the link are of another benchmark or version and are left out.")
    links.remember("context", pack(lines), EMPTY)
    st.subheader("The context", anchor=False)
    _add(item, pools, source, lines)
    left, right = st.columns(2, gap="large")
    with right:
        points = _points(chosen, item, lines)
        if points:
            _result(chosen, item, lines, sides, points)
    with left:
        _list(item, lines, sides, points)
    if points:
        _tokens(item, points[-1])


# Adding sentences


def _add(item: Instance, pools: Pools, source: str, lines: Sequence[Line]) -> None:
    """Buttons that draw sentences of each kind, and a line to type one."""
    stereotypes = item.format == "crows_pairs"
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        many = links.pick(st.selectbox, "Draw", "draw", AMOUNTS, default="5", width=90)
        seed = _seed()
        for kind in CONDITIONS:
            name = name_of(kind, stereotypes=stereotypes)
            st.button(
                f"{name[0].upper()}{name[1:]}",
                key=f"lab:draw:{kind}",
                icon=":material/add:",
                disabled=not candidates(pools, item.group, kind),
                help=_meaning(kind, item, source),
                on_click=_draw_more,
                args=(pools, item, kind, seed, int(many), lines),
            )
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.text_input(
            "A sentence of your own", key="lab:typed", placeholder="Type a sentence and press Enter",
            on_change=_take_typed, args=(lines,),
        )  # fmt: skip
        st.button("Clear", key="lab:clear", icon=":material/close:", disabled=not lines, on_click=_keep, args=([],))


def _seed() -> int:
    st.session_state["lab:seed"] = links.whole("seed")
    seed = st.number_input(
        "Seed", min_value=0, max_value=links.MOST, step=1, key="lab:seed", width=110, on_change=_take_seed,
        help="Which sentences are drawn: the same as in a run with this seed.",
    )  # fmt: skip
    links.remember("seed", str(int(seed)), "0")
    return int(seed)


def _take_seed() -> None:
    links.choose("seed", str(int(st.session_state["lab:seed"])))


def _draw_more(pools: Pools, item: Instance, kind: str, seed: int, many: int, lines: Sequence[Line]) -> None:
    _keep([*lines, *draw_lines(pools, item, kind, seed, many, lines)])


def _take_typed(lines: Sequence[Line]) -> None:
    text = " ".join(str(st.session_state["lab:typed"]).split())
    st.session_state["lab:typed"] = ""
    if text:
        _keep([*lines, Line(text)])


def _keep(lines: Sequence[Line]) -> None:
    links.choose("context", pack(lines))


def _meaning(kind: str, item: Instance, source: str) -> str:
    if kind == "unrelated":
        return show.plain(f"From {source}.") if source else "There is no source of unrelated sentences."
    match, _, side = kind.partition("_")
    where = f"the suite {item.group}" if match == "matched" else "the other suites"
    return show.plain(f"The {side} sentences of {where}, without this pair's own.")


# What the context does


def _points(chosen: Chosen, item: Instance, lines: Sequence[Line]) -> tuple[Point, ...]:
    """The pair after every sentence; nothing while nobody asked for it, or where the model cannot be had."""
    if reason := live.why_unknown(chosen.model):
        show.note(reason)
        return ()
    wanted = live.is_loaded(chosen.model) or st.session_state.get("lab:model") == chosen.model
    if not wanted:
        _offer(chosen)
        return ()
    texts = [line.text for line in lines]
    with st.spinner(show.plain(live.waiting(chosen.model, layout.model_title(chosen.model))), show_time=True):
        growth = live.attempt(
            "priming", chosen.model, "", lambda: priming_live.growth(item, texts, chosen.model, "natural")
        )
    return growth or ()


def _offer(chosen: Chosen) -> None:
    title = layout.model_title(chosen.model)
    st.button(
        f"Judge with {show.plain(title)}", type="primary", icon=":material/bolt:", key="lab:judge",
        on_click=st.session_state.__setitem__, args=("lab:model", chosen.model),
    )  # fmt: skip
    show.note(f"With {title} every change of the context is judged at once; {live.beginning(chosen.model)}.")


def _list(item: Instance, lines: Sequence[Line], sides: Sides, points: Sequence[Point]) -> None:
    if not lines:
        show.nothing_yet(
            "No context yet",
            "Draw sentences with the buttons above, or type one. Then drag them into another order, or remove some.",
        )
        return
    margins = [point.judgment.value("margin") for point in points] or [math.nan] * (len(lines) + 1)
    verdicts = [answers.verdict_of(point.judgment.value("correct")) for point in points]
    steps = [after - before for before, after in pairwise(margins)]
    reach = max((abs(step) for step in steps if not math.isnan(step)), default=0.0)
    shown = []
    for place, (line, step) in enumerate(zip(lines, steps, strict=True), 1):
        kind = kind_of(line, item, sides)
        flips = bool(verdicts) and verdicts[place] not in (verdicts[place - 1], "none")
        shown.append(
            sentence_list.Shown(
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
    return lambda order: _keep(rearranged(lines, order))


def kind_name(kind: str, item: Instance) -> str:
    """What a kind of context sentence is called."""
    return "typed" if kind == TYPED else name_of(kind, stereotypes=item.format == "crows_pairs")


def _result(chosen: Chosen, item: Instance, lines: Sequence[Line], sides: Sides, points: Sequence[Point]) -> None:
    first, last = points[0], points[-1]
    options = answers.of_scores(last.scores)
    sentence = answers.verdict_sentence(
        item, options, last.judgment.value("correct"), last.judgment.value("margin"), last.judgment.reason("correct")
    )
    kind = answers.verdict_of(last.judgment.value("correct"))
    st.html(token_view.verdict(kind, sentence, answers.VERDICT_WORDS.get(item.format, {}).get(kind, "")))
    if lines:
        show.note(flips_in_words([answers.verdict_of(point.judgment.value("correct")) for point in points]))
    before, after = first.judgment.value("margin"), last.judgment.value("margin")
    cells = [
        ("No context", _number(before), "Margin in nats of the pair by itself"),
        ("After it", _number(after), f"Margin in nats after {_tokens_of(last)} of context"),
        ("Change", _number(after - before), "What all sentences add together, in nats"),
    ]
    show.numbers(cells if lines else cells[:1])
    for remark in priming_live.remarks(points):
        show.note(remark)
    if lines and not math.isnan(before):
        show.chart(
            margin_growth(
                [point.judgment.value("margin") for point in points],
                [line.text for line in lines],
                [kind_of(line, item, sides) for line in lines],
                "nats",
            ),
            key="lab:growth",
            alt="The margin after every sentence of the context, and what each sentence adds",
        )


def flips_in_words(verdicts: Sequence[str]) -> str:
    """Where along the context the verdict changes, in one sentence."""
    words = ["no score" if verdict == "none" else verdict for verdict in verdicts]
    turns = [place for place in range(1, len(words)) if words[place] != words[place - 1]]
    if not turns:
        return f"{words[0].capitalize()} without a context, and after every sentence of it."
    turned = ", ".join(f"{words[place]} from {place}" for place in turns)
    return f"{words[0].capitalize()} without a context; counted in sentences, {turned} on."


def _tokens(item: Instance, point: Point) -> None:
    st.subheader("The pair after the whole context, token by token", anchor=False)
    options = answers.of_scores(point.scores)
    if item.kind == "regions":
        instance_view.draw_instance(item, Answer(options, point.judgment), "nats")
        return
    faults = list(dict.fromkeys(one.reason for one in options if one.reason))
    for fault in faults:
        show.note(f"Without a score: {fault}")
    if not faults:
        first, second = options
        names = (answers.option_name(item, first.option), answers.option_name(item, second.option))
        st.html(token_view.aligned(first.tokens, second.tokens, "nats", labels=names))
        st.html(token_view.key("nats"))


def _tokens_of(point: Point) -> str:
    return "the tokens" if math.isnan(point.tokens) else f"{point.tokens:,.0f} tokens"


def _number(value: float) -> str:
    return display.number(value, signed=True)
