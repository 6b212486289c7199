"""A model in a process of its own: its GPU does not wait for the Python work of the process that asks.

    this process     read, encode, pack | assemble, make rows, write, conclude
    the model's      import, load       | forward passes

In one process both would take turns under one interpreter lock: a forward pass is a thousand short calls, each of which
waits for the threads that encode and store (bench/RESULTS.md has what that costs). It pays where there is a GPU; on a
processor alone both would want the same cores.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from functools import cached_property
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from explorer import errors, stopping
from explorer.errors import ModelError
from explorer.records import PackedRow
from explorer.scoring.encode import DescribedTokenizer, TextEncoder, TokenizerFacts
from explorer.scoring.engine.contract import ROW_TOKENS, Progress, RowScores
from explorer.settings import ROOT, Settings

if TYPE_CHECKING:
    from explorer.scoring.encode import Pair
    from explorer.scoring.hf_source import Source
    from explorer.scoring.model import Encoding
    from explorer.scoring.policy import Bos, Split

T = TypeVar("T")
ENDING = 5.0  # seconds a process has to end by itself
DRIVER = Path("/dev/nvidiactl")  # there where NVIDIA's driver is: told without the seconds that torch takes to load


@dataclass(frozen=True, slots=True)
class Loading:
    """Which model the process loads, and how."""

    name: str
    settings: Settings
    device: str
    dtype: str
    source: Source


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a model once it is loaded."""

    record: Mapping[str, str | int]
    row_tokens: int


@dataclass(frozen=True, slots=True)
class Reading:
    """How a model reads texts, known before it is loaded; `words` as `hf_load.words_of`."""

    tokenizer: TokenizerFacts
    window: int
    words: int


@dataclass(slots=True)
class _Asked:
    """Rows that are to be scored: how many are done, of how many, and at last their scores."""

    scores: Future[list[RowScores]] = field(default_factory=Future)
    done: tuple[int, int] = (0, 0)


def pays() -> bool:
    """Whether a run on this machine is faster with its model in a process of its own."""
    return os.name == "posix" and DRIVER.exists() and os.environ.get("CUDA_VISIBLE_DEVICES", "0") not in ("", "-1")


def _result(outcome: Future[T]) -> T:
    """What comes of it; who waits can be stopped."""
    while not wait([outcome], timeout=stopping.SLICE).done:
        stopping.look()
    return outcome.result()


