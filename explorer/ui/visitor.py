"""Who looks at a page: the app's owner, on its own machine, or a visitor from elsewhere; and what each may ask for."""

from __future__ import annotations

import os
import re
from pathlib import Path

import streamlit as st
from streamlit import config

from explorer import admission
from explorer import settings as settings_module
from explorer.addresses import is_loopback
from explorer.errors import ModelError
from explorer.scoring import http, http_keys
from explorer.ui import show
from explorer.ui.gate.gate import PASSWORD, STAMP, Role, comes_from_here
from explorer.ui.unasked_servers import ALLOWED, OFFERED, Unasked, allow

# An absolute path of two parts or more; what stands after a scheme is an address.
_FOLDER = re.compile(r"(?<![\w:/.])/[^\s/]+/|(?<!\w)[A-Za-z]:\\|~/")
TRUST = "EXPLORER_TRUST_VISITORS"  # 1: visitors may name addresses and files of the server as its owner does


def check() -> None:
    """Ends the page unless the gate let this session in; every page calls it before all else."""
    if not role():
        st.error(
            "This page was reached past the app's gate, so it shows nothing. Start the app itself, "
            "which asks for its password or token."
        )
        st.stop()
    st.session_state[OFFERED] = 0


def role() -> Role:
    """Whom the gate let in; "" for nobody."""
    headers = {name.lower(): value for name, value in st.context.headers.to_dict().items()}
    if STAMP in headers:
        from explorer.ui.gate.server import gate

        return gate().role_of(headers[STAMP])
    # A page that is served by itself, without app.py, has no gate: it is for this machine alone.
    from explorer.ui.gate.server import is_named

    is_here = is_loopback(str(config.get_option("server.address") or "")) and not os.environ.get(PASSWORD)
    is_here = is_here and not is_named()  # a proxy may stand before it, whose visitors come from this machine
    if headers and not comes_from_here(st.context.ip_address or "127.0.0.1", headers):
        return ""
    return "owner" if is_here else ""


def is_trusted() -> bool:
    """Whether whoever looks may name addresses inside of this network and files of this machine."""
    return role() == "owner" or os.environ.get(TRUST, "") not in ("", "0")


def admit(name: str) -> bool:
    """An error where whoever looks may not use this name or was not asked yet; True where its server must be public.

    A link may name any server. So each session says yes once to a server that is not in the owner's settings, by a
    button or by typing it.
    """
    settings = settings_module.read()
    if admission.is_address(name) and not admission.is_known(name, settings):
        server = admission.server_of(name, settings)
        if str(server) not in st.session_state.get(ALLOWED, ()):
            raise Unasked(name, server)
    return False if is_trusted() else admission.for_visitors(settings)(name)


def why_not_admitted(name: str) -> str:
    """Why whoever looks cannot use this name now; "" where it can be used."""
    try:
        admit(name)
    except ModelError as error:
        return str(error)
    return ""


def for_visitor(text: str) -> str:
    """An error as whoever looks may read it: for a visitor without the sentences that name folders of this machine."""
    if is_trusted():
        return text
    settings = settings_module.read()
    own_folders = [str(path) for path in (settings.cache, settings.data, Path.home(), settings_module.ROOT) if path]
    sentences = re.split(r"(?<=[.!?;:]) +", text)
    without_folders = [
        sentence
        for sentence in sentences
        if not _FOLDER.search(sentence) and not any(path in sentence for path in own_folders)
    ]
    if len(without_folders) == len(sentences):
        return text
    return " ".join([*without_folders, "Whoever runs this app can see the whole message."])


def ask_about(name: str, where: str) -> None:
    """The question whether a server may be asked, where nobody has said yes to it; `where` tells two of them apart."""
    try:
        admit(name)
    except Unasked as error:
        settings = settings_module.read()
        key = http_keys.key_for(http.full_name(name, settings), settings)
        sent = f"The key in {key.variable} goes with it." if key.value else "No key goes with it."
        st.warning(
            "This page was asked for a model on a server. Nothing was sent there yet. If you score or run "
            f"something with it, texts and prompts go to that server. {sent}",
            icon=":material/lock:",
        )
        st.code(name, language=None, wrap_lines=True)
        st.button(show.plain(f"Ask {error.server}"), key=f"allow:{where}", on_click=allow, args=(name,))
    except ModelError:
        pass  # told where the name is used
