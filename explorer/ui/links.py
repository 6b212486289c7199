"""What a reader chose, kept from page to page and in the address, so that a link brings it back.

A widget drawn by two pages is two widgets to Streamlit, each with a memory of its own. So a choice is kept here, under
one name for all pages: an address that says something new wins, then what was chosen before, then the default.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from explorer import display, numbers
from explorer.ui import wrong_address

WRITTEN = "written:"
MOST = 2**31 - 1  # what a number box and every generator of random numbers take


def recall(
    name: str, default: str = "", options: Sequence[str] | None = None, title: Callable[[str], str] = str
) -> str:
    """The choice of this name; `default` where none is known, or none that is among the options.

    Where an address asks for what is not among them, the page says so; `title` is what people call an option.
    """
    wish = st.query_params.get(name) if is_news(name) else st.session_state.get(_chosen(name))
    if wish is None:
        return default
    if options is not None and wish not in options:
        if is_news(name):
            wrong_address.tell_wrong_choice(name, str(wish), default, options, title)
        return default
    return str(wish)


# Streamlit runs a page anew at every click, with the address as the browser had it. Of each choice three things are
# kept: what the address says, what we last wrote there (`_written`), and what is chosen (`_chosen`).
#
#     a link is opened     address "blimp", written nothing     news: the address decides
#     a reader picks       address "blimp", written "blimp"     no news: the choice decides, then it is written
#     the Back button      address "copa",  written "blimp"     news again: the address decides
def is_news(name: str) -> bool:
    """Whether the address says something of this name that was not chosen or read before."""
    linked = st.query_params.get(name)
    return linked is not None and linked != st.session_state.get(_written(name))


def whole_number(name: str, default: int = 0, most: int = MOST) -> int:
    """The choice as a whole number up to `most`; `default` where it is none."""
    wish = recall(name)
    number = numbers.whole(wish)
    if number is None and wish and is_news(name):
        wrong_address.tell_number(name, wish, default)
    return default if number is None else min(number, most)


def remember(name: str, value: str, default: str | None = None) -> str:
    """Keeps the choice and writes it into the address.

    A choice equal to `default` is not kept: where the default changes, as with the newest run, it changes too.
    """
    shown = None if value == default else value
    st.session_state[_chosen(name)] = shown
    if shown is None and name in st.query_params:
        del st.query_params[name]
    elif shown is not None and st.query_params.get(name) != shown:
        st.query_params[name] = shown
    st.session_state[_written(name)] = shown
    return value


def choose(name: str, value: str) -> None:
    """Makes this the choice from the next run on; for callbacks."""
    wrong_address.forget(name)
    take_event()
    st.session_state[_chosen(name)] = value
    # What the address says now is no news any more.
    st.session_state[_written(name)] = st.query_params.get(name)


def take_event() -> None:
    """Makes nothing that the address says of former choices news; for the start of callbacks.

    A click brings the address that the browser had when it was made. A quick one was made before the browser had our
    last answer: its address is the one before, and would undo the last choice if it were taken for a link.
    """
    for key in [str(key) for key in st.session_state if str(key).startswith(WRITTEN)]:
        st.session_state[key] = st.query_params.get(key.removeprefix(WRITTEN))


def forget(name: str) -> None:
    """Lets go of a choice, unless the address asks for it."""
    if name not in st.query_params:
        st.session_state[_chosen(name)] = st.session_state[_written(name)] = None


def pick(
    widget: Callable[..., Any],
    label: str,
    name: str,
    options: Sequence[str],
    *,
    default: str = "",
    always: bool = False,
    on_pick: Callable[[str], None] | None = None,
    **arguments: Any,
) -> str:
    """Draws a widget of one choice (a select box, a segmented control) and gives the choice.

    The default is left out of the address unless `always`. `on_pick` gets what the reader himself chooses or types,
    and never what a link says.
    """
    first = default if default in options or not options else options[0]
    arguments.setdefault("format_func", display.words)  # a stored name is read without its underscores
    value = recall(name, first, options, arguments["format_func"])
    key = f"pick:{name}"
    st.session_state[key] = value
    answer = widget(
        label, options, key=key, on_change=_take_widget_choice, args=(name, key, first, on_pick), **arguments
    )
    return remember(name, first if answer is None else str(answer), None if always else first)


def type_in(
    label: str, name: str, *, default: str = "", widget: Callable[..., Any] = st.text_input, **arguments: Any
) -> str:
    """Draws a line of text, or another widget to type into, and gives what stands in it."""
    key = f"pick:{name}"
    st.session_state[key] = recall(name, default)
    typed = widget(label, key=key, on_change=_take_widget_choice, args=(name, key, default), **arguments)
    return remember(name, typed or "", default)


def _take_widget_choice(name: str, key: str, default: str, on_pick: Callable[[str], None] | None = None) -> None:
    value = st.session_state.get(key)
    chosen = default if value is None else str(value)
    choose(name, chosen)
    if on_pick:
        on_pick(chosen)


def _chosen(name: str) -> str:
    return f"chosen:{name}"


def _written(name: str) -> str:
    return f"{WRITTEN}{name}"
