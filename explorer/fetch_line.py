"""One thread's connections to servers: kept open between calls, and hung up from outside when nobody waits any more."""

from __future__ import annotations

import contextlib
import socket
import weakref
from http.cookiejar import DefaultCookiePolicy
from typing import Any

import requests
from requests.adapters import HTTPAdapter

from explorer import fetch_public


class Line(requests.Session):
    """A session without cookies that knows its connections; with `public_only` it leaves this machine's network."""

    def __init__(self, public_only: bool = False) -> None:
        super().__init__()
        self.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        self._connections: weakref.WeakSet[Any] = weakref.WeakSet()
        if public_only:
            fetch_public.confine(self)
        else:
            for scheme in ("http://", "https://"):
                self.mount(scheme, _Adapter(self))
        for adapter in self.adapters.values():
            self.watch(adapter.poolmanager)  # type: ignore[attr-defined]

    def watch(self, manager: Any) -> None:
        """Notes every connection that a pool manager makes, before it is made."""
        pools = manager.pool_classes_by_scheme
        manager.pool_classes_by_scheme = {scheme: _noting(pool, self._connections) for scheme, pool in pools.items()}

    def hang_up(self) -> None:
        """Ends every read of this session, in whichever thread: a server notices, and need not go on writing."""
        for connection in list(self._connections):
            if connection.sock is not None:
                with contextlib.suppress(OSError):
                    # Of the plain socket: TLS would first take leave of the other side.
                    socket.socket.shutdown(connection.sock, socket.SHUT_RDWR)


class _Adapter(HTTPAdapter):
    def __init__(self, line: Line) -> None:
        self._line = line
        super().__init__()

    def proxy_manager_for(self, *given: Any, **named: Any) -> Any:
        known = len(self.proxy_manager)
        manager = super().proxy_manager_for(*given, **named)
        if len(self.proxy_manager) > known:
            self._line.watch(manager)
        return manager


def _noting(pool: Any, connections: weakref.WeakSet[Any]) -> Any:
    class Connection(pool.ConnectionCls):  # type: ignore[misc]
        def connect(self) -> None:
            connections.add(self)
            super().connect()

    return type(pool.__name__, (pool,), {"ConnectionCls": Connection})
