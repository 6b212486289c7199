"""A model on several cards of this machine: a process with a copy of it on each, rows to the one with the least to do.

    this process     rows 1  rows 2  rows 3 ...     scores in any order, each under its number
    card 0           rows 1          rows 3
    card 1                   rows 2          rows 4

To `model_process.py` all of them are one connection. When a process ends, the rows that it owed go to the others: only
with the last of them the model is gone.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from explorer.scoring.child_process import Child, Message


@dataclass(slots=True, eq=False)
class _Card:
    """A process with the model, and the messages that it has not answered yet, by the number of their batch."""

    name: str
    process: Child | None = None
    owed: dict[int, Message] = field(default_factory=dict)

    @property
    def backlog(self) -> int:
        """Bytes of rows and prompts that wait for this card."""
        return sum(len(rows) for _, _, rows, _ in self.owed.values())


class ModelOnCards:
    """The processes of one model, as a `ModelConnection`; safe to call from several threads.

    `take` is called with what they say: once with ("loaded", ...), and with an answer to each batch. `ended` is called
    once, when the last of them has ended.
    """

    def __init__(
        self,
        module: str,
        cards: Sequence[str],
        take: Callable[[Message], None],
        ended: Callable[[BaseException | None], None],
    ) -> None:
        self._take, self._ended = take, ended
        self._lock = threading.RLock()
        self._is_loaded = False
        self._all = [_Card(name) for name in cards]
        self._at_work = list(self._all)
        self._running = len(self._all)
        with self._lock:  # nothing that they say is handled before all are there
            for card in self._all:
                card.process = Child(module, self._taker(card), self._ender(card), card=card.name)

    @property
    def pid(self) -> int:
        """The process id of the first that is still there."""
        with self._lock:
            return _process_of((self._at_work or self._all)[0]).pid

    @property
    def pids(self) -> dict[str, int]:
        """The process id of each that is still there, by its card."""
        with self._lock:
            return {card.name: _process_of(card).pid for card in self._at_work}

    def send(self, message: object) -> None:
        """Sends which model to load to all, rows to one; OSError where none is left."""
        assert isinstance(message, tuple)
        with self._lock:
            if message[0] != "load":
                self._give(message)
                return
            for card in list(self._at_work):
                self._send_to(card, message)

    def how_it_ended(self) -> int | None:
        """The exit status of the last that ended, or minus the signal that ended it."""
        return _process_of(self._all[-1]).how_it_ended()  # `_ender` keeps it there

    def kill(self) -> None:
        """Ends all processes at once."""
        for card in self._all:
            _process_of(card).kill()

    def close(self) -> None:
        """Closes all connections, at which the processes end by themselves."""
        for card in self._all:
            _process_of(card).close()

    def _give(self, message: Message) -> None:
        """Gives rows to the card that has the least to do."""
        while self._at_work:
            card = min(self._at_work, key=lambda each: each.backlog)
            card.owed[message[1]] = message
            if self._send_to(card, message):
                return
            card.owed.pop(message[1], None)
        raise OSError("no card is left")

    def _send_to(self, card: _Card, message: Message) -> bool:
        """Whether it could be sent; a card to which nothing can be sent gets nothing more."""
        try:
            _process_of(card).send(message)
        except OSError:
            if card in self._at_work:
                self._at_work.remove(card)  # its end is told by the thread that reads from it
            return False
        return True

    def _taker(self, card: _Card) -> Callable[[Message], None]:
        def take(message: Message) -> None:
            kind, number = message[0], message[1] if len(message) > 1 else None
            with self._lock:
                if kind == "loaded":
                    is_first, self._is_loaded = not self._is_loaded, True
                    if not is_first:
                        return
                elif kind == "failed" and number == 0:  # as where another program has taken this card's memory
                    if len(self._at_work) > 1:
                        print(f"The model could not be loaded on card {card.name}: {message[3]}", file=sys.stderr)
                        self._drop(card)
                        return
                elif kind != "progress":
                    card.owed.pop(message[1], None)
            self._take(message)

        return take

    def _ender(self, card: _Card) -> Callable[[BaseException | None], None]:
        def end(unforeseen: BaseException | None) -> None:
            with self._lock:
                self._all.remove(card)
                self._all.append(card)
                self._running -= 1
                self._drop(card)
                is_last = not self._running
            if is_last:
                self._ended(unforeseen)

        return end

    def _drop(self, card: _Card) -> None:
        """Takes a card out of work; what it owed goes to the others."""
        if card in self._at_work:
            self._at_work.remove(card)
        owed = list(card.owed.values())
        if not self._at_work:
            return
        if owed:
            print(f"The model's process on card {card.name} ended; its rows go to the other cards.", file=sys.stderr)
        card.owed.clear()
        with contextlib.suppress(OSError):  # the end of the last is told by its own thread
            for message in owed:
                self._give(message)


def _process_of(card: _Card) -> Child:
    assert card.process is not None, "all processes are started before any is asked"
    return card.process
