"""What a live answer takes, told while it is made: the step, the words so far, the seconds, and a way out."""

from __future__ import annotations

import html
import time
from collections.abc import Callable

import streamlit as st

from explorer.ui import show

OFTEN = 0.12  # seconds between two looks at what is being written


class Telling:
    """A place on the page that shows the step and the text so far, with a button that stops the work."""

    def __init__(self, stop: Callable[[], None], key: str) -> None:
        self._began = time.monotonic()
        self._shown = 0.0
        self._place = st.empty()
        self._button = st.empty()
        # A click ends the script that works and runs the page anew; by then nothing is asked for any more.
        self._button.button("Stop", key=key, icon=":material/stop_circle:", on_click=stop)

    def step(self, text: str) -> None:
        """Says which step begins."""
        self._draw_answer(text, "")

    def wrote(self, text: str) -> None:
        """Shows what was written so far."""
        if time.monotonic() - self._shown >= OFTEN:
            self._draw_answer("Writing", text)

    def close(self) -> None:
        """Takes all of it away."""
        self._place.empty()
        self._button.empty()

    def _draw_answer(self, step: str, text: str) -> None:
        self._shown = time.monotonic()
        written = f'<p class="lx-sentence">{html.escape(text)}▍</p>' if text else ""
        seconds = show.duration(self._shown - self._began)
        self._place.html(f'<p class="lx-quiet lx-note">{html.escape(step)} · {seconds}</p>{written}')
