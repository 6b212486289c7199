"""The process in which a model scores rows and answers prompts for another, which sends them by `model_process.py`.

    argv: the number of an open socket
    in:   ("load", LoadRequest)    once, first; then
          ("score", number, rows as bytes, options), ("write", number, prompts as bytes, None)
    out:  ("loaded", LoadedModel)
          then, for each batch: ("progress", number, done, of), at last ("answer", number, pickled, record)
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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from explorer.scoring.child_process import describe_failure
from explorer.scoring.model_process import LoadedModel, LoadRequest, prompts_from_bytes, rows_from_bytes

if TYPE_CHECKING:
    from explorer.records import PackedRow
    from explorer.scoring.engine.contract import Decoder, Ids, RowOptions
    from explorer.scoring.hf import HFModel
    from explorer.scoring.hf_direct import DirectModel
    from explorer.scoring.short_answers import ShortAnswers

PROGRESS_EVERY = 0.25  # seconds between two reports of how far a batch of rows is
# Rows and prompts that are done in one go, at most, where several batches of them wait: some full passes.
MOST_TOGETHER = {"score": 512, "write": 1024}
READ_CONTENT: Mapping[str, Callable[[bytes], list[Any]]] = {"score": rows_from_bytes, "write": prompts_from_bytes}


@dataclass(frozen=True, slots=True)
class _Batch:
    """A batch that was asked for and has no answer yet: rows to be scored ("score"), or prompts ("write")."""

    kind: str
    number: int
    content: list[PackedRow] | list[tuple[Ids, int]]
    options: RowOptions | None  # of rows

    def goes_with(self, other: _Batch) -> bool:
        """Whether the two can be done at once."""
        return (self.kind, self.options) == (other.kind, other.options)


def main(socket: int) -> None:
    """Loads the model, then does batches in the order in which they arrive."""
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
    _answer_all(connection, model, messages, loading)


def _load_by_transformers(loading: LoadRequest) -> HFModel:
    from explorer.scoring import hf  # takes seconds, which a model of the engine's own families is spared

    return hf.load(loading.name, loading.settings, device=loading.device, dtype=loading.dtype, source=loading.source)


# The card is kept busy: while it works on the last forward passes of some batches, the next are prepared and queued.
#
#     Python   prepare 1, queue 1 | prepare 2, queue 2 | wait for 1, send 1 | prepare 3, queue 3 | ...
#     GPU                | batch 1 ................... | batch 2 .................................. | batch 3
def _answer_all(
    connection: Connection,
    model: DirectModel | HFModel,
    messages: queue.SimpleQueue[tuple[Any, ...]],
    loading: LoadRequest,
) -> None:
    answerer = _Answerer(connection, model, partial(_load_by_transformers, loading))
    send_queued: Callable[[], None] | None = None
    first: _Batch | None = None
    while True:
        together, first = _next_batches(messages, first, wait=send_queued is None)
        send_next = answerer.queue(together) if together else None
        if send_queued:
            send_queued()
        send_queued = send_next


def _next_batches(
    messages: queue.SimpleQueue[tuple[Any, ...]], first: _Batch | None, *, wait: bool
) -> tuple[list[_Batch], _Batch | None]:
    """The batches to do together, since more of a kind fill the GPU better, and the first that is left for later."""
    together: list[_Batch] = []
    size = 0
    while True:
        if first is None:
            try:
                first = _Batch(*messages.get(block=wait and not together))
            except queue.Empty:
                return together, None
        size += len(first.content)
        if together and (size > MOST_TOGETHER[first.kind] or not first.goes_with(together[0])):
            return together, first
        together.append(first)
        first = None


class _Answerer:
    """Queues batches on the GPU and sends what comes of them."""

    def __init__(self, connection: Connection, model: DirectModel | HFModel, load_whole: Callable[[], HFModel]) -> None:
        self._connection = connection
        self._model = model
        self._load_whole = load_whole

    @cached_property
    def _writer(self) -> ShortAnswers:
        from explorer.scoring.engine.decoder import open_cached_decoder, open_decoder  # most runs only score
        from explorer.scoring.short_answers import ShortAnswers

        decoder: Decoder | None = open_cached_decoder(self._model.runner, self._model.window)
        if decoder is None:
            if not hasattr(self._model, "tokenizer"):
                # The engine's own layers, which are spread over several cards: transformers' can write all the same.
                del self._model  # two would not fit
                self._model = self._load_whole()
            decoder = open_decoder(self._model)
        return ShortAnswers(decoder)

    def queue(self, together: list[_Batch]) -> Callable[[], None]:
        """Queues all these batches of one kind; returns a function that waits for the answers and sends them."""
        try:
            finish = self._begin(together)
        except Exception as error:
            return partial(self._send_failure, together, error)
        return partial(self._send_answers, together, finish)

    def _begin(self, together: list[_Batch]) -> Callable[[], Sequence[Any]]:
        content: list[Any] = [each for batch in together for each in batch.content]
        options = together[0].options
        if options is None:
            return self._writer.begin(content)
        report = self._progress_of(together)
        return self._model.runner.begin(content, report, options.token_budget, moments=options.moments)

    def _progress_of(self, together: list[_Batch]) -> Callable[[int, int], None]:
        reported_at = time.monotonic()

        def report_progress(done: int, of: int) -> None:
            nonlocal reported_at
            if time.monotonic() - reported_at > PROGRESS_EVERY:
                reported_at = time.monotonic()
                for each in together:
                    size = len(each.content)
                    self._connection.send(("progress", each.number, size * done // of, size))

        return report_progress

    def _send_answers(self, together: list[_Batch], finish: Callable[[], Sequence[Any]]) -> None:
        try:
            answers = iter(finish())
        except Exception as error:
            self._send_failure(together, error)
            return
        for each in together:
            pickled = pickle.dumps(list(islice(answers, len(each.content))), 5)
            self._connection.send(("answer", each.number, pickled, self._model.record()))

    def _send_failure(self, together: list[_Batch], error: Exception) -> None:
        if len(together) == 1:
            _send_failure(self._connection, together[0].number, error)
            return
        for each in together:  # those before the one that cannot be done still can
            self.queue([each])()


def _send_failure(connection: Connection, number: int, error: Exception) -> None:
    """Sends the error of the batch with this number, or of loading the model where it is 0."""
    connection.send(("failed", number, *describe_failure(error)))


def _receive(connection: Connection, messages: queue.SimpleQueue[tuple[Any, ...]]) -> None:
    try:
        while True:
            message = connection.recv()
            if read := READ_CONTENT.get(message[0]):
                message = (*message[:2], read(message[2]), *message[3:])
            messages.put(message)
    except (EOFError, OSError):
        os._exit(0)  # nobody is left who could want anything; a forward pass under way is not waited for
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)  # a message that cannot be read: who asked sees the end of this process, and does not wait for ever


if __name__ == "__main__":
    main(int(sys.argv[1]))
