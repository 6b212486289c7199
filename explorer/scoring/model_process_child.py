"""The process in which a model scores packed rows for another, which sends them by `model_process.py`.

    argv: the number of an open socket
    in:   ("load", Loading)    once, first; then ("score", number, rows, options)
    out:  ("loaded", Facts)    then, a row batch: ("progress", number, done, of), at last ("rows", number, scores)
          ("failed", number, kind of error, text)    number 0: the model could not be loaded

It ends when the other end of the socket is closed, however the process there ended.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
import time
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from explorer.errors import ExplorerError
from explorer.scoring.model_process import Facts

if TYPE_CHECKING:
    from explorer.scoring.hf import HFModel

TELL = 0.25  # seconds between two reports of how far a batch of rows is


def main(socket: int) -> None:
    """Loads the model and scores what comes, in the order in which it comes."""
    connection = Connection(socket)
    waiting: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(connection, waiting), daemon=True).start()
    # Most of the time until the first score; it begins before anybody has said which model is wanted.
    from explorer.scoring import hf

    hf.import_ahead()
    _, loading = waiting.get()
    model = _answer(
        connection,
        0,
        lambda: hf.load(
            loading.name, loading.settings, device=loading.device, dtype=loading.dtype, source=loading.source
        ),
    )
    if model is None:
        return
    connection.send(("loaded", Facts(model.record(), model.row_tokens)))
    while True:
        _, number, rows, options = waiting.get()
        scores = _answer(connection, number, lambda: _score(connection, model, number, rows, options))  # noqa: B023
        if scores is not None:
            connection.send(("rows", number, scores, model.record()))


def _score(connection: Connection, model: HFModel, number: int, rows: Any, options: dict[str, Any]) -> Any:
    told = time.monotonic()

    def tell(done: int, of: int) -> None:
        nonlocal told
        if time.monotonic() - told > TELL:
            told = time.monotonic()
            connection.send(("progress", number, done, of))

    return model.logprobs(rows, tell, **options)


def _answer(connection: Connection, number: int, do: Callable[[], Any]) -> Any:
    """What `do` gives; where it raises, None, and the error is sent."""
    try:
        return do()
    except ExplorerError as error:
        connection.send(("failed", number, type(error).__name__, str(error)))
    except Exception as error:
        traceback.print_exc()
        connection.send(("failed", number, "", f"{type(error).__name__}: {' '.join(str(error).split())}"))
    return None


def _read(connection: Connection, waiting: queue.SimpleQueue[tuple[Any, ...]]) -> None:
    try:
        while True:
            waiting.put(connection.recv())
    except (EOFError, OSError):
        os._exit(0)  # nobody is left who could want anything; a forward pass under way is not waited for
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)  # a message that cannot be read: who asked sees the end of this process, and does not wait for ever


if __name__ == "__main__":
    main(int(sys.argv[1]))
