"""An endpoint for whole runs: it logs what it is asked."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


class LetterServer(ThreadingHTTPServer):
    """An OpenAI-compatible server that logs what it is asked; it writes and, asked with echo, scores letters."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Says nothing of clients that were killed."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        super().__init__(("127.0.0.1", 0), _Letters)
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def name(self) -> str:
        """The model behind it, as a user names it."""
        return f"http://127.0.0.1:{self.server_port}/v1#toy"


class _Letters(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._send({"data": [{"id": "toy"}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(json.dumps([body["prompt"], body.get("seed"), body.get("echo", False)]))
        time.sleep(0.004)
        if body.get("echo"):
            letters = list(body["prompt"])
            logprobs = {"tokens": letters, "token_logprobs": [None, *[-1.0] * (len(letters) - 1)],
                        "top_logprobs": [None] * len(letters)}  # fmt: skip
            self._send({"model": "toy", "choices": [{"text": body["prompt"], "logprobs": logprobs}]})
        else:
            self._send({"model": "toy", "choices": [{"text": "0000007.", "finish_reason": "length"}]})

    def _send(self, body: Any) -> None:
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def letters() -> Iterator[LetterServer]:
    """A server whose model gives every letter the same probability."""
    made = LetterServer()
    yield made
    made.shutdown()
    made.server_close()
