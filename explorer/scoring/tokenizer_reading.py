"""A model's tokenizer read by a process of its own, for one that has not imported transformers."""

from __future__ import annotations

import contextlib
import sys
from concurrent.futures import Future

from explorer.errors import ModelError
from explorer.scoring.child_process import Child, Message
from explorer.scoring.encode import TokenizerSetup
from explorer.scoring.hf_source import Source
from explorer.scoring.model_process import rebuild_error, wait_for
from explorer.scoring.own_process import TOKENIZER_MODULE


class TokenizerReading:
    """How a model reads texts, being found out; whoever began it closes it."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._setup: Future[TokenizerSetup] = Future()
        self._child: Child | None = None
        if "transformers" not in sys.modules:  # else it is read here in less time than a process takes to begin
            self._child = Child(TOKENIZER_MODULE, self._take, self._end)
            with contextlib.suppress(OSError):  # its end is told to who waits
                self._child.send(source)

    def result(self) -> TokenizerSetup:
        """The tokenizer and what belongs to it; ModelError where the files do not tell."""
        if self._child is None:
            from explorer.scoring import hf_tokenizer

            return hf_tokenizer.read_setup(self._source)
        return wait_for(self._setup)

    def close(self) -> None:
        """Ends the process, whatever it does."""
        if self._child is not None:
            self._child.kill()

    def _take(self, message: Message) -> None:
        kind, *rest = message
        if kind == "tokenizer":
            self._setup.set_result(rest[0])
        else:
            self._setup.set_exception(rebuild_error(*rest))

    def _end(self, unforeseen: BaseException | None) -> None:
        if not self._setup.done():
            why = f" ({unforeseen!r})" if unforeseen else ""
            self._setup.set_exception(
                ModelError(
                    f"The process that reads the tokenizer of {self._source.name} ended by itself{why}. Try again."
                )
            )