class ModelProcess:
    """A causal language model that scores packed rows in another process; safe to call from several threads.

    Made, it begins with imports; `load` tells it which model. It says first how the model reads texts, so that encoding
    and decoding are done here, before the model is loaded, too, and transformers need not be imported here. Whatever
    needs the loaded model waits for it, and can be stopped while it waits.
    """

    def __init__(self) -> None:
        self.name = ""
        ours, theirs = socket.socketpair()
        path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "explorer.scoring.model_process_child", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,  # what a library says there would stand in the answer of a command
                start_new_session=True,  # Ctrl-C is for this process, which ends the other
                pass_fds=[theirs.fileno()],
                env={**os.environ, "PYTHONPATH": path},
            )
        self._connection = Connection(ours.detach())
        self._sending = threading.Lock()
        self._guard = threading.Lock()
        self._loaded: Future[Facts] = Future()
        self._asked: dict[int, _Asked] = {}
        self._number = 0
        self._record: Mapping[str, str | int] = {}
        self._reading: Future[Reading] = Future()
        self._encoder: TextEncoder | None = None
        self._ended = ""  # why nothing more comes
        threading.Thread(target=self._read, name="model process", daemon=True).start()

    def load(self, source: Source, settings: Settings, dtype: str, device: str = "auto") -> None:
        """Tells the process which model to load, once."""
        self.name, self.source = source.name, source
        self._send(("load", Loading(source.name, settings, device, dtype, source)))

    def wait_for_tokenizer(self) -> None:
        """Returns when texts can be encoded, with no model yet; raises what is wrong with the model's files."""
        reading = _result(self._reading)
        if self._encoder is None:
            known = self.source.known
            self._encoder = TextEncoder(DescribedTokenizer(reading.tokenizer), known.bos if known else "")
            self.window, self.words = reading.window, reading.words

    @property
    def encoder(self) -> TextEncoder:
        """Texts to token ids and back."""
        assert self._encoder is not None, "wait_for_tokenizer comes first"
        return self._encoder

    @cached_property
    def tokenizer(self) -> Any:
        """The tokenizer as transformers has it, for chat templates; to load transformers takes seconds."""
        from explorer.scoring import hf

        return hf.read_tokenizer(self.source)

    @property
    def pid(self) -> int:
        """The process's number."""
        return self._process.pid

    @property
    def row_tokens(self) -> int:
        """How long a packed row is best made; the usual length on a GPU until the model is loaded."""
        return self._loaded.result().row_tokens if self._has_loaded() else ROW_TOKENS["cuda"]

    def record(self) -> dict[str, str | int]:
        """As `HFModel.record`, once the model is loaded."""
        return dict(self._record or _result(self._loaded).record)

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
        """Asks for the scores of packed rows, behind what was asked before; what is given waits for them."""
        asked = _Asked()
        with self._guard:
            self._number += 1
            number = self._number
            self._asked[number] = asked
        self._send(("score", number, list(rows), {"token_budget": token_budget, "moments": moments}))

        def take(progress: Progress | None = None) -> list[RowScores]:
            told = asked.done
            # Told from here and not from the thread that reads: a run that was cancelled says so by an exception.
            while not wait([asked.scores], timeout=stopping.SLICE).done:
                stopping.look()
                if progress and asked.done != told:
                    told = asked.done
                    progress(*told)
            return asked.scores.result()

        return take

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
        """Ends the process, whatever it does."""
        self._ended = self._ended or "it was ended"
        # Only this ends the read that the thread sits in; closing the descriptor under it would not.
        end = socket.socket(fileno=os.dup(self._connection.fileno()))
        with end, contextlib.suppress(OSError):  # the other end is gone already
            end.shutdown(socket.SHUT_RDWR)
        try:
            self._process.wait(ENDING)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _has_loaded(self) -> bool:
        return self._loaded.done() and self._loaded.exception() is None

    def _send(self, message: tuple[Any, ...]) -> None:
        try:
            with self._sending:
                self._connection.send(message)
        except OSError as error:
            raise self._end_error() from error

    def _read(self) -> None:
        try:
            while True:
                self._take(self._connection.recv())
        except (EOFError, OSError):
            error = self._end_error()
        except BaseException as unforeseen:  # who waits must not wait for ever
            error = ModelError(f"What the process of {self.name} said could not be read ({unforeseen!r}).")
            self._process.kill()
        with self._guard:
            left: list[Future[Any]] = [self._reading, self._loaded, *(asked.scores for asked in self._asked.values())]
            self._asked.clear()
        for outcome in left:
            if not outcome.done():
                outcome.set_exception(error)

    def _take(self, message: tuple[Any, ...]) -> None:
        kind, *rest = message
        if kind == "reading":
            self._reading.set_result(rest[0])
        elif kind == "loaded":
            self._loaded.set_result(rest[0])
        elif kind == "progress":
            number, *done = rest
            self._asked[number].done = (done[0], done[1])
        elif kind == "rows":
            number, scores, self._record = rest
            self._pop(number).scores.set_result(scores)
        else:
            number, name, text = rest
            error = self._error(name, text)
            if number:
                self._pop(number).scores.set_exception(error)
            else:
                self._loaded.set_exception(error)
                if not self._reading.done():
                    self._reading.set_exception(error)

    def _pop(self, number: int) -> _Asked:
        with self._guard:
            return self._asked.pop(number)

    def _error(self, kind: str, text: str) -> Exception:
        made = getattr(errors, kind, None) if kind else None
        return made(text) if made else RuntimeError(text)

    def _end_error(self) -> Exception:
        """Why nothing more comes of the process: its own reason, where it gave one before it ended."""
        if self._loaded.done() and (reason := self._loaded.exception()) and isinstance(reason, Exception):
            return reason
        return ModelError(self._why())

    def _why(self) -> str:
        if self._ended:
            return f"The process of {self.name} is no longer there ({self._ended}). Start the run again."
        try:
            code: int | None = self._process.wait(ENDING)
        except subprocess.TimeoutExpired:
            code = None
        how = f"signal {-code}" if code and code < 0 else f"exit status {code}"
        if code == -9:
            why, what = ", as happens when memory runs out", "make room, then resume"
        else:
            why, what = "", "what it said last stands in the run's log; resume goes on"
        return f"The process that held {self.name} ended by itself ({how}){why}. What was finished is kept: {what}."
