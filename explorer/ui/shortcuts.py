"""The keys that do something, the list of them, and the two keys that Streamlit's buttons cannot have."""

from __future__ import annotations

import streamlit as st

from explorer.ui import show

SEARCH, HELP = "lx-search", "lx-help"

# Where → the keys and what they do.
KEYS = {
    "Everywhere": (("Ctrl K", "search pages, instances and runs"), ("/", "the same"), ("?", "this list")),
    "Instance": (("←  →", "the instance before, the next one"),),
    "Token strips": (
        ("Tab", "into the tokens, and on from them"),
        ("←  →  ↑  ↓", "from token to token"),
        ("Enter", "open the word under the focus"),
    ),
    "In-context, live lab": (("Enter", "ask the model"),),
    "In-context, review of verdicts": (
        ("N  B", "the next completion, back"),
        ("A", "accept the verdict of the rule"),
        ("1  2  3", "exact, near-exact, inexact"),
        ("U", "take the last verdict back"),
    ),
    "Dialogs": (("Esc", "close"),),
}

# Streamlit takes letters and digits alone as shortcuts of buttons. Typing in a field is typing.
_SCRIPT = f"""<script>
if (!window.lexiscopeKeys) {{
  window.lexiscopeKeys = {{"?": "{HELP}", "/": "{SEARCH}"}};
  document.addEventListener("keydown", event => {{
    const name = window.lexiscopeKeys[event.key];
    if (!name || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.target.closest("input, textarea, select, [contenteditable=true], [role=dialog]")) return;
    const button = document.querySelector(`.st-key-${{name}} button`);
    if (button) {{ event.preventDefault(); button.click(); }}
  }});
}}
</script>"""


def draw_keys() -> None:
    """The script that presses the buttons of `?` and `/`."""
    st.html(_SCRIPT, unsafe_allow_javascript=True)


@st.dialog("Keys", icon=":material/keyboard:")
def draw_shortcuts() -> None:
    """The list of keys."""
    rows = ""
    for where, keys in KEYS.items():
        rows += f'<dt class="lx-section">{show.escaped(where)}</dt>'
        rows += "".join(f"<dd><kbd>{show.escaped(key)}</kbd></dd><dd>{show.escaped(does)}</dd>" for key, does in keys)
    st.html(f'<dl class="lx-keys">{rows}</dl>')
