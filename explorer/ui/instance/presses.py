"""Presses of Previous and Next, each of which counts, however quickly they follow each other (presses.js tells how)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import streamlit as st

KEY = "step:presses"
TAKEN = "step:taken"  # the number of the last press that was taken
MOST = 2**31


def count_presses(names: Sequence[str], place: int, take: Callable[[str], None]) -> None:
    """Counts the presses of the two buttons on this list, of which the one at `place` is shown (-1: none of them).

    `take` is given the name that they lead to.
    """
    of = str(hash(tuple(names)))

    def went() -> None:
        answer = st.session_state.get(KEY)
        go = answer.get("go") if answer is not None and hasattr(answer, "get") else None
        if not isinstance(go, Mapping):
            return
        number, to = _whole(go.get("number")), _whole(go.get("to"))
        if number <= st.session_state.get(TAKEN, 0):
            return  # sent again, and taken already
        st.session_state[TAKEN] = number
        # Made on another list, it leads nowhere on this one.
        if go.get("of") == of and 0 <= to < len(names):
            take(names[to])

    data = {"place": place, "total": len(names), "of": of, "taken": st.session_state.get(TAKEN, 0)}
    _component()(key=KEY, data=data, on_go_change=went)


def _whole(sent: Any) -> int:
    """A number as the browser sent it; -1 for what is none."""
    return sent if type(sent) is int and abs(sent) <= MOST else -1


@st.cache_resource(show_spinner=False)
def _component() -> Callable[..., Any]:
    script = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
    component: Callable[..., Any] = st.components.v2.component("lexiscope_presses", js=script)
    return component
