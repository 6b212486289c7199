"""What an address asks for and what is not there: said in one sentence, with the nearest that is.

Each sentence stands at the head of the page (explorer/ui/layout.py gives the place) until the reader chooses something
else or leaves the page.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from explorer.ui.plain_text import plain

WRONG = "address:wrong"  # name of a choice → Wrong
PLACE = "address:place"  # where the sentences stand
DRAWN = "address:drawn"  # names whose sentence stands there in this run of the page
LONGEST = 60  # signs of what was asked for
MOST_NAMED = 3  # of several that are not here, so many are named
ALIKE = 0.5  # of two names, from 0 to 1, for one to be offered in the place of the other

# Choice → what people call it.
KINDS: Mapping[str, str] = {
    "benchmark": "benchmark",
    "model": "model",
    "run": "stored run",
    "shown": "run",
    "study": "study",
    "group": "group",
    "grp": "group",
    "suite": "suite",
    "unit": "unit",
    "shape": "form of the strip",
    "verdict": "filter",
    "order": "order",
    "measure": "measure",
    "item": "test item",
    "instance": "instance",
    "concept": "concept",
    "index": "corpus",
    "language": "language",
    "setting": "setting",
    "source": "source",
}
# Choice of several → why one of them is left out.
LEFT_OUT: Mapping[str, str] = {
    "runs": "no run is called so, or it has no results yet",
    "beside": "no run of another model that could stand beside is called so",
    "also": "no model that was tried here is called so",
    "held": "no measure of these instances is called so",
}
VIEW = "view"  # what any other choice is called


@dataclass(frozen=True, slots=True)
class Wrong:
    """What an address asked for in vain.

    sentence  what is said
    label     what the nearest is called, "" where nothing is near
    choices   what is chosen with the nearest: name → value
    """

    sentence: str
    label: str = ""
    choices: Mapping[str, str] = field(default_factory=dict)


# Choice → a look beyond the options for what was asked: a Wrong that tells of it, or none.
LOOKUPS: dict[str, Callable[[str], Wrong | None]] = {}


def tell_wrong_choice(
    name: str, wish: str, default: str, options: Sequence[str], title: Callable[[str], str] = str, *, shown: str = ""
) -> None:
    """Says that nothing is called so; `shown` or else the default's name is what is shown in its place."""
    elsewhere = LOOKUPS[name](wish) if name in LOOKUPS else None
    if elsewhere is None:
        near = nearest(wish, options, title)
        label = title(near) if near else ""
        instead = shown or (title(default) if default in options else "")
        sentence = f"No {KINDS.get(name, VIEW)} is called “{short(wish)}” here."
        if instead and near != default:
            sentence += f" Shown is {instead}."
        elif instead:
            sentence += f" Shown is the nearest, {instead}."
            near = ""
        elsewhere = Wrong(sentence, label if near else "", {name: near} if near else {})
    _keep_wrong(name, elsewhere)


def tell_left_out(name: str, lost: Sequence[str], why: str = "", *, shown: str = "") -> None:
    """Says which of several are left out and why; `shown` is what is shown in their place."""
    named = ", ".join(f"“{short(wish)}”" for wish in lost[:MOST_NAMED])
    more = f" and {len(lost) - MOST_NAMED} more" if len(lost) > MOST_NAMED else ""
    sentence = f"The address asks for {named}{more}, left out here: {why or LEFT_OUT[name]}."
    _keep_wrong(name, Wrong(sentence + (f" Shown is {shown}." if shown else "")))


def tell_number(name: str, wish: str, default: int) -> None:
    """Says that a number in the address is none."""
    named = KINDS.get(name, name.replace("_", " "))
    _keep_wrong(name, Wrong(f"The {named} in the address, “{short(wish)}”, is no whole number. Shown is {default}."))


def nearest(wish: str, options: Sequence[str], title: Callable[[str], str] = str) -> str:
    """The option whose name or title is most like what was asked for; "" where none is alike."""
    names: dict[str, str] = {}
    for option in options:
        if option:
            names.setdefault(title(option).casefold(), option)
            names.setdefault(option.casefold(), option)
    close_names = difflib.get_close_matches(wish.casefold(), list(names), n=1, cutoff=ALIKE)
    return names[close_names[0]] if close_names else ""


def short(wish: str) -> str:
    """What was asked for, cut where it is long."""
    wish = " ".join(wish.split())
    return wish if len(wish) <= LONGEST else f"{wish[: LONGEST - 1]}…"


def open_place(choose: Callable[[str, str], None]) -> None:
    """The place of the sentences on this page, with those that still hold; `choose` takes the nearest."""
    st.session_state[PLACE] = (st.container(), choose)
    st.session_state[DRAWN] = set()
    for name, wrong in _wrong_by_name().items():
        _draw_sentence(name, wrong)


def forget(name: str = "") -> None:
    """Lets go of what was said of this choice; without a name of all."""
    if name:
        _wrong_by_name().pop(name, None)
    else:
        _wrong_by_name().clear()


def _wrong_by_name() -> dict[str, Wrong]:
    wrong_by_name: dict[str, Wrong] = st.session_state.setdefault(WRONG, {})
    return wrong_by_name


def _keep_wrong(name: str, wrong: Wrong) -> None:
    _wrong_by_name()[name] = wrong
    context = get_script_run_ctx(suppress_warning=True)
    if context is not None and not context.fragment_ids_this_run:  # a part of a page draws nothing outside of itself
        _draw_sentence(name, wrong)


def _draw_sentence(name: str, wrong: Wrong) -> None:
    if PLACE not in st.session_state or name in st.session_state[DRAWN]:
        return
    st.session_state[DRAWN].add(name)
    place, choose = st.session_state[PLACE]
    with place.container(horizontal=True, vertical_alignment="center", key=f"lx-wrong-{name}"):
        st.warning(plain(wrong.sentence), icon=":material/wrong_location:")
        if wrong.label:
            st.button(
                plain(f"Show {wrong.label}"),
                key=f"nearest:{name}",
                on_click=_choose_nearest,
                args=(wrong.choices, choose, name),
            )


def _choose_nearest(choices: Mapping[str, str], choose: Callable[[str, str], None], name: str) -> None:
    for chosen, value in choices.items():
        choose(chosen, value)
    forget(name)
