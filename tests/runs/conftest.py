"""An object store on this machine, and a way to it that breaks off uploads or says that the key has expired."""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
from collections.abc import Iterator

import pytest

EXPIRED = (
    b"<?xml version='1.0'?><Error><Code>ExpiredToken</Code><Message>The provided token has expired.</Message></Error>"
)


class FlakyWay:
    """Passes bytes on to a server on this machine; `broken` uploads are cut in the middle, then counted down."""

    def __init__(self, port: int) -> None:
        self.target = port
        self.broken = 0
        self.expired = False
        self.seen = {"broken": 0, "expired": 0}
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self.listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        server = socket.create_connection(("127.0.0.1", self.target))
        threading.Thread(target=self._pump, args=(server, client), daemon=True).start()
        with client, server, contextlib.suppress(OSError):
            while data := client.recv(1 << 16):
                head = data.split(b"\r\n", 1)[0]
                if head.startswith(b"PUT ") and b"/parts/" in head:
                    if self.expired:
                        self.seen["expired"] += 1
                        client.sendall(
                            b"HTTP/1.1 400 Bad Request\r\nContent-Type: application/xml\r\nConnection: close\r\n"
                            + b"Content-Length: %d\r\n\r\n" % len(EXPIRED)
                            + EXPIRED
                        )
                        return
                    if self.broken:
                        self.broken -= 1
                        self.seen["broken"] += 1
                        server.sendall(data[: len(data) // 2])
                        return
                server.sendall(data)

    @staticmethod
    def _pump(source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                target.sendall(data)


@pytest.fixture(scope="module")
def way() -> Iterator[FlakyWay]:
    """The way to an object store on this machine with the bucket `runs`."""
    import boto3
    from moto import backends
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    way = FlakyWay(port)
    services = list(backends.list_of_moto_modules())
    with pytest.MonkeyPatch.context() as patch:
        # At each request the server would look through its folders for the services that it knows.
        patch.setattr(backends, "list_of_moto_modules", lambda: services)
        for name, value in {
            "AWS_ENDPOINT_URL": way.url,
            "AWS_ACCESS_KEY_ID": "an-id",
            "AWS_SECRET_ACCESS_KEY": "planted-secret",
            "AWS_DEFAULT_REGION": "us-east-1",
        }.items():
            patch.setenv(name, value)
        boto3.client("s3", endpoint_url=f"http://{host}:{port}").create_bucket(Bucket="runs")
        yield way
    way.close()
    server.stop()
