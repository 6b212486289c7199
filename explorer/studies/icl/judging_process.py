"""Completions judged in a process of their own, beside one that has a model on a card.

Its packages take seconds to import and its judgments seconds to make, all of it Python. In one process the thread that
orders the card's work would wait for both (bench/RESULTS.md). It sees no card, which the model may fill.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Sequence
from concurrent.futures import Future, wait
from typing import Any

from explorer import stopping
from explorer.errors import RunError
from explorer.scoring.child_process import Child, Message
from explorer.scoring.model_process import rebuild_error
from explorer.scoring.own_process import JUDGING_MODULE, NO_CARD
from explorer.settings import Settings
from explorer.similarity.replication import Match


class JudgingProcess:
    """As `replication.Rule`, judging elsewhere; safe to call from several threads."""

    def __init__(self, settings: Settings, rouge: float, cosine: float, *, names: bool) -> None:
        self._lock = threading.Lock()
        self._pending: dict[int, Future[list[Match]]] = {}
        self._number = 0
        self._reason: Exception | None = None  # why nothing more comes
        self._child = Child(JUDGING_MODULE, self._take, self._ended, card=NO_CARD)
        self._send(("load", settings, rouge, cosine, names))

    def judge(self, references: Sequence[str], candidates: Sequence[str]) -> list[Match]:
        """A verdict on each completion; the waiting ends when the run is stopped."""
        outcome: Future[list[Match]] = Future()
        with self._lock:
            if self._reason:
                raise self._reason
            self._number += 1
            number = self._number
            self._pending[number] = outcome
        self._send(("judge", number, list(references), list(candidates)))
        while not wait([outcome], timeout=stopping.SLICE).done:
            stopping.look()
        return outcome.result()

    def close(self) -> None:
        """Ends the process, whatever it does."""
        self._child.kill()

    def _send(self, message: Message) -> None:
        with contextlib.suppress(OSError):  # its end is told to who waits
            self._child.send(message)

    def _take(self, message: Message) -> None:
        kind, number, *rest = message
        if kind == "judged":
            with self._lock:
                outcome = self._pending.pop(number)
            outcome.set_result(rest[0])
        elif number:
            with self._lock:
                outcome = self._pending.pop(number)
            outcome.set_exception(rebuild_error(*rest))
        else:
            self._end_all(rebuild_error(*rest))

    def _ended(self, unforeseen: BaseException | None) -> None:
        how = f" ({unforeseen!r})" if unforeseen else ""
        self._end_all(
            RunError(f"The process that judges completions ended by itself{how}. What was finished is kept: resume.")
        )

    def _end_all(self, reason: Exception) -> None:
        with self._lock:
            self._reason = self._reason or reason
            waiting: list[Future[Any]] = list(self._pending.values())
            self._pending.clear()
        for outcome in waiting:
            outcome.set_exception(self._reason)
