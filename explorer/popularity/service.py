"""Asking a counting service: every answer is mistrusted, troubles are waited out, and an outage ends the asking.

An `error` may come with status 200; a body may lack its count or belong to another query. Only what passes its check is
believed; anything else is tried again, then left unknown.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

from explorer import fetch, stopping
from explorer.errors import CountError
from explorer.popularity.cached import UNREACHABLE, Answer, Ngram

Check = Callable[[Mapping[str, Any]], str]  # what is wrong with a body, "" for nothing

THREADS = 4  # so that one slow answer does not hold up the next question; the rate limit is shared
GIVE_UP_AFTER = 3  # queries in a row that failed in all their tries: the service is away

# Doubling from five seconds, as other public clients of the service do.
PATIENCE = fetch.Patience(connect=10.0, read=60.0, tries=8, delay=5.0, longest_delay=120.0)


class Refused(Exception):
    """The service understood the query and will not answer it."""


class Unreachable(Exception):
    """No believable answer in all tries."""


class Service:
    """One index of a counting service."""

    def __init__(
        self,
        url: str,
        name: str,
        *,
        limit: Callable[[], None] | None = None,
        patience: fetch.Patience = PATIENCE,
        offline: bool = False,
    ) -> None:
        self.url = url
        self.name = name
        self.offline = offline
        self._limit = limit
        self._patience = patience

    def ask(self, query: Mapping[str, Any], check: Check) -> dict[str, Any]:
        """The service's answer to one query, once `check` finds nothing wrong with it."""
        tries, problem = self._patience.tries, ""
        for tried in range(1, tries + 1):
            body, problem = self._post(query)
            if not problem:
                problem = check(body)
            if not problem:
                return body
            if tried < tries:
                self._patience.sleep(min(self._patience.delay * 2 ** (tried - 1), self._patience.longest_delay))
        raise Unreachable(f"{tries} answers in a row made no sense; the last: {problem}")

    def ask_or_raise(self, query: Mapping[str, Any], check: Check) -> dict[str, Any]:
        """As `ask`, for a caller that shows the user one sentence."""
        try:
            return self.ask(query, check)
        except (Refused, Unreachable) as error:
            raise CountError(f"{self.name} did not answer a {query['query_type']} query: {error}") from error

    def ask_each(
        self, ngrams: Sequence[Ngram], ask_one: Callable[[Ngram], int], outage: Outage
    ) -> Generator[tuple[Ngram, Answer]]:
        """An answer per n-gram, as they come, several under way at once; during an outage the rest is not asked."""

        def answer(ngram: Ngram) -> Answer:
            if outage.reason:
                return f"{UNREACHABLE}: {outage.reason}"
            try:
                count = ask_one(ngram)
            except Refused as error:
                outage.note_answer()
                return f"the service refused the query: {error}"
            except Unreachable as error:
                outage.note_failure(str(error))
                return f"{UNREACHABLE}: {error}"
            outage.note_answer()
            return count

        with contextlib.closing(stopping.in_threads(answer, ngrams, THREADS)) as outcomes:
            for position, outcome in outcomes:
                yield ngrams[position], outcome.result()

    def _post(self, query: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
        """A body and what is wrong with it as a body."""
        try:
            body = fetch.post_json(
                self.url,
                {"index": self.name, **query},
                patience=self._patience,
                limit=self._limit,
                offline=self.offline,
            ).json()
        except fetch.WebError as error:
            if error.kind == "body":
                return {}, str(error)
            if error.kind == "status" and error.status not in self._patience.retry_on:
                raise Refused(_error_text(error)) from error
            raise Unreachable(str(error)) from error
        if not isinstance(body, dict):
            return {}, "the answer is no JSON object"
        if "error" in body:
            raise Refused(str(body["error"]))
        return body, ""


class Outage:
    """Whether the service is away: after a few queries in a row that failed in all their tries, `reason` says why."""

    def __init__(self) -> None:
        self.reason = ""
        self._failures = 0
        self._lock = threading.Lock()

    def note_failure(self, why: str) -> None:
        """Notes a query that failed in all its tries."""
        with self._lock:
            self._failures += 1
            if self._failures >= GIVE_UP_AFTER:
                self.reason = why

    def note_answer(self) -> None:
        """Notes that the service answered."""
        with self._lock:
            self._failures = 0

    def stop(self, why: str) -> None:
        """Asks no more."""
        self.reason = why


def check_together(body: Mapping[str, Any]) -> str:
    """What is wrong with a body that must hold a count, be it approximate."""
    count = body.get("count")
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        return f"count is {str(count)[:40]!r}, expected a whole number of at least 0"
    return ""


def check_count(body: Mapping[str, Any]) -> str:
    """What is wrong with a body that must hold an exact count."""
    if wrong := check_together(body):
        return wrong
    return "the count of a simple query is marked approximate" if body.get("approx") else ""


def _error_text(error: fetch.WebError) -> str:
    """The `error` of the body that came with a status, else the status."""
    try:
        body = error.response.json() if error.response else {}
    except fetch.WebError:
        return str(error)
    return str(body["error"]) if isinstance(body, dict) and "error" in body else str(error)
