"""Which names of models, files and servers somebody may use: the owner all of them, a visitor from elsewhere not all.

A name that is admitted may still be confined: its server is asked only where it lies in the open internet, which is
found out at each connection (explorer/fetch_public.py).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import PureWindowsPath

from explorer.addresses import Origin, origin_of
from explorer.errors import ModelError
from explorer.scoring import catalog, http
from explorer.scoring.http_keys import variable_of
from explorer.settings import Settings, path_of

Admit = Callable[[str], bool]  # an error where a name may not be used, True where its server is to be a public one

MARKS = ("infill:",)  # before the name of a model


def anything(name: str) -> bool:
    """The owner's rule: every name, wherever it leads."""
    return False


def for_visitors(settings: Settings) -> Admit:
    """The rule for visitors from elsewhere: no file of this machine, and no server in its network that is not named in
    the owner's settings."""

    def admit(name: str) -> bool:
        if is_address(name):
            if is_known(name, settings):
                return False
            if not http.is_endpoint(name) or http.full_name(name, settings).partition("#")[2] == "":
                raise ModelError(f"{name} is the address of a server that only the owner of the app may name.")
            return True
        if names_file(name, settings):
            raise ModelError(
                f"{name} names a file or a folder of the machine that the explorer runs on, which visitors from "
                "elsewhere cannot use, unless the owner of the app allows it."
            )
        return False

    return admit


def is_address(name: str) -> bool:
    """Whether a name means a server: a model's endpoint or an index behind an address."""
    return "://" in name or http.is_endpoint(name)


def server_of(name: str, settings: Settings) -> Origin:
    """The server that an address means."""
    return origin_of(http.full_name(name.strip(), settings))


def is_known(name: str, settings: Settings) -> bool:
    """Whether the owner's settings name the server: as an endpoint, as a counting service, or by a key for it."""
    server = server_of(name, settings)
    named = {origin_of(each) for each in (settings.api_url, settings.infinigram_url, settings.infinigram_mini_url)}
    return bool(server.host) and (server in named or variable_of(server) in dict(settings.host_keys))


def names_file(name: str, settings: Settings) -> bool:
    """Whether a name could lead to a file or folder of this machine that is none of the explorer's own."""
    for mark in MARKS:
        name = name.removeprefix(mark)
    is_path = (
        name.startswith((".", "/", "~", "\\")) or "\\" in name or "\0" in name or bool(PureWindowsPath(name).drive)
    )
    if is_path or ".." in name.split("/"):
        return True
    if not name or catalog.find(name) or ("/" not in name and os.path.isdir(settings.indexes / name)):
        return False
    # terms.csv#HP is a table with the prefix of its ids.
    return any(os.path.lexists(path_of(each)) for each in (name, name.partition("#")[0]))
