"""What goes into the engine and comes out of it: answers in the making, scores of a row, and what was spent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

Ids = tuple[int, ...]
BROKEN = "\ufffd"  # in the text of a token whose bytes are no whole character
Until = Callable[[str], bool]  # given the answer so far: whether it is complete
Progress = Callable[[int, int], None]  # rows done, rows in all
MAX_SHORT_ANSWER = 16  # new tokens: so many steps at most run in vain when all answers of a batch are complete early
# How long packed rows are made, by device. With dense masks attention grows with a row's length.
ROW_TOKENS = {"cpu": 128, "cuda": 256, "mps": 256}


@dataclass(frozen=True, slots=True)
class RowScores:
    """For the scored tokens of a row, in row order: log-probability in nats (float64) and whether it was the argmax.

    Where they were asked for, also the mean and the standard deviation (nats) of the log-probability over the whole
    vocabulary at the token's place, each word weighing as much as its probability.
    """

    logprobs: np.ndarray
    greedy: np.ndarray
    means: np.ndarray | None = None
    deviations: np.ndarray | None = None


@dataclass(frozen=True, slots=True)
class RowOptions:
    """How a batch of rows is scored; a process that asks another one for scores sends it along."""

    token_budget: int | None = None  # tokens of a forward pass at most; None leaves it to the device
    moments: bool = False  # mean and deviation over the vocabulary, too


@dataclass(slots=True)
class Stats:
    """What a generator has done so far, in tokens."""

    prompt_tokens: int = 0  # of all prompts, as if each had been read alone
    read_tokens: int = 0  # that the model was fed before the first new token: shared prefixes once
    new_tokens: int = 0
    passes: int = 0  # forward passes


@dataclass(frozen=True, slots=True)
class StopRules:
    """When an answer ends."""

    eos: frozenset[int]
    stop: tuple[str, ...]  # the answer is cut before the first of these
    until: Until | None  # the answer ends with the token that makes this true
    text_of: Callable[[Sequence[int]], str]  # of tokens; one without a broken character adds its own to those before
    begins: Callable[[str], int] = lambda text: 0  # where the answer begins in what was written; -1: not yet


@dataclass(slots=True)
class Answer:
    """An answer in the making."""

    prompt: Ids
    max_new_tokens: int  # new tokens
    rules: StopRules
    temperature: float = 0.0
    # Drawn before anything is written, in [0, 1), one a new token: an answer then does not depend on its batch.
    draws: np.ndarray = field(default_factory=lambda: np.empty(0))
    ids: list[int] = field(default_factory=list)
    text: str = ""
    finish: str = ""  # "stop", "length", or "failed" where the model gave no number

    def add(self, token: int) -> bool:
        """Takes the next token, -1 for none; whether the answer is now complete."""
        if token < 0:
            self.finish = "failed"
        elif token in self.rules.eos:
            self.finish = "stop"
        else:
            self.ids.append(token)
            if (self.rules.stop or self.rules.until) and self._meets_a_rule():
                self.finish = "stop"
            elif len(self.ids) >= self.max_new_tokens:
                self.finish = "length"
        if self.finish:
            self.text = self._cut(self.rules.text_of(self.ids))
        return bool(self.finish)

    def restart(self) -> None:
        """Forgets what was written: the batch is written again in smaller parts."""
        self.ids, self.text, self.finish = [], "", ""

    # Asked after each token of each answer while the device waits for the next order, so nothing is decoded twice: a
    # token adds its own text, but for a character whose bytes are spread over several. At the end all is decoded once.
    def _meets_a_rule(self) -> bool:
        piece = self.rules.text_of(self.ids[-1:])
        self.text = self.rules.text_of(self.ids) if BROKEN in piece else self.text + piece
        begins = self.rules.begins(self.text)
        if begins < 0:  # a thought may hold a stop text, or what would be a whole answer
            return False
        # In the whole answer, for a stop text may begin in one token and end in the next.
        if any(self.text.find(mark, begins) >= 0 for mark in self.rules.stop):
            return True
        return self.rules.until is not None and self.rules.until(self.text[begins:])

    def _cut(self, text: str) -> str:
        """The text up to the first stop text of the answer."""
        begins = self.rules.begins(text) if self.rules.stop else 0
        if begins < 0:
            return text
        cuts = [place for mark in self.rules.stop if (place := text.find(mark, begins)) >= 0]
        return text[: min(cuts)] if cuts else text


class Decoder(Protocol):
    """What the generator asks of a model that has been loaded."""

    pass_tokens: int  # what a forward pass costs beside its tokens, in tokens

    def write(self, prefix: Ids, answers: Sequence[Answer], stats: Stats, done: Callable[[int], None]) -> None:
        """Completes answers whose prompts all begin with `prefix`; calls `done` with how many more are complete."""
