"""The context's sentences as a list: dragged into another order, removed, each with what it adds to the margin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import streamlit as st

KEY = "lab:list"


@dataclass(frozen=True, slots=True)
class ShownSentence:
    """A sentence as the list shows it; `share` of the largest addition draws its bar, `flip` says a new verdict."""

    text: str
    name: str
    color: str
    added: str
    share: float
    flip: str = ""


def draw_sentence_list(lines: Sequence[ShownSentence], take: Callable[[list[int]], None]) -> None:
    """Draws the list; `take` is given the old places in their new order when the reader changes it."""

    def changed() -> None:
        order = _order_of(st.session_state.get(KEY))
        if order is not None:
            take(order)

    _component()(key=KEY, data={"lines": [asdict(line) for line in lines]}, on_order_change=changed)


def _order_of(answer: Any) -> list[int] | None:
    order = answer.get("order") if hasattr(answer, "get") else None
    return [int(place) for place in order] if order is not None else None


@st.cache_resource(show_spinner=False)
def _component() -> Callable[..., Any]:
    file = Path(__file__)
    component: Callable[..., Any] = st.components.v2.component(
        "lexiscope_priming_list",
        html='<ol aria-label="Sentences of the context"></ol>',
        css=file.with_suffix(".css").read_text(encoding="utf-8"),
        js=file.with_suffix(".js").read_text(encoding="utf-8"),
    )
    return component
