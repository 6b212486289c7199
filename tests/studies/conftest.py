"""An endpoint for whole runs: it logs what it is asked."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import pytest

from tests.endpoint_servers import JsonHandler, ToyServer


class LetterHandler(JsonHandler):
    """Writes and, asked with echo, scores letters."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.asked()
        self.server.asked.append(json.dumps([body["prompt"], body.get("seed"), body.get("echo", False)]))
        time.sleep(0.004)
        if body.get("echo"):
            letters = list(body["prompt"])
            logprobs = {"tokens": letters, "token_logprobs": [None, *[-1.0] * (len(letters) - 1)],
                        "top_logprobs": [None] * len(letters)}  # fmt: skip
            self.send({"model": "toy", "choices": [{"text": body["prompt"], "logprobs": logprobs}]})
        else:
            self.send({"model": "toy", "choices": [{"text": "0000007.", "finish_reason": "length"}]})


@pytest.fixture
def letters() -> Iterator[ToyServer]:
    """A server whose model gives every letter the same probability."""
    made = ToyServer(LetterHandler)
    yield made
    made.shutdown()
    made.server_close()
