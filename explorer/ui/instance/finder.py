"""Finding an instance, in one line: the one before and after, a search, filters, and what is shown of it."""

from __future__ import annotations

import difflib
import html
from dataclasses import dataclass
from typing import cast

import pandas as pd
import streamlit as st

from explorer import display
from explorer.records import Instance
from explorer.results import queries
from explorer.ui import dependent_choices, instance_list, layout, links, resources, show
from explorer.ui.columns import id_column, text_column
from explorer.ui.instance import own_texts, presses
from explorer.ui.instance import view as instance_view
from explorer.ui.instance.own_texts import OF_BENCHMARK, OWN_PAIR, OWN_TEXT
from explorer.ui.instance_list import Listing
from explorer.ui.layout import Chosen
from explorer.ui.token_view import Unit

LISTED = 500  # rows of the list that are shown at once
NEAREST = 3
WRONG = "wrong"
EVERY_GROUP = "All groups"
EVERY_INSTANCE = "whole benchmark"
# What is looked at → the choices that the address holds of it.
CHOICES = {OF_BENCHMARK: ("instance",), OWN_TEXT: ("text",), OWN_PAIR: ("good", "bad", "suite")}
EXAMPLE = "The old doctor bought a small house near the harbor and astounded every visitor with his stories."
EXAMPLE_PAIR = ("The keys to the cabinet are on the table.", "The keys to the cabinet is on the table.")


@dataclass(frozen=True, slots=True)
class FoundInstance:
    """The instance that is looked at (none where none is), the stored run it is looked up in, and how it is shown.

    `following` is the one that Next leads to, where there is one.
    """

    instance: Instance | None
    run_id: str
    unit: Unit
    shape: str
    following: Instance | None = None


def find(chosen: Chosen, listing: Listing) -> FoundInstance:
    """The line that finds an instance, and what was found."""
    row = st.container(horizontal=True, vertical_alignment="center", gap="small", key="finder")
    steps = row.container(horizontal=True, vertical_alignment="center", gap="small", width="content")
    with row:
        words = links.type_in(
            "Search", "words", placeholder="Search", icon=":material/search:", label_visibility="collapsed", width=130
        )
        with st.popover("Filters", icon=":material/filter_list:", key="finder:filters"):
            run_id = layout.pick_run("accuracy", chosen, none="No stored run: score now")
            group, verdict, order = _filters(listing, run_id)
            unit = links.pick(st.segmented_control, "Surprisal in", "unit", ["nats", "bits"], required=True)
            shape = links.pick(st.segmented_control, "Shown as", "shape", instance_view.SHAPES, required=True)
        shortcut = st.container(width="content")
        listed = st.popover("List", icon=":material/list:", key="list:open", on_change="rerun")
        refusal = _draw_own_text()
    for name in (name for other, names in CHOICES.items() if other != refusal for name in names):
        links.put_away(name)
    picked = FoundInstance(None, run_id, cast(Unit, unit), shape)
    if run_id and refusal == OF_BENCHMARK:
        with shortcut:
            _shortcut(verdict)
    if refusal != OF_BENCHMARK:
        with steps:
            st.html(f'<p class="lx-where">{html.escape(refusal)}</p>')
        return FoundInstance(_own_text() if refusal == OWN_TEXT else _own_pair(chosen, listing), "", picked.unit, shape)
    names = _matching(listing, run_id, "" if group == EVERY_GROUP else group, words, verdict, order)
    asked_for = links.recall("instance")
    if asked_for and asked_for not in listing.by_id and links.is_news("instance"):
        _no_such(asked_for, listing, chosen)
        return picked
    if not names:
        show.nothing_yet(
            "No instance matches", "Take words out of the search, or choose another group or verdict under Filters."
        )
        return picked
    name = asked_for if asked_for in names or _stays(asked_for, listing, names) else names[0]
    st.session_state["instance:seen"] = (name, names)
    links.remember("instance", name, leaving=dependent_choices.OF_INSTANCE)
    with steps:
        _steps(names, name)
    if listed.open:
        with listed:
            _list(names, listing)
    place = names.index(name) if name in names else len(names)
    following = listing.by_id[names[place + 1]] if place + 1 < len(names) else None
    return FoundInstance(listing.by_id[name], run_id, picked.unit, shape, following)


