"""A model in a process of its own: its GPU does not wait for the Python work of the process that asks.

    this process     read the benchmark, encode, pack | assemble, make rows, write, conclude
    the tokenizer's  read the tokenizer, tell it, end
    the model's      import, load                     | forward passes

In one process both would take turns under one interpreter lock: a forward pass is a thousand short calls, each of which
waits for the threads that encode and store (bench/RESULTS.md has what that costs). It pays where there is a GPU; on a
processor alone both would want the same cores.
"""

from __future__ import annotations

import contextlib
import pickle
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from explorer import errors, stopping
from explorer.errors import ExplorerError, ModelError
from explorer.records import PackedRow
from explorer.scoring import own_process
from explorer.scoring.child_process import Child, Message
from explorer.scoring.encode import DescribedTokenizer, TextEncoder
from explorer.scoring.engine.contract import ROW_TOKENS, Ids, Progress, RowOptions, RowScores
from explorer.scoring.model_cards import ModelOnCards
from explorer.scoring.own_process import MODEL_MODULE, TOKENIZER_MODULE
from explorer.settings import Settings

if TYPE_CHECKING:
    from explorer.scoring.encode import Pair, TokenizerSetup
    from explorer.scoring.hf_source import Source
    from explorer.scoring.model import Encoding
    from explorer.scoring.policy import Bos, Split

T = TypeVar("T")
COLUMNS = {"ids": "int32", "parents": "int32", "positions": "int32", "scored": "bool"}  # of a packed row


@dataclass(frozen=True, slots=True)
class LoadRequest:
    """Which model the process loads, and how."""

    name: str
    settings: Settings
    device: str
    dtype: str
    source: Source


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """What the model's process reports once the model is loaded."""

    record: Mapping[str, str | int]
    row_tokens: int


class ModelConnection(Protocol):
    """The other end of a connection that scores rows: a child process (`Child`), or a process that passes them on."""

    @property
    def pid(self) -> int: ...
    def send(self, message: object) -> None: ...
    def how_it_ended(self) -> int | None: ...
    def kill(self) -> None: ...
    def close(self) -> None: ...


@dataclass(slots=True)
class _Pending:
    """A batch that was sent: its progress as (done, of), and its answer, pickled, once that has come."""

    answer: Future[bytes] = field(default_factory=Future)
    done: tuple[int, int] = (0, 0)


def wait_for(outcome: Future[T]) -> T:
    """The result of a future; the waiting ends when the run is cancelled."""
    while not wait([outcome], timeout=stopping.SLICE).done:
        stopping.look()
    return outcome.result()


def _take_answer(pending: _Pending, progress: Progress | None) -> Any:
    """What came of a batch that was sent; meanwhile progress is told, and the waiting ends when a run is cancelled."""
    reported = pending.done
    # Told from here and not from the thread that reads: a run that was cancelled says so by an exception.
    while not wait([pending.answer], timeout=stopping.SLICE).done:
        stopping.look()
        if progress and pending.done != reported:
            reported = pending.done
            progress(*reported)
    return pickle.loads(pending.answer.result())


# As four arrays, not as tuples of numbers: to make a million Python numbers anew takes the model's process a second in
# which it can order nothing of its GPU.
def rows_as_bytes(rows: Sequence[PackedRow]) -> bytes:
    """Packed rows for another process, which reads them with `rows_from_bytes`."""
    sizes = [len(row.ids) for row in rows]
    columns = [
        np.fromiter(chain.from_iterable(getattr(row, name) for row in rows), dtype, sum(sizes))
        for name, dtype in COLUMNS.items()
    ]
    return pickle.dumps((sizes, columns), 5)


def rows_from_bytes(data: bytes) -> list[PackedRow]:
    """The rows, whose fields are arrays here."""
    sizes, columns = pickle.loads(data)
    ends = np.cumsum(sizes)
    return [PackedRow(*(column[end - size : end] for column in columns)) for size, end in zip(sizes, ends, strict=True)]


