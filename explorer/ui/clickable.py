"""A piece of HTML of ours in which words can be clicked, or reached with the keyboard and pressed."""

from __future__ import annotations

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
  if (root.dataset.shown !== data.html) {
    root.innerHTML = data.html;
    root.dataset.shown = data.html;
  }
  root.onclick = (event) => {
    const word = event.target.closest("[data-pick]");
    if (word) setTriggerValue("picked", word.dataset.pick);
  };
}
"""


def clickable(html: str, key: str) -> str | None:
    """Shows the HTML, in which all foreign text is escaped; gives the `data-pick` of what was just clicked, or none."""
    component = st.components.v2.component(NAME, js=JS, isolate_styles=False)
    answer = component(key=key, data={"html": html}, on_picked_change=_nothing)
    return str(answer.picked) if answer.picked else None


def _nothing() -> None:
    """A trigger needs a callback to be reported."""
