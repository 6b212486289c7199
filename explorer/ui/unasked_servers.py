"""Servers that nobody has said yes to in this session, and the button that does."""

from __future__ import annotations

import streamlit as st

from explorer import admission
from explorer import settings as settings_module
from explorer.addresses import Origin
from explorer.errors import ModelError
from explorer.ui.plain_text import plain

ALLOWED = "servers:allowed"  # in the session's state: the servers that were said yes to
OFFERED = "servers:offered"  # how many buttons for that the page has


class Unasked(ModelError):
    """A server that nobody has said yes to in this session, so nothing was sent to it."""

    def __init__(self, name: str, server: Origin) -> None:
        super().__init__(
            f"Nothing was sent to {server}, which {name} means: in this session nobody has said yes to it."
        )
        self.name = name
        self.server = server


def allow(name: str) -> None:
    """Says yes to the server that a name means, for this session; who types a name himself has said so."""
    if admission.is_address(name):
        server = admission.server_of(name, settings_module.read())
        st.session_state[ALLOWED] = {*st.session_state.get(ALLOWED, ()), str(server)}


def offer(error: Unasked) -> None:
    """The button that says yes, beside the error that tells of the server."""
    st.session_state[OFFERED] = number = st.session_state.get(OFFERED, 0) + 1
    st.button(plain(f"Ask {error.server}"), key=f"allow:{error.server}:{number}", on_click=allow, args=(error.name,))
