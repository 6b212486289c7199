"""Connections that leave this machine's own network: the address that is checked is the one that is connected to.

A name may stand for one address when it is looked up and for another a moment later. So the look-up, the check and the
connection are one step, and the connection goes to the address, not to the name.
"""

from __future__ import annotations

import socket
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import NameResolutionError, NewConnectionError

from explorer.addresses import addresses_of, is_public
from explorer.fetch_answer import WebError, inside


def confine(session: requests.Session) -> None:
    """Lets the session connect to public addresses alone, and straight: a proxy would choose the address itself."""
    session.mount("http://", PublicAdapter())
    session.mount("https://", PublicAdapter())


class PublicAdapter(HTTPAdapter):
    """The way out of the network."""

    def init_poolmanager(self, *arguments: Any, **named: Any) -> None:
        super().init_poolmanager(*arguments, **named)  # type: ignore[no-untyped-call]
        self.poolmanager.pool_classes_by_scheme = {"http": _Pool, "https": _SecurePool}

    def send(self, request: Any, *arguments: Any, **named: Any) -> requests.Response:
        named["proxies"] = {}
        return super().send(request, *arguments, **named)


class _Pinned(HTTPConnection):
    def _new_conn(self) -> socket.socket:
        name = self._dns_host
        try:
            addresses = addresses_of(name, self.port)
        except (OSError, UnicodeError) as error:
            raise NameResolutionError(name, self, error) from error  # type: ignore[arg-type]
        if not addresses or not all(is_public(address) for _, address in addresses):
            raise WebError(inside(name), kind="address")
        try:
            for _, address in addresses:
                self._dns_host = address
                try:
                    return super()._new_conn()
                except NewConnectionError as error:
                    fault = error
        finally:
            self._dns_host = name
        raise fault


class _SecurePinned(_Pinned, HTTPSConnection):
    pass


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Pinned


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _SecurePinned
