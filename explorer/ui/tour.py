"""Five short steps through the app for who is here for the first time, to be left at any of them."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

import streamlit as st
from streamlit.errors import StreamlitAPIException

from explorer.ui import page_list, resources, show, visitor

STEP = "tour:step"  # in the session: the step that is shown, LEFT or WAITING
LEFT = -1
WAITING = -2  # for who came by a link to another page, until the first page is opened


@dataclass(frozen=True, slots=True)
class Step:
    """A step: the page it stands on, and what is said there."""

    page: str
    text: str


STEPS = (
    Step(
        "Overview",
        "Choose a model and a benchmark in the bar at the top, once for all pages. Both are part of the address: a "
        "link that you send opens what you see.",
    ),
    Step(
        "Instance",
        "One sentence, word by word: the stronger its color, the more a word surprised the model. Change one and watch "
        "the verdict move.",
    ),
    Step(
        "Popularity",
        "Each study has a page: what it found as a figure, under the sentence it supports. A dot or a bar leads to the "
        "instances behind it.",
    ),
    Step(
        "Runs",
        "Run, at the top of every page, starts a full run. It goes on while you look around, and closing the window "
        "does not end it.",
    ),
    Step(
        "Data and models",
        "Bring models and texts of your own here. Ctrl+K searches everything; ? lists the keys.",
    ),
)


def draw_tour(page: str, model: str, benchmark: str) -> None:
    """The step that the reader is at; nothing for who was here before, or follows somebody's link."""
    at = _follow(page, st.session_state.get(STEP, LEFT if _was_here() else WAITING))
    st.session_state[STEP] = at
    if at < 0:
        return
    step = STEPS[at]
    if page != step.page:  # what is said there is not about this page
        with st.container(horizontal=True, vertical_alignment="center", key="lx-tour-away"):
            if st.button(
                f"Back to the tour: {step.page}", key="tour:back", icon=":material/arrow_back:", type="tertiary"
            ):
                _go_to_step(at, model, benchmark)
            st.button("Leave the tour", key="tour:leave", type="tertiary", on_click=leave)
        return
    with st.container(horizontal=True, vertical_alignment="center", key="lx-tour"):
        st.html(f'<p class="lx-tour-text"><b>{at + 1} of {len(STEPS)}</b> {show.escaped(step.text)}</p>')
        if at + 1 < len(STEPS):
            if st.button(f"On to {STEPS[at + 1].page}", key="tour:next", icon=":material/arrow_forward:"):
                _go_to_step(at + 1, model, benchmark)
            st.button("Leave the tour", key="tour:leave", type="tertiary", on_click=leave)
        else:
            st.button("End the tour", key="tour:leave", on_click=leave)


def _follow(page: str, at: int) -> int:
    """The step after a page was opened: who goes to the next one by himself has taken that step."""
    if at == WAITING and page == STEPS[0].page:
        return 0
    return at + 1 if at >= 0 and at + 1 < len(STEPS) and page == STEPS[at + 1].page else at


def leave() -> None:
    """Ends the tour for this session, and on the owner's machine for good."""
    st.session_state[STEP] = LEFT
    if visitor.role() == "owner":
        mark = resources.settings().cache / "tour_seen"
        with contextlib.suppress(OSError):
            mark.parent.mkdir(parents=True, exist_ok=True)
            mark.touch()


def start_tour() -> None:
    """Starts the tour again."""
    st.session_state[STEP] = 0


def _was_here() -> bool:
    # Visitors share the owner's cache, so that their sessions alone remember.
    return visitor.role() == "owner" and (resources.settings().cache / "tour_seen").exists()


def _go_to_step(step: int, model: str, benchmark: str) -> None:
    st.session_state[STEP] = step
    page = page_list.find(STEPS[step].page)
    try:
        st.switch_page(page.path, query_params={"model": model, "benchmark": benchmark})
    except StreamlitAPIException:  # a page that is run by itself knows of no other
        st.rerun()
