"""What a visitor of the lab has chosen: the swaps and the open word, in the address; the steps back; the vetoes."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from explorer.ui import links

SWAPS = "swaps"  # in the address: arrest.v:collar;actor.n:player
WORD = "word"
HISTORY = "lab:history"
SHOWN = "lab:instance"
VETO = "run:perturbation:veto"  # the key under which the dialog Run keeps the study's setting


def begin(instance_id: str) -> None:
    """Forgets the swaps of another instance."""
    if st.session_state.get(SHOWN, instance_id) != instance_id:
        links.choose(SWAPS, "")
        links.choose(WORD, "")
        st.session_state[HISTORY] = []
    st.session_state[SHOWN] = instance_id


def choices() -> dict[str, str]:
    """The chosen substitutes by word ("arrest.v")."""
    return parse(links.recall(SWAPS))


def write() -> None:
    """Puts the swaps and the open word into the address, so that it can be shared."""
    links.remember(SWAPS, links.recall(SWAPS), "")
    links.remember(WORD, links.recall(WORD), "")


def choose(swaps: Mapping[str, str]) -> None:
    """These swaps from now on; those before can be had back."""
    before = links.recall(SWAPS)
    if format_swaps(swaps) != before:
        st.session_state.setdefault(HISTORY, []).append(before)
        links.choose(SWAPS, format_swaps(swaps))


def undo() -> None:
    """The swaps of one step before."""
    if st.session_state.get(HISTORY):
        links.choose(SWAPS, st.session_state[HISTORY].pop())


def can_undo() -> bool:
    return bool(st.session_state.get(HISTORY))


def open_word(key: str) -> None:
    """Opens the senses of a word, or closes them."""
    links.choose(WORD, "" if links.recall(WORD) == key else key)


def parse(text: str) -> dict[str, str]:
    """The swaps that `format_swaps` wrote; what is no swap is left out."""
    pieces = (piece.partition(":") for piece in text.split(";"))
    return {key: substitute for key, _, substitute in pieces if key and substitute}


def format_swaps(swaps: Mapping[str, str]) -> str:
    """Swaps as a short text."""
    return ";".join(f"{key}:{substitute}" for key, substitute in sorted(swaps.items()))


def vetoes() -> list[str]:
    """The words that full runs started from this window leave alone, and the lab too."""
    return [word.strip() for word in str(st.session_state.get(VETO) or "").split(",") if word.strip()]


def veto(word: str) -> None:
    """Adds a word to the vetoes and undoes its swaps."""
    st.session_state[VETO] = ", ".join(dict.fromkeys([*vetoes(), word]))
    choose({key: value for key, value in choices().items() if key.rpartition(".")[0] != word})
    links.choose(WORD, "")


def allow(word: str) -> None:
    """Takes a word out of the vetoes."""
    st.session_state[VETO] = ", ".join(one for one in vetoes() if one != word)
