"""A process of this program that answers over a socket, and the messages between the two."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from explorer.errors import ExplorerError
from explorer.settings import ROOT

SECONDS_TO_END = 5.0  # seconds a process has to end by itself
Message = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class _Started:
    """A process and this end of its socket."""

    process: subprocess.Popen[bytes]
    connection: Connection


_AHEAD: dict[tuple[str, str], list[_Started]] = {}  # by module and card: processes that no `Child` has taken yet


def start_ahead(module: str, count: int = 1, card: str = "") -> None:
    """Starts processes that the next `Child`ren of this module take: their imports begin before anybody needs them."""
    for _ in range(count):  # one by one, so that none is forgotten where a later one cannot be started
        _AHEAD.setdefault((module, card), []).append(_start(module, card))


def send_ahead(module: str, message: Message) -> None:
    """Sends a message to those that were started ahead and are still waiting."""
    for started in _AHEAD.get((module, ""), ()):
        with contextlib.suppress(OSError):  # its end is told to the `Child` that takes it
            started.connection.send(message)


def end_ahead(but: str = "") -> None:
    """Ends the processes that were started ahead and that nobody took, all but those of one module."""
    for key in [(module, card) for module, card in _AHEAD if module != but]:
        for started in _AHEAD.pop(key, ()):
            started.connection.close()
            started.process.kill()
            started.process.wait()


def _start(module: str, card: str = "") -> _Started:
    ours, theirs = socket.socketpair()
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", module, str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # what a library says there would stand in the answer of a command
            start_new_session=True,  # Ctrl-C is for this process, which ends the other
            pass_fds=[theirs.fileno()],
            env={**os.environ, "PYTHONPATH": path, **({"CUDA_VISIBLE_DEVICES": card} if card else {})},
        )
    return _Started(process, Connection(ours.detach()))


class Child:
    """`python -m MODULE NUMBER`, NUMBER being its end of a socket; a thread reads its messages.

    With a `card`, by its number or name, it sees no other one.
    `take` is called with each message. `ended` is called once at the end, with the error that ended the reading, or
    with None where the process just closed its end.
    """

    def __init__(
        self,
        module: str,
        take: Callable[[Message], None],
        ended: Callable[[BaseException | None], None],
        *,
        card: str = "",
    ) -> None:
        self._take = take
        self._ended = ended
        waiting = _AHEAD.get((module, card))
        started = waiting.pop() if waiting else _start(module, card)
        self._process, self._connection = started.process, started.connection
        self._sending = threading.Lock()
        threading.Thread(target=self._read, name=module.rpartition(".")[2], daemon=True).start()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def send(self, message: object) -> None:
        """Sends a message; OSError where the process has ended."""
        with self._sending:
            self._connection.send(message)

    def how_it_ended(self) -> int | None:
        """Its exit status, or minus the signal that ended it; None where it has not ended yet."""
        try:
            return self._process.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            return None

    def kill(self) -> None:
        """Ends the process at once."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """Closes the connection, at which the process ends by itself; kills one that does not within some seconds."""
        # Only this ends the read that the thread sits in; closing the descriptor under it would not.
        end = socket.socket(fileno=os.dup(self._connection.fileno()))
        with end, contextlib.suppress(OSError):  # the other end is gone already
            end.shutdown(socket.SHUT_RDWR)
        if self.how_it_ended() is None:
            self.kill()

    def _read(self) -> None:
        try:
            while True:
                self._take(self._connection.recv())
        except (EOFError, OSError):
            self._ended(None)
        except BaseException as unforeseen:  # who waits must not wait for ever
            self._process.kill()
            self._ended(unforeseen)


def describe_failure(error: Exception) -> tuple[str, str]:
    """The class and the text of an error, as a child process sends them; an unexpected one is also printed."""
    if isinstance(error, ExplorerError):
        return type(error).__name__, str(error)
    traceback.print_exception(error)
    return "", f"{type(error).__name__}: {' '.join(str(error).split())}"
