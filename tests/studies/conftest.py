"""An endpoint for whole runs, which logs what it is asked; and quick statistics."""

from __future__ import annotations

import inspect
import json
import time
from collections.abc import Callable, Iterator
from typing import Any

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


@pytest.fixture(scope="module")
def few_resamples() -> Iterator[None]:
    """Intervals from 100 resamples: two thousand take most of a run's time, and the tests that ask so look at none."""
    from explorer.stats import auc, bootstrap

    def capped(resampled: Callable[..., Any]) -> Callable[..., Any]:
        place = list(inspect.signature(resampled).parameters).index("resamples")

        def few(*given: Any, **named: Any) -> Any:
            return resampled(*given[:place], min(given[place], 100), *given[place + 1 :], **named)

        return few

    with pytest.MonkeyPatch.context() as patch:
        for module, name in ((bootstrap, "_resampled_interval"), (auc, "_resampled_auc")):
            patch.setattr(module, name, capped(getattr(module, name)))
        yield