def nearest(asked_for: str, listing: Listing) -> list[str]:
    """The ids that are most like one that there is not: of the group it names where there is such a group."""
    group = asked_for.rpartition("/")[0]
    key = asked_for.rpartition("/")[2]
    names_of_group = [name for name in listing.by_id if name.rpartition("/")[0] == group]
    if not names_of_group:
        groups = sorted({name.rpartition("/")[0] for name in listing.by_id})
        near = difflib.get_close_matches(group, groups, 1, cutoff=0.0)
        names_of_group = [name for name in listing.by_id if name.rpartition("/")[0] in near]
    keys = {name.rpartition("/")[2]: name for name in names_of_group}
    return [keys[close_key] for close_key in difflib.get_close_matches(key, keys, NEAREST, cutoff=0.0)]


def _no_such(asked_for: str, listing: Listing, chosen: Chosen) -> None:
    st.warning(
        show.plain(
            f"There is no instance “{asked_for[:120]}” in {layout.benchmark_title(chosen.benchmark)}. Nearest are:"
        ),
        icon=":material/search_off:",
    )
    for name in nearest(asked_for, listing):
        st.button(
            show.plain(f"{name} · {instance_list.summary(listing.by_id[name], 80)}"),
            key=f"nearest:{name}", type="tertiary", icon=":material/arrow_forward:",
            on_click=links.choose, args=("instance", name),
        )  # fmt: skip


def _stays(asked_for: str, listing: Listing, names: list[str]) -> bool:
    """Whether an instance that the filters leave out is shown: a link asked for it and nobody filtered since."""
    seen, seen_among = st.session_state.get("instance:seen", ("", None))
    return asked_for in listing.by_id and (asked_for != seen or names == seen_among)


def _filters(listing: Listing, run_id: str) -> tuple[str, str, str]:
    group = links.pick(st.selectbox, "Group", "group", [EVERY_GROUP, *listing.groups], default=EVERY_GROUP)
    shown = [*queries.VERDICT_FILTERS, EVERY_INSTANCE] if run_id else [EVERY_INSTANCE]
    verdict = links.pick(st.selectbox, "Show", "verdict", shown, disabled=not run_id)
    orders = list(queries.ORDERS) if verdict != EVERY_INSTANCE else list(queries.ORDERS)[:1]
    order = links.pick(st.selectbox, "Order", "order", orders, disabled=len(orders) == 1)
    return group, verdict, order


def _shortcut(verdict: str) -> None:
    """The filter that is wanted most, in one click: what the model gets wrong, by little first; and back to all."""
    if verdict == WRONG:
        st.button("All instances", key="finder:all", type="tertiary", on_click=_show, args=("in the run", ""))
    else:
        st.button(
            "Wrong ones", key="finder:wrong", type="tertiary", on_click=_show, args=(WRONG, "smallest margin"),
            help="Only what the model gets wrong, the smallest margin first.",
        )  # fmt: skip


def _show(verdict: str, order: str) -> None:
    links.choose("verdict", verdict)
    links.choose("order", order or next(iter(queries.ORDERS)))


def _matching(listing: Listing, run_id: str, group: str, words: str, verdict: str, order: str) -> list[str]:
    names = listing.matching(group, words)
    if verdict == EVERY_INSTANCE:
        return names
    wanted = set(names)
    judged = resources.ask_store(queries.items, run_id, verdict=verdict, order=order)
    return [name for name in judged["instance_id"] if name in wanted]


