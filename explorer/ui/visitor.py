"""Who looks at a page: the app's owner, on its own machine, or a visitor from elsewhere; and what each may ask for."""

from __future__ import annotations

import os

import streamlit as st
from streamlit import config

from explorer.addresses import is_loopback
from explorer.ui.gate import PASSWORD, STAMP, Role, comes_from_here

TRUST = "EXPLORER_TRUST_VISITORS"  # 1: visitors may name addresses and files of the server as its owner does


def check() -> None:
    """Ends the page unless the gate let this session in; every page calls it before all else."""
    if not role():
        st.error(
            "This page was reached past the app's gate, so it shows nothing. Start the app with "
            "`python -m explorer app`, which asks for its password or token."
        )
        st.stop()


def role() -> Role:
    """Whom the gate let in; "" for nobody."""
    headers = {name.lower(): value for name, value in st.context.headers.to_dict().items()}
    if STAMP in headers:
        from explorer.ui.gate_server import gate

        return gate().role_of(headers[STAMP])
    # A page that is served by itself, without app.py, has no gate: it is for this machine alone.
    is_here = is_loopback(str(config.get_option("server.address") or "")) and not os.environ.get(PASSWORD)
    if headers and not comes_from_here(st.context.ip_address or "127.0.0.1", headers):
        return ""
    return "owner" if is_here else ""


def is_trusted() -> bool:
    """Whether whoever looks may name addresses inside of this network and files of this machine."""
    return role() == "owner" or os.environ.get(TRUST, "") not in ("", "0")
