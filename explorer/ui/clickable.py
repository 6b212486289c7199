"""A piece of HTML of ours in which words can be clicked, or reached with the keyboard and pressed."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

NAME = "lexiscope_clickable"
JS = """
export default function ({ data, parentElement, setTriggerValue }) {
  let root = parentElement.querySelector(".lx-clickable");
  if (!root) {
    root = document.createElement("div");
    root.className = "lx-clickable";
    parentElement.appendChild(root);
  }
  if (root.lxShown !== data.html) {
    const focused = root.contains(document.activeElement) ? document.activeElement.dataset.pick : null;
    root.innerHTML = data.html;
    root.lxShown = data.html;
    // The keyboard goes on where it was.
    if (focused) root.querySelector(`[data-pick="${CSS.escape(focused)}"]`)?.focus();
  }
  root.onclick = (event) => {
    const word = event.target.closest("[data-pick]");
    if (word) setTriggerValue("picked", word.dataset.pick);
  };
}
"""


def clickable(html: str, key: str, on_pick: Callable[[str], None]) -> None:
    """Shows the HTML, in which all foreign text is escaped; a click calls `on_pick` with the word's `data-pick`."""

    def picked() -> None:
        # A click may arrive after the words it was on have gone.
        value = (st.session_state.get(key) or {}).get("picked")
        if value:
            on_pick(str(value))

    component = st.components.v2.component(NAME, js=JS, isolate_styles=False)
    component(key=key, data={"html": html}, on_picked_change=picked)
