"""Streamlit's own login by OIDC, where the secrets have a section [auth]: who has logged in, and the way there."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from typing import Any

from streamlit import auth_util
from streamlit.web.server.server_util import AUTH_COOKIE_NAME
from streamlit.web.server.starlette.starlette_websocket import _get_signed_cookie_with_chunks

from explorer.addresses import split_address

ALLOWED = "EXPLORER_LOGINS"  # addresses or @domains, parted by commas; all that the provider lets in where none is set
BACK = "/oauth2callback"  # where a provider sends people back to


def is_configured() -> bool:
    """Whether the secrets name a provider, an address to come back to and a secret for the cookie."""
    section = auth_util.get_secrets_auth_section()
    return bool(section.get("redirect_uri") and section.get("cookie_secret") and providers())


def providers() -> list[str]:
    """The names of the providers in the secrets."""
    section: Mapping[str, Any] = auth_util.get_secrets_auth_section()
    named = [name for name, value in section.items() if isinstance(value, Mapping) and "client_id" in value]
    return named or (["default"] if section.get("client_id") else [])


def paths(base: str) -> set[str]:
    """The paths that must be open for somebody to log in."""
    back = split_address(str(auth_util.get_secrets_auth_section().get("redirect_uri") or "")).path
    known = {f"{base}/auth/login", f"{base}/auth/logout", f"{base}{BACK}"}
    return known | ({back} if back.endswith(BACK) else set())  # no other path is a step of a login


def links(base: str) -> list[tuple[str, str]]:
    """Each provider's name and the address that begins a login with it; [] where the package for it is missing."""
    if not auth_util.is_authlib_installed():
        return []
    return [(name, f"{base}/auth/login?provider={auth_util.encode_provider_token(name)}") for name in providers()]


def has_logged_in(cookies: Mapping[str, str], environment: Mapping[str, str] = os.environ) -> bool:
    """Whether the cookies hold a signed login of somebody who is allowed."""
    with contextlib.suppress(Exception):  # whatever a stranger puts into a cookie is no login
        cookie = _get_signed_cookie_with_chunks(dict(cookies), AUTH_COOKIE_NAME)
        user = json.loads(cookie) if cookie else {}
        return user.get("is_logged_in") is True and _is_allowed(user, environment.get(ALLOWED) or "")
    return False


def _is_allowed(user: Mapping[str, Any], allowed: str) -> bool:
    if not allowed.strip():
        return True
    names = [name.strip().lower() for name in allowed.split(",") if name.strip()]
    email = str(user.get("email") or "").lower()
    # Some providers write it as a word, and some say nothing of it.
    verified = str(user.get("email_verified", True)).lower() == "true"
    return bool(email) and verified and (email in names or f"@{email.rpartition('@')[2]}" in names)
