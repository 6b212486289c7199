"""Real servers on this machine that keep a caller waiting, each in a way of its own."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator

Way = Callable[[socket.socket, bytes], None]

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n"


class SlowServer:
    """Answers GET with an empty list of models and POST in its own way; counts what it was asked and what hung up."""

    def __init__(self, way: Way) -> None:
        self.way = way
        self.asked = 0
        self.hung_up = 0
        self.door = socket.create_server(("127.0.0.1", 0))
        self.port = self.door.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/v1"
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self.door.close()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                caller, _ = self.door.accept()
                threading.Thread(target=self._answer, args=(caller,), daemon=True).start()

    def _answer(self, caller: socket.socket) -> None:
        with caller, contextlib.suppress(OSError):
            while asked := self._request(caller):
                if asked.startswith(b"GET"):
                    body = json.dumps({"data": [{"id": "m"}]}).encode()
                    caller.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
                    continue
                self.asked += 1
                try:
                    self.way(caller, asked)
                except OSError:
                    self.hung_up += 1
                    raise

    def _request(self, caller: socket.socket) -> bytes:
        data = b""
        while b"\r\n\r\n" not in data:
            more = caller.recv(65536)
            if not more:
                return b""
            data += more
        head, _, body = data.partition(b"\r\n\r\n")
        lengths = [line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")]
        while lengths and len(body) < int(lengths[0]):
            body += caller.recv(65536)
        return head


def _until_hung_up(caller: socket.socket) -> None:
    caller.settimeout(1)
    while True:
        with contextlib.suppress(TimeoutError):
            if not caller.recv(1):
                raise ConnectionResetError


def drips(caller: socket.socket, asked: bytes) -> None:
    """A body of a byte a second."""
    caller.sendall(HEAD)
    while True:
        caller.sendall(b" ")
        time.sleep(1)


def drips_headers(caller: socket.socket, asked: bytes) -> None:
    """Not even the head of the answer comes to an end."""
    caller.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while True:
        caller.sendall(b"x")
        time.sleep(1)


def is_silent(caller: socket.socket, asked: bytes) -> None:
    """No answer at all."""
    _until_hung_up(caller)


def asks_to_wait(seconds: int) -> Way:
    """Status 429 with so many seconds to wait."""

    def way(caller: socket.socket, asked: bytes) -> None:
        caller.sendall(b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: %d\r\nContent-Length: 0\r\n\r\n" % seconds)

    return way


WAYS: dict[str, Way] = {
    "a byte a second": drips,
    "a byte of the head a second": drips_headers,
    "silence": is_silent,
    "Retry-After: 240": asks_to_wait(240),
}


@contextlib.contextmanager
def serving(way: Way) -> Iterator[SlowServer]:
    server = SlowServer(way)
    try:
        yield server
    finally:
        server.close()