def prompts_as_bytes(prompts: Sequence[Ids], limits: Sequence[int]) -> bytes:
    """Prompts, and how many new tokens each may get, for another process: see `prompts_from_bytes`."""
    sizes = [len(prompt) for prompt in prompts]
    return pickle.dumps((sizes, np.fromiter(chain.from_iterable(prompts), "int32", sum(sizes)), list(limits)), 5)


def prompts_from_bytes(data: bytes) -> list[tuple[Ids, int]]:
    """Each prompt as token ids, and its limit of new tokens."""
    sizes, flat, limits = pickle.loads(data)
    ids = flat.tolist()
    ends = np.cumsum(sizes).tolist()
    return [(tuple(ids[end - size : end]), limit) for size, end, limit in zip(sizes, ends, limits, strict=True)]


def rebuild_error(kind: str, text: str) -> Exception:
    """The error that a child process described by `describe_failure`, as an exception of the same class."""
    error_class = getattr(errors, kind, None) if kind else None
    return error_class(text) if error_class else RuntimeError(text)


def _failure_message(number: int, error: BaseException) -> Message:
    kind = type(error).__name__ if isinstance(error, ExplorerError) else ""
    return ("failed", number, kind, str(error))


class ModelProcess:
    """A causal language model that scores packed rows in another process; safe to call from several threads.

    When it is created, the other process starts and imports; `load` then tells it which model. A second process reads
    the tokenizer and sends it long before the model is loaded, so that texts are encoded and decoded here, without
    importing transformers. Whatever needs the loaded model waits for it, and the waiting can be stopped.

    With a `link` no process is started: the model is at the other end, and whoever reads from it calls `take`. With
    several `cards` each has a process with a copy of the model.
    """

    def __init__(self, link: ModelConnection | None = None, cards: Sequence[str] = ()) -> None:
        self.name = ""
        self.source: Source | None = None
        self._lock = threading.Lock()
        self._loaded: Future[LoadedModel] = Future()
        self._pending: dict[int, _Pending] = {}
        self._number = 0
        self._record: Mapping[str, str | int] = {}
        self._tokenizer_setup: Future[TokenizerSetup] = Future()
        self._encoder: TextEncoder | None = None
        self._end_reason = ""  # why nothing more comes
        self._is_on_cards = len(cards) > 1
        # The model's first: its imports take longest.
        self._model_process: ModelConnection = link or (
            ModelOnCards(MODEL_MODULE, cards, self.take, self.end)
            if self._is_on_cards
            else Child(MODEL_MODULE, self.take, self.end)
        )
        self._tokenizer_process = link or Child(TOKENIZER_MODULE, self.take, self._end_tokenizer_process)

    def load(self, source: Source, settings: Settings, dtype: str, device: str = "auto") -> None:
        """Tells the process which model to load, once."""
        self.name, self.source = source.name, source
        if self._is_on_cards and device == "auto" and own_process.DRIVER.exists():
            device = "cuda"  # a card that cannot be used is left out, and the processor does not stand in for it
        self._send(("load", LoadRequest(source.name, settings, device, dtype, source)))
        with contextlib.suppress(OSError):  # its end is told to who waits for the tokenizer
            self._tokenizer_process.send(source)

    def identify(self, source: Source) -> None:
        """Sets the identity of a model that was loaded ahead, before its weights were hashed."""
        self.source = source

    def wait_for_tokenizer(self) -> None:
        """Returns when texts can be encoded, before the model is loaded; raises what is wrong with its files."""
        reading = wait_for(self._tokenizer_setup)
        if self._encoder is None:
            known = self._known_source.known
            self._tokenizer = DescribedTokenizer(reading.tokenizer)
            self.window, self.words, self.ends = reading.window, reading.words, reading.ends
            self._encoder = TextEncoder(self._tokenizer, known.bos if known else "")

    @property
    def encoder(self) -> TextEncoder:
        """Texts to token ids and back."""
        assert self._encoder is not None, "wait_for_tokenizer comes first"
        return self._encoder

    @property
    def tokenizer(self) -> DescribedTokenizer:
        """What chat templates are asked for."""
        assert self._encoder is not None, "wait_for_tokenizer comes first"
        return self._tokenizer

    @property
    def _known_source(self) -> Source:
        assert self.source is not None, "load comes first"
        return self.source

    @property
    def pid(self) -> int:
        """The number of the model's process."""
        return self._model_process.pid

    @property
    def row_tokens(self) -> int:
        """How long a packed row is best made; the usual length on a GPU until the model is loaded."""
        return self._loaded.result().row_tokens if self._has_loaded() else ROW_TOKENS["cuda"]

    def record(self) -> dict[str, str | int]:
        """As `HFModel.record`, once the model is loaded."""
        record = self._record or wait_for(self._loaded).record
        # How texts are read is known here, and for some models here alone.
        return {**record, "weights": self._known_source.weights, "tokenizer": self.encoder.hash, "window": self.window}

    def encode(self, context: str, continuation: str, bos: Bos, split: Split) -> Encoding:
        """One request as token ids."""
        return self.encoder.encode(context, continuation, bos, split)

    def encode_all(self, pairs: Sequence[Pair], bos: Bos, split: Split) -> list[Encoding]:
        """Many requests as token ids, in the order asked."""
        return self.encoder.encode_all(pairs, bos, split)

    def decode(self, ids: Sequence[int]) -> tuple[str, ...]:
        """The text of each token; a character spread over several tokens is given by the last of them."""
        return self.encoder.texts(ids)

    def begin(
        self, rows: Sequence[PackedRow], *, token_budget: int | None = None, moments: bool = False
    ) -> Callable[[Progress | None], list[RowScores]]:
        """Sends packed rows to be scored after those sent before; returns a function that waits for their scores."""
        pending = self._ask("score", rows_as_bytes(rows), RowOptions(token_budget, moments))

        def wait_for_scores(progress: Progress | None = None) -> list[RowScores]:
            scores: list[RowScores] = _take_answer(pending, progress)
            return scores

        return wait_for_scores

    def begin_writing(
        self, prompts: Sequence[Ids], limits: Sequence[int]
    ) -> Callable[[Progress | None], list[list[int]]]:
        """Sends prompts to be gone on from greedily, after what was sent before; what is given waits for the tokens.

        Each gets as many new tokens as its limit says, whatever they say: -1 is the last where the model gave no
        number. Meant for short answers, whose every step is queued on the GPU at once (engine/pending_batch.py).
        """
        pending = self._ask("write", prompts_as_bytes(prompts, limits), None)

        def wait_for_tokens(progress: Progress | None = None) -> list[list[int]]:
            tokens: list[list[int]] = _take_answer(pending, progress)
            return tokens

        return wait_for_tokens

    def _ask(self, kind: str, content: bytes, options: RowOptions | None) -> _Pending:
        pending = _Pending()
        with self._lock:
            self._number += 1
            number = self._number
            self._pending[number] = pending
        self._send((kind, number, content, options))
        return pending

    # Rows and scores are pickled where they are made and unpickled where they are used. A process that only passes them
    # on sends bytes, and spends no time on a million numbers.
    def serve(self, message: Message, answer: Callable[[Message], None]) -> None:
        """Passes a ("score", ...) or ("write", ...) message of another process on to the model, and the answer back."""
        kind, number, content, options = message

        def answer_when_done(outcome: Future[bytes]) -> None:
            error = outcome.exception()
            reply = (
                ("answer", number, outcome.result(), self._record) if error is None else _failure_message(number, error)
            )
            with contextlib.suppress(OSError):  # nobody is left who could want it
                answer(reply)

        try:
            self._ask(kind, content, options).answer.add_done_callback(answer_when_done)
        except ModelError as error:
            answer(_failure_message(number, error))

    def introduce(self, answer: Callable[[Message], None]) -> None:
        """Sends another process the tokenizer now, and what was loaded as soon as it is."""

        def answer_when_known(kind: str, outcome: Future[Any]) -> None:
            error = outcome.exception()
            with contextlib.suppress(OSError):
                answer((kind, outcome.result()) if error is None else _failure_message(0, error))

        assert self._tokenizer_setup.done(), "wait_for_tokenizer comes first"
        answer_when_known("tokenizer", self._tokenizer_setup)
        self._loaded.add_done_callback(partial(answer_when_known, "loaded"))

    def logprobs(
        self,
        rows: Sequence[PackedRow],
        progress: Progress | None = None,
        token_budget: int | None = None,
        *,
        moments: bool = False,
    ) -> list[RowScores]:
        """Scores of packed rows, in the order asked; a batch holds at most `token_budget` tokens."""
        return self.begin(rows, token_budget=token_budget, moments=moments)(progress)

    def close(self) -> None:
        """Ends the processes, whatever they do."""
        self._end_reason = self._end_reason or "it was ended"
        self._tokenizer_process.kill()
        self._model_process.close()

    def _has_loaded(self) -> bool:
        return self._loaded.done() and self._loaded.exception() is None

    def _send(self, message: Message) -> None:
        try:
            self._model_process.send(message)
        except OSError as error:
            raise self._end_error() from error

    def end(self, unforeseen: BaseException | None) -> None:
        """Called when the model's process has ended: whoever waits for it gets the reason as an error."""
        error = self._unreadable(unforeseen) if unforeseen else self._end_error()
        # Whoever waits must hear of the end, or it would wait for ever: for the model and for every batch under way.
        with self._lock:
            waiting: list[Future[Any]] = [self._loaded, *(pending.answer for pending in self._pending.values())]
            self._pending.clear()
        for outcome in waiting:
            if not outcome.done():
                outcome.set_exception(error)

    def _end_tokenizer_process(self, unforeseen: BaseException | None) -> None:
        """Called when the tokenizer's process has ended, as it does once it has sent its answer."""
        if not self._tokenizer_setup.done():
            self._tokenizer_setup.set_exception(
                self._unreadable(unforeseen) if unforeseen else ModelError(self._end_message(self._tokenizer_process))
            )

    def _unreadable(self, unforeseen: BaseException) -> Exception:
        return ModelError(f"What the process of {self.name} said could not be read ({unforeseen!r}).")

    def take(self, message: Message) -> None:
        """Handles one message of the model's or the tokenizer's process."""
        kind, *rest = message
        # Messages come in any order between the two processes, so each kind sets the future of its own and needs no
        # other.
        if kind == "tokenizer":
            self._tokenizer_setup.set_result(rest[0])
        elif kind == "unreadable":
            self._tokenizer_setup.set_exception(rebuild_error(*rest))
        elif kind == "loaded":
            self._loaded.set_result(rest[0])
        elif kind == "progress":
            number, *done = rest
            self._pending[number].done = (done[0], done[1])
        elif kind == "answer":
            number, answer, self._record = rest
            self._pop_pending(number).answer.set_result(answer)
        else:
            number, name, text = rest
            error = rebuild_error(name, text)
            if number:
                self._pop_pending(number).answer.set_exception(error)
            else:
                self._loaded.set_exception(error)

    def _pop_pending(self, number: int) -> _Pending:
        with self._lock:
            return self._pending.pop(number)

    def _end_error(self) -> Exception:
        """Why nothing more comes of the process: its own reason, where it gave one before it ended."""
        if self._loaded.done() and (reason := self._loaded.exception()) and isinstance(reason, Exception):
            return reason
        return ModelError(self._end_message(self._model_process))

    def _end_message(self, child: ModelConnection) -> str:
        if self._end_reason:
            return f"The process of {self.name} is no longer there ({self._end_reason}). Start the run again."
        code = child.how_it_ended()
        how = f"signal {-code}" if code and code < 0 else f"exit status {code}"
        if code == -9:
            why, what = ", as happens when memory runs out", "make room, then resume"
        else:
            why, what = "", "what it said last stands in the run's log; resume goes on"
        return f"The process that held {self.name} ended by itself ({how}){why}. What was finished is kept: {what}."
