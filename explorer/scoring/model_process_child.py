"""The process in which a model scores packed rows for another, which sends them by `model_process.py`.

    argv: the number of an open socket
    in:   ("load", LoadRequest)    once, first; then ("score", number, rows as bytes, options)
    out:  ("loaded", LoadedModel)
          then, for a batch of rows: ("progress", number, done, of), at last ("rows", number, pickled scores, record)
          ("failed", number, kind of error, text)    number 0: the model could not be loaded

It ends when the other end of the socket is closed, however the process there ended.
"""

from __future__ import annotations

import gc
import os
import pickle
import queue
import sys
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import islice
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from explorer.scoring.child_process import describe_failure
from explorer.scoring.model_process import LoadedModel, LoadRequest, rows_from_bytes

if TYPE_CHECKING:
    from explorer.records import PackedRow
    from explorer.scoring.engine.contract import RowOptions
    from explorer.scoring.hf import HFModel
    from explorer.scoring.hf_direct import DirectModel

PROGRESS_EVERY = 0.25  # seconds between two reports of how far a batch of rows is
MAX_ROWS = 256  # rows that are scored in one go, at most, where several batches of them wait: some full passes


@dataclass(frozen=True, slots=True)
class _ScoreRequest:
    """A batch of rows that was asked for and has no scores yet."""

    number: int
    rows: list[PackedRow]
    options: RowOptions


def main(socket: int) -> None:
    """Loads the model, then scores batches in the order in which they arrive."""
    connection = Connection(socket)
    messages: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(connection, messages), daemon=True).start()
    # Importing PyTorch takes most of the time until the first score; it begins before anybody has said which model is
    # wanted.
    # They make a million objects that stay, which the garbage collector need not look through again and again.
    gc.disable()
    from explorer.scoring import hf_direct
    from explorer.scoring.engine.device import start_gpu

    threading.Thread(target=start_gpu, daemon=True).start()
    _, loading = messages.get()
    try:
        model = hf_direct.load(
            loading.source, loading.settings, loading.device, loading.dtype
        ) or _load_by_transformers(loading)
    except Exception as error:
        _send_failure(connection, 0, error)
        return
    gc.freeze()
    gc.enable()
    connection.send(("loaded", LoadedModel(model.record(), model.row_tokens)))
    _score_all(connection, model, messages)


def _load_by_transformers(loading: LoadRequest) -> HFModel:
    from explorer.scoring import hf  # takes seconds, which a model of the engine's own families is spared

    return hf.load(loading.name, loading.settings, device=loading.device, dtype=loading.dtype, source=loading.source)


# The card is kept busy: while it works on the last forward passes of some rows, the next are prepared and queued.
#
#     Python   prepare 1, queue 1 | prepare 2, queue 2 | wait for 1, send 1 | prepare 3, queue 3 | ...
#     GPU                | rows 1 .................... | rows 2 ................................... | rows 3
def _score_all(
    connection: Connection, model: DirectModel | HFModel, messages: queue.SimpleQueue[tuple[Any, ...]]
) -> None:
    send_queued: Callable[[], None] | None = None
    first: _ScoreRequest | None = None
    while True:
        together, first = _next_requests(messages, first, wait=send_queued is None)
        send_next = _queue_requests(connection, model, together) if together else None
        if send_queued:
            send_queued()
        send_queued = send_next


def _next_requests(
    messages: queue.SimpleQueue[tuple[Any, ...]], first: _ScoreRequest | None, *, wait: bool
) -> tuple[list[_ScoreRequest], _ScoreRequest | None]:
    """The batches to score together, since more rows fill the GPU better, and the first that is left for later."""
    together: list[_ScoreRequest] = []
    rows = 0
    while True:
        if first is None:
            try:
                _, *fields = messages.get(block=wait and not together)
            except queue.Empty:
                return together, None
            first = _ScoreRequest(*fields)
        rows += len(first.rows)
        if together and (rows > MAX_ROWS or first.options != together[0].options):
            return together, first
        together.append(first)
        first = None


def _queue_requests(
    connection: Connection, model: DirectModel | HFModel, together: list[_ScoreRequest]
) -> Callable[[], None]:
    """Queues all these rows on the GPU; returns a function that waits for their scores and sends them."""
    reported_at = time.monotonic()

    def report_progress(done: int, of: int) -> None:
        nonlocal reported_at
        if time.monotonic() - reported_at > PROGRESS_EVERY:
            reported_at = time.monotonic()
            for each in together:
                connection.send(("progress", each.number, len(each.rows) * done // of, len(each.rows)))

    def send_failure(error: Exception) -> None:
        if len(together) == 1:
            _send_failure(connection, together[0].number, error)
            return
        for each in together:  # those before the one that cannot be scored still can
            _queue_requests(connection, model, [each])()

    def send_scores() -> None:
        try:
            scores = iter(finish())
        except Exception as error:
            send_failure(error)
            return
        for each in together:
            pickled = pickle.dumps(list(islice(scores, len(each.rows))), 5)
            connection.send(("rows", each.number, pickled, model.record()))

    rows, options = [row for each in together for row in each.rows], together[0].options
    try:
        finish = model.runner.begin(rows, report_progress, options.token_budget, moments=options.moments)
    except Exception as error:
        return partial(send_failure, error)
    return send_scores


def _send_failure(connection: Connection, number: int, error: Exception) -> None:
    """Sends the error of the batch with this number, or of loading the model where it is 0."""
    connection.send(("failed", number, *describe_failure(error)))


def _receive(connection: Connection, messages: queue.SimpleQueue[tuple[Any, ...]]) -> None:
    try:
        while True:
            message = connection.recv()
            if message[0] == "score":
                message = (*message[:2], rows_from_bytes(message[2]), *message[3:])
            messages.put(message)
    except (EOFError, OSError):
        os._exit(0)  # nobody is left who could want anything; a forward pass under way is not waited for
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)  # a message that cannot be read: who asked sees the end of this process, and does not wait for ever


if __name__ == "__main__":
    main(int(sys.argv[1]))
