"""What a slow look at a text gives, kept for the next time that the text is asked about."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

from explorer import stopping

T = TypeVar("T")

MOST_TEXTS = 16384  # texts; beyond, all are forgotten


class OncePerText(Generic[T]):
    """Asks `look` about many texts at once, and about none twice; thread-safe."""

    def __init__(self, look: Callable[[list[str]], Iterable[T]]) -> None:
        self._look = look
        self._known: dict[str, T] = {}
        self._lock = threading.Lock()

    def of(self, texts: Sequence[str]) -> dict[str, T]:
        """What each of the texts gives."""
        wanted = list(dict.fromkeys(texts))
        with stopping.turn(self._lock):
            new = [text for text in wanted if text not in self._known]
            if new and len(self._known) + len(new) > MOST_TEXTS:
                self._known, new = {}, wanted
            if new:
                self._known.update(zip(new, self._look(new), strict=True))
            return {text: self._known[text] for text in wanted}
