"""The style sheet of words and their synonyms, which pages of swaps and of in-context answers share."""

from __future__ import annotations

from pathlib import Path

import streamlit as st


def style() -> str:
    """The style sheet of marked words."""
    return _style(Path(__file__).with_name("lexical.css"))


@st.cache_data(max_entries=1, show_spinner=False)
def _style(path: Path) -> str:
    return path.read_text(encoding="utf-8")
