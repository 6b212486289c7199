"""One entry of the browser's way back for each thing that a reader does, however many choices it changes.

Streamlit makes an entry of every parameter that is written. Opening a word writes two, a step away from a changed text
five, and the way back would lead through addresses that nobody saw: the next instance with the words of the one before.
"""

from __future__ import annotations

import streamlit as st

# A page's own path is always an entry. What comes without the reader having done anything since belongs to the last.
_SCRIPT = """<script>
if (!window.lexiscopeEntries) {
  window.lexiscopeEntries = true;
  const push = history.pushState.bind(history);
  let acted = false;
  for (const kind of ["pointerdown", "keydown", "click"]) addEventListener(kind, () => { acted = true; }, true);
  addEventListener("popstate", () => { acted = false; }, true);
  history.pushState = (state, title, address) => {
    const samePage = address === undefined || new URL(address, location.href).pathname === location.pathname;
    if (acted || !samePage) push(state, title, address);
    else history.replaceState(state, title, address);
    acted = false;
  };
}
</script>"""


def draw_entries() -> None:
    """The script that joins what one click writes."""
    st.html(_SCRIPT, unsafe_allow_javascript=True)
