"""Finding an instance: by group, by words, by what the model did with it, and from one to the next."""

from __future__ import annotations

import html

import pandas as pd
import streamlit as st

from explorer.records import Instance
from explorer.results import queries
from explorer.ui import instance_list, links, resources, show
from explorer.ui.columns import id_column, text_column
from explorer.ui.instance_list import Listing

LISTED = 500  # rows of the list that are shown at once
EVERY_GROUP = "All groups"
EVERY_INSTANCE = "whole benchmark"


def find(listing: Listing, run_id: str) -> Instance | None:
    """The instance that is looked at, or none where none matches."""
    names = _matching(listing, run_id)
    asked_for = links.recall("instance")
    if not names:
        show.nothing_yet(
            "No instance matches", "Take words out of the search, or choose another group or verdict above."
        )
        return None
    name = asked_for if asked_for in names or _stays(asked_for, listing, names) else names[0]
    st.session_state["instance:seen"] = (name, names)
    links.remember("instance", name)
    _steps(names, name, listing)
    return listing.by_id[name]


def _stays(asked_for: str, listing: Listing, names: list[str]) -> bool:
    """Whether an instance that the filters leave out is shown: a link asked for it and nobody filtered since."""
    seen, seen_among = st.session_state.get("instance:seen", ("", None))
    return asked_for in listing.by_id and (asked_for != seen or names == seen_among)


def _matching(listing: Listing, run_id: str) -> list[str]:
    group_box, verdict_box, order_box, words_box = st.columns([1.3, 1, 1, 1.4], vertical_alignment="bottom")
    with group_box:
        group = links.pick(st.selectbox, "Group", "group", [EVERY_GROUP, *listing.groups], default=EVERY_GROUP)
    shown = [*queries.VERDICT_FILTERS, EVERY_INSTANCE] if run_id else [EVERY_INSTANCE]
    with verdict_box:
        verdict = links.pick(st.selectbox, "Show", "verdict", shown, disabled=not run_id)
    with order_box:
        orders = list(queries.ORDERS) if verdict != EVERY_INSTANCE else list(queries.ORDERS)[:1]
        order = links.pick(st.selectbox, "Order", "order", orders, disabled=len(orders) == 1)
    with words_box:
        words = links.type_in("Search", "words", placeholder="words in the text, or an id", icon=":material/search:")
    names = listing.matching("" if group == EVERY_GROUP else group, words)
    if verdict == EVERY_INSTANCE:
        return names
    wanted = set(names)
    judged = resources.ask(queries.items, run_id, verdict=verdict, order=order)
    return [name for name in judged["instance_id"] if name in wanted]


def _steps(names: list[str], name: str, listing: Listing) -> None:
    place = names.index(name) if name in names else -1
    back, middle, forth = st.columns([1, 4, 1], vertical_alignment="center")
    back.button(
        "Previous", key="step:back", icon=":material/chevron_left:", shortcut="Left", width="stretch",
        disabled=place == 0, on_click=links.choose, args=("instance", names[max(place - 1, 0)]),
    )  # fmt: skip
    where = f"{place + 1:,} of {len(names):,}" if place >= 0 else f"outside the {len(names):,} that match"
    middle.html(f'<p class="lx-where" style="text-align:center">{where} · {html.escape(name)}</p>')
    forth.button(
        "Next", key="step:forth", icon=":material/chevron_right:", icon_position="right", shortcut="Right",
        width="stretch", disabled=place == len(names) - 1,
        on_click=links.choose, args=("instance", names[min(place + 1, len(names) - 1)]),
    )  # fmt: skip
    drawer = st.expander("Choose from the list", key="list:open", on_change="rerun")
    if drawer.open:
        with drawer:
            _list(names, listing)


def _list(names: list[str], listing: Listing) -> None:
    shown = names[:LISTED]
    frame = _frame(shown, listing)
    rows = show.table(
        frame,
        "instances",
        columns={"text": text_column("Text", width="large"), "instance": id_column("Instance")},
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
