"""Which key an address gets: the one that was given for this very server, or none.

    EXPLORER_API_KEY         the server in EXPLORER_API_URL (OpenAI's where none is set): scheme, host and port
    EXPLORER_API_KEY_<HOST>  https://host, or a server on this machine; a port that is not the scheme's own is part of
                             the name: EXPLORER_API_KEY_LLM_LAB_ORG_8443 for https://llm.lab.org:8443
    OPENAI_API_KEY           https://api.openai.com

In <HOST> a dot is one underscore and a hyphen two, so that no two hosts share a name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from ipaddress import IPv4Address

from explorer.addresses import Origin, is_loopback, origin_of
from explorer.settings import OPENAI, Settings

VARIABLE = "EXPLORER_API_KEY"
_HOST = re.compile(r"(?!-)[a-z0-9-]+(?<!-)(\.(?!-)[a-z0-9-]+(?<!-))*")


@dataclass(frozen=True, slots=True)
class Key:
    """A server's key, "" for none, and the variable that holds it or could hold it."""

    value: str = field(repr=False)
    variable: str
    advice: str  # where to put a key for this server, as a sentence


def key_for(address: str, settings: Settings) -> Key:
    """The key of the server at this address."""
    server = origin_of(address)
    variable = variable_of(server)
    named = dict(settings.host_keys)
    if variable and (value := named.get(variable, "").strip()):
        if server.scheme == "https" or is_loopback(server.host):
            return Key(value, variable, f"Set {variable} to a valid key.")
        return Key(
            "", variable, f"{variable} is not sent over plain http; use https, or name the server in EXPLORER_API_URL."
        )
    given_for = origin_of(settings.api_url)
    if server == given_for and (value := settings.api_key.strip()):
        return Key(value, VARIABLE, f"Set {VARIABLE}, or the app's secret, to a valid key.")
    if server == origin_of(OPENAI) and (value := settings.openai_key.strip()):
        return Key(value, "OPENAI_API_KEY", "Set OPENAI_API_KEY to a valid key.")
    return Key("", variable, _advice_on_key(server, given_for, variable, settings))


def variable_of(server: Origin) -> str:
    """The variable for a key of this server; "" where its host has no name that is its alone."""
    if not _HOST.fullmatch(server.host) or _is_odd_number(server.host):
        return ""
    port = "" if server.has_usual_port else f"_{server.port}"
    return f"{VARIABLE}_{server.host.replace('-', '__').replace('.', '_').upper()}{port}"


def _advice_on_key(server: Origin, given_for: Origin, variable: str, settings: Settings) -> str:
    if server == given_for:
        return f"Set {VARIABLE}, or the app's secret, to a valid key."
    where = f"{VARIABLE} goes to {given_for} alone. " if settings.api_key.strip() else ""
    if variable and (server.scheme == "https" or is_loopback(server.host)):
        return f"{where}A key for {server} belongs in {variable}."
    return f"{where}For a key to {server}, name that server in EXPLORER_API_URL."


def _is_odd_number(host: str) -> bool:
    """Whether a host ends in a number and is yet no plain IPv4 address, as 127.1 or 10.0.0: several texts mean one."""
    if not host.rpartition(".")[2].isdecimal():
        return False
    try:
        return str(IPv4Address(host)) != host
    except ValueError:
        return True
