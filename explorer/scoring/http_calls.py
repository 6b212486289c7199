"""Calls to an OpenAI-compatible server: limits, pauses that a server asks for, and its faults as plain sentences."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from explorer import fetch, stopping
from explorer.addresses import is_loopback, split_address
from explorer.errors import ExplorerError, FetchError, ModelError, ScoringError
from explorer.fetch import Patience, RateLimit, Response, WebError
from explorer.scoring.http_keys import key_for
from explorer.settings import Settings

RETRY_ON = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
REFUSALS = frozenset({400, 413, 422})  # the request itself is at fault
GARBLED_TRIES = 3  # answers that are no JSON, or not the JSON expected


@dataclass(frozen=True, slots=True)
class Limits:
    """How hard a server may be worked."""

    concurrency: int = 8
    requests_per_second: float = 0.0  # 0: as many as the concurrency allows
    timeout: float = 120.0  # seconds of silence
    whole: float = 300.0  # seconds that an answer may take from the question to its last byte
    tries: int = 6
    delay: float = 1.0  # seconds before the second try, doubled each time
    longest_wait: float = 300.0  # seconds; a server that asks for a longer pause ends the run


class RequestRefused(ExplorerError):
    """The server will not answer this one request; others may go through."""


class Gate:
    """Where all threads pass before a call: it spaces them, and shuts while a server has asked for a pause."""

    def __init__(self, per_second: float) -> None:
        self._space = RateLimit(per_second)
        self._open_at = 0.0

    def __call__(self) -> None:
        self.sleep(0.0)
        self._space()

    def sleep(self, seconds: float) -> None:
        """Waits that long, and keeps everyone else waiting."""
        self._open_at = max(self._open_at, time.monotonic() + seconds)
        # Once more where another call has put it off meanwhile.
        while (left := self._open_at - time.monotonic()) > 0:
            stopping.pause(left)


class Caller:
    """Posts to one server for one model; thread-safe. The key goes into a header and nowhere else."""

    def __init__(
        self, base_url: str, model: str, settings: Settings, limits: Limits, *, public_only: bool = False
    ) -> None:
        self.base_url = base_url
        self.host = split_address(base_url).netloc
        self.model = model
        key = key_for(base_url, settings)
        self._key, self._key_advice = key.value, key.advice
        self._public_only = public_only
        # The network is what "offline" forbids; a server on this machine is not reached through it.
        self._offline = settings.offline and not is_loopback(split_address(base_url).hostname or "")
        self._gate = Gate(limits.requests_per_second)
        self._patience = Patience(
            read=limits.timeout,
            whole=limits.whole,
            tries=limits.tries,
            delay=limits.delay,
            longest_delay=limits.longest_wait,
            retry_on=RETRY_ON,
            sleep=self._gate.sleep,
        )

    def post(self, path: str, payload: dict[str, Any]) -> dict[str, Any]:
        """The server's answer with at least one choice; an error that says what is wrong otherwise."""
        what_came = ""
        for _ in range(GARBLED_TRIES):
            try:
                response = fetch.post_json(
                    self.base_url + path,
                    payload,
                    headers=self._headers(),
                    patience=self._patience,
                    limit=self._gate,
                    offline=self._offline,
                    public_only=self._public_only,
                )
            except WebError as error:
                raise self._as_our_error(error, path) from None  # the cause may hold what the server said about the key
            answer, what_came = _answer_with_choices(response)
            if answer is not None:
                return answer
        raise FetchError(
            f"{self.host} answered {GARBLED_TRIES} times with {what_came}, expected JSON with a list called choices. "
            "Check that the address is that of an OpenAI-compatible server, ending in /v1."
        )

    def offered(self) -> list[tuple[str, str]]:
        """Each model that the server offers and who owns it; [] where it does not list them."""
        try:
            return [(str(model["id"]), str(model.get("owned_by", ""))) for model in self.listing()]
        except KeyError:
            return []

    def listing(self) -> list[dict[str, Any]]:
        """All that the server tells of each model it offers; [] where it does not list them."""
        try:
            response = fetch.get(
                self.base_url + "/models",
                headers=self._headers(),
                patience=self._patience,
                limit=self._gate,
                offline=self._offline,
                public_only=self._public_only,
            )
            models = response.json()["data"]
            return [model for model in models if isinstance(model, dict)]
        except WebError as error:
            if error.kind == "body" or error.status in (404, 405, 501):
                return []
            raise self._as_our_error(error, "/models") from None
        except (KeyError, TypeError):
            return []

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._key}"} if self._key else {}

    def _as_our_error(self, error: WebError, path: str) -> ExplorerError:
        """The fault in our words, with what the server said and without the key."""
        server_text = self._without_key(_error_text(error.response))
        detail = f" ({server_text})" if server_text else ""
        if error.kind == "address":
            return ModelError(self._without_key(str(error)))
        if error.kind != "status":
            return FetchError(
                f"{self._without_key(str(error))} What was answered before is kept; try again when the server is back."
            )
        status = error.status or 0
        if status in (401, 403):
            # What the server says here may spell out parts of the key.
            what = "refused the key" if self._key else "wants a key, and none is set for it"
            return ModelError(f"{self.host} {what} (status {status}). {self._key_advice}")
        if status == 404:
            return self._not_found_error(path, detail)
        if status in REFUSALS:
            return RequestRefused(f"status {status}{': ' + server_text if server_text else ''}")
        if status == 429:
            return FetchError(
                f"{self.host} went on limiting the rate or the quota{detail}. What was answered is kept; "
                "lower the concurrency, or try again later."
            )
        return FetchError(
            f"{self.host} failed with status {status}{detail}. What was answered is kept; try again when it is well."
        )

    def _not_found_error(self, path: str, detail: str) -> ExplorerError:
        try:
            names = [name for name, _ in self.offered()] if path != "/models" else []
        except ExplorerError:
            names = []
        if names and self.model not in names:
            return ModelError(
                f"{self.host} has no model {self.model!r}; it offers {', '.join(names[:20])}. Name one of these."
            )
        if names and path == "/completions":
            return ScoringError(
                f"{self.host} has {self.model!r} for conversations alone{detail}: it completes no text, and so gives "
                "no log-probabilities of one. Score with a server that has them (vLLM, llama-cpp-python)."
            )
        return ModelError(
            f"{self.host} has no model {self.model!r}, or nothing at {path}{detail}. "
            "Check the model's name, and that the address ends in /v1."
        )

    def _without_key(self, text: str) -> str:
        return text.replace(self._key, "[key]") if self._key else text


def _answer_with_choices(response: Response) -> tuple[dict[str, Any] | None, str]:
    """The answer where it has a choice, else what came instead."""
    try:
        answer = response.json()
    except WebError:
        return None, "something that is not JSON"
    choices = answer.get("choices") if isinstance(answer, dict) else None
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        return answer, ""
    return None, "JSON without choices"


def _error_text(response: Response | None) -> str:
    """What a server's error says, in any of the shapes in use, on one line."""
    if response is None:
        return ""
    try:
        body = response.json()
    except WebError:
        return " ".join(response.text.split())[:200] if "<" not in response.text else ""
    message = body.get("error", body.get("detail", body.get("message", ""))) if isinstance(body, dict) else body
    if isinstance(message, dict):
        message = message.get("message", "")
    return " ".join(str(message).split())[:300]
