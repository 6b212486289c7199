"""Draws that are the same on every machine and with every version: all of them follow from SHA-256 of a name."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")


def number(name: str) -> int:
    """A number from 0 to 2^64 - 1 that follows from the name alone."""
    return int.from_bytes(hashlib.sha256(name.encode("utf-8")).digest()[:8], "big")


def pick(choices: Sequence[T], name: str) -> T:
    """One of the choices."""
    return choices[number(name) % len(choices)]


def shuffled(items: Iterable[T], name: str) -> list[T]:
    """The items in an order that follows from the name and from their places."""
    placed = list(enumerate(items))
    return [item for _, item in sorted(placed, key=lambda place: (number(f"{name}/{place[0]}"), place[0]))]