def _steps(names: list[str], name: str) -> None:
    place = names.index(name) if name in names else -1
    st.button(
        "Previous", key="step:back", shortcut="Left", type="tertiary",
        disabled=place == 0, on_click=links.choose, args=("instance", names[max(place - 1, 0)]),
    )  # fmt: skip
    where = f"{place + 1:,} of {len(names):,}" if place >= 0 else f"outside the {len(names):,} that match"
    group, _, key = name.rpartition("/")
    # A key that is a number alone says little; the whole id stands in the hint.
    short = f"{display.words(group.rpartition('/')[2])} {key}" if key.isdigit() else key
    st.html(
        f'<p class="lx-where" role="status" title="{html.escape(name, quote=True)}">'
        f"<b>{where}</b> · {html.escape(short)}</p>",
        width="content",
    )
    st.button(
        "Next", key="step:forth", shortcut="Right",
        type="tertiary", disabled=place == len(names) - 1,
        on_click=links.choose, args=("instance", names[min(place + 1, len(names) - 1)]),
    )  # fmt: skip
    presses.count_presses(names, place, lambda there: links.choose("instance", there))


def _list(names: list[str], listing: Listing) -> None:
    shown = names[:LISTED]
    frame = _frame(shown, listing)
    with st.container(key="list:body"):
        rows = show.table(
            frame,
            "instances",
            columns={"text": text_column("Text", width=460), "instance": id_column("Instance")},
            height=280,
            caption="The instances that match, with the beginning of their text",
            n=len(names),
            picks=f"list:{hash(tuple(shown))}",
            # The file has all that match, not only those listed.
            whole=_frame(names, listing),
        )
    if len(names) > LISTED:
        show.note(f"The first {LISTED} of {len(names):,}; search to see others.")
    if rows and st.session_state.get("list:last") != (shown[rows[0]], len(names)):
        st.session_state["list:last"] = (shown[rows[0]], len(names))
        links.choose("instance", shown[rows[0]])
        st.rerun()


def _frame(names: list[str], listing: Listing) -> pd.DataFrame:
    return pd.DataFrame({"instance": names, "text": [instance_list.summary(listing.by_id[name]) for name in names]})


# --- a text of one's own


def _draw_own_text() -> str:
    with st.popover("Own text", icon=":material/edit_note:", key="finder:own"):
        return links.pick(
            st.radio, "Look at", "what", [OF_BENCHMARK, OWN_TEXT, OWN_PAIR], default=OF_BENCHMARK,
            leaving=(*dependent_choices.OF_INSTANCE, dependent_choices.CONTEXT),
        )  # fmt: skip


def _own_text() -> Instance | None:
    shown = links.recall("text", EXAMPLE)
    st.session_state["lab:text"] = shown
    typed = st.text_area("Text", key="lab:text", height="content", on_change=_take_text) or ""
    text = links.remember("text", typed, EXAMPLE)
    if not text.strip():
        show.note("Type a text above.")
        return None
    return own_texts.own_text(text)


def _take_text() -> None:
    links.choose("text", str(st.session_state.get("lab:text") or ""))


def _own_pair(chosen: Chosen, listing: Listing) -> Instance:
    """A pair of the reader's own; matched sentences of its context are of the suite that is chosen beside it."""
    left, right, beside = st.columns([1.3, 1.3, 1])
    with left:
        good = links.type_in("Acceptable", "good", placeholder=EXAMPLE_PAIR[0]).strip() or EXAMPLE_PAIR[0]
    with right:
        bad = links.type_in("Unacceptable", "bad", placeholder=EXAMPLE_PAIR[1]).strip() or EXAMPLE_PAIR[1]
    with beside:
        suite = links.pick(
            st.selectbox, "Suite", "suite", list(listing.groups), help="Matched context sentences are of this suite."
        )
    return own_texts.own_pair(chosen.benchmark, suite, good, bad)
