"""What a server answered, and what went wrong with it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from explorer.addresses import split_address
from explorer.errors import FetchError

Trouble = Literal[
    "offline", "address", "unreachable", "connection", "timeout", "slow", "status", "body", "checksum", "disk"
]
MOST_VALUES = 4_000_000  # in an answer of JSON: an empty list is two bytes of it, and sixty in memory


@dataclass(frozen=True, slots=True)
class Response:
    """What a server answered."""

    url: str
    status: int
    headers: Mapping[str, str]  # names in lower case
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    def json(self) -> Any:
        """The body as JSON; a `WebError` of kind "body" where it is none, or holds values without end."""
        if sum(map(self.body.count, (b",", b"[", b"{"))) > MOST_VALUES:
            raise WebError(
                f"{bare(self.url)} answered with more than {MOST_VALUES:,} values, expected fewer. Check that the "
                "address is right.",
                kind="body",
                response=self,
            )
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError) as error:
            raise WebError(
                f"{bare(self.url)} answered with something that is not JSON ({self.text[:80]!r}). "
                "Check that the address is right.",
                kind="body",
                response=self,
            ) from error


class WebError(FetchError):
    """A `FetchError` that tells what kind of trouble it was and keeps the server's last answer."""

    def __init__(self, message: str, *, kind: Trouble, response: Response | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.response = response

    @property
    def status(self) -> int | None:
        """The HTTP status, or none where no answer came."""
        return self.response.status if self.response else None


def inside(host: str) -> str:
    """That a host is not asked, since it lies in this machine's own network."""
    return (
        f"{host} lies inside the network of the machine that the explorer runs on; a visitor from elsewhere cannot "
        "reach it from here, unless the owner of the app allows it."
    )


def bare(url: str) -> str:
    """The address without what might be secret in it: user, password and query."""
    parts = split_address(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
