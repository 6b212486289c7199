"""What a reader chose, kept from page to page and in the address, so that a link brings it back.

A widget drawn by two pages is two widgets to Streamlit, each with a memory of its own. So a choice is kept here, under
one name for all pages: an address that says something new wins, then what was chosen before, then the default.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from explorer import display, numbers
from explorer.ui import wrong_address

WRITTEN = "written:"
ADDRESS = "links:address"  # the page and its address, as the browser has it once all that we sent is there
MOST = 2**31 - 1  # what a number box and every generator of random numbers take


def recall(
    name: str, default: str = "", options: Sequence[str] | None = None, title: Callable[[str], str] = str
) -> str:
    """The choice of this name; `default` where none is known, or none that is among the options.

    Where an address asks for what is not among them, the page says so; `title` is what people call an option.
    """
    if is_news(name):
        wish = st.query_params.get(name)
    elif went_back() and name not in st.query_params:
        wish = st.session_state[_chosen(name)] = None
    else:
        wish = st.session_state.get(_chosen(name))
    if wish is None:
        return default
    if options is not None and wish not in options:
        if is_news(name):
            wrong_address.tell_wrong_choice(name, str(wish), default, options, title)
        return default
    return str(wish)


def recall_several(
    name: str, options: Sequence[str], title: Callable[[str], str] = str, instead: str = ""
) -> list[str]:
    """The chosen ones of several (parted by commas in an address) that are among the options.

    Where an address asks for others too, the page says which it left out; `instead` is what it shows where none is
    left.
    """
    wish = list(dict.fromkeys(filter(None, recall(name).split(","))))
    known = [wanted for wanted in wish if wanted in options]
    if len(known) < len(wish) and is_news(name):
        lost = [wanted for wanted in wish if wanted not in options]
        wrong_address.tell_left_out(name, lost, shown="" if known else instead)
    return known


# Streamlit runs a page anew at every click, with the address as the browser had it. Of each choice three things are
# kept: what the address says, what we last wrote there (`_written`), and what is chosen (`_chosen`).
#
#     a link is opened     address "blimp", written nothing     news: the address decides
#     a reader picks       address "blimp", written "blimp"     no news: the choice decides, then it is written
#     the Back button      address "copa",  written "blimp"     news again: the address decides
#     the Back button      address without, written "blimp"     what is not in a former address was not chosen then
#
# A click brings the address that the browser had when it was made. A quick one was made before the browser had our last
# answer: its address is the one before, and would undo the last choice if it were taken for a link. Nor may it be taken
# for what the browser shows in the end: our answer is still on its way, and stays there unless another one is sent.
# So the address that we left is kept too (`ADDRESS`), and an older one is put right where it cannot be a link: in
# callbacks, and where a part of a page alone is run.
def is_news(name: str) -> bool:
    """Whether the address says something of this name that was not chosen or read before."""
    _put_right_in_part()
    linked = st.query_params.get(name)
    return linked is not None and linked != st.session_state.get(_written(name))


def whole_number(name: str, default: int = 0, most: int = MOST) -> int:
    """The choice as a whole number up to `most`; `default` where it is none."""
    wish = recall(name)
    number = numbers.whole(wish)
    if number is None and wish and is_news(name):
        wrong_address.tell_number(name, wish, default)
    return default if number is None else min(number, most)


def remember(name: str, value: str, default: str | None = None, leaving: Sequence[str] = ()) -> str:
    """Keeps the choice and writes it into the address.

    A choice equal to `default` is not kept: where the default changes, as with the newest run, it changes too.
    `leaving` are choices that say something of the one before alone, and leave the address together with it.
    """
    shown = None if value == default else value
    st.session_state[_chosen(name)] = shown
    _write({name: shown}, leaving)
    return value


def remember_together(values: Mapping[str, str], defaults: Mapping[str, str]) -> None:
    """Keeps choices that make sense together alone, so that no address is written that has a part of them."""
    shown = {name: None if value == defaults.get(name) else value for name, value in values.items()}
    for name, value in shown.items():
        st.session_state[_chosen(name)] = value
    _write(shown)


def put_away(name: str) -> None:
    """Takes a choice out of the address while nothing that is shown depends on it; it is kept for later."""
    if is_news(name):
        st.session_state[_chosen(name)] = st.query_params[name]
    _write({name: None})


def choose(name: str, value: str) -> None:
    """Makes this the choice from the next run on; for callbacks."""
    wrong_address.forget(name)
    take_event()
    st.session_state[_chosen(name)] = value
    # What the address says now is no news any more.
    st.session_state[_written(name)] = st.query_params.get(name)


def take_event() -> None:
    """Puts the address right that a click brought, where it is an older one; for the start of callbacks."""
    page, address = st.session_state.get(ADDRESS, ("", None))
    if address is not None and page == _page() and st.query_params.to_dict() != address:
        st.query_params.from_dict(address)


def take_address() -> None:
    """Takes the address as the browser came with it; for the start of every page."""
    came = st.query_params.to_dict()
    page, address = st.session_state.get(ADDRESS, ("", None))
    if page == _page() and came != address:
        # The answer to a click before may still be on its way, and would stand over this one.
        st.query_params.from_dict(came)
    st.session_state[ADDRESS] = (_page(), came)


def run_page() -> NoReturn:
    """Has the whole page run anew, from a part of it that a clock runs; the clock may have brought an older address."""
    take_event()
    st.rerun()


def went_back() -> bool:
    """Whether the page is run because the reader went back or forward in his browser."""
    context = get_script_run_ctx(suppress_warning=True)
    return context is not None and context.is_history_navigation


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
    leaving: Sequence[str] = (),
    **arguments: Any,
) -> str:
    """Draws a widget of one choice (a select box, a segmented control) and gives the choice.

    The default is left out of the address unless `always`. `on_pick` gets what the reader himself chooses or types,
    and never what a link says. `leaving` is as in `remember`.
    """
    first = default if default in options or not options else options[0]
    arguments.setdefault("format_func", display.words)  # a stored name is read without its underscores
    value = recall(name, first, options, arguments["format_func"])
    key = f"pick:{name}"
    st.session_state[key] = value
    answer = widget(
        label, options, key=key, on_change=_take_widget_choice, args=(name, key, first, on_pick), **arguments
    )
    return remember(name, first if answer is None else str(answer), None if always else first, leaving)


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


# All that changes is sent as one address. Each one that is sent can become an entry of the browser's way back, and one
# that has the new benchmark with the old instance would lead to a page that nobody saw.
def _write(values: Mapping[str, str | None], leaving: Sequence[str] = ()) -> None:
    """Has the address say this of some names, or nothing; what leaves with a change stays where a link asks for it."""
    _put_right_in_part()
    before = st.query_params.to_dict()
    if any(before.get(name) != value for name, value in values.items()):
        gone = {name: None for name in leaving if name not in values and not is_news(name)}
        values = {**gone, **values}
        after = {**before, **values}
        st.query_params.from_dict({name: value for name, value in after.items() if value is not None})
        st.session_state[ADDRESS] = (_page(), st.query_params.to_dict())
    for name, value in values.items():
        st.session_state[_written(name)] = value


def _put_right_in_part() -> None:
    context = get_script_run_ctx(suppress_warning=True)
    # A link, and the way back, have the whole page run; what a part alone is run with is a click, or a clock.
    if context is not None and context.fragment_ids_this_run:
        take_event()


def _page() -> str:
    context = get_script_run_ctx(suppress_warning=True)
    return context.page_script_hash if context is not None else ""


def _chosen(name: str) -> str:
    return f"chosen:{name}"


def _written(name: str) -> str:
    return f"{WRITTEN}{name}"
