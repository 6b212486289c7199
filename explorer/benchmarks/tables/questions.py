"""What an import asks where a file can be read in more than one way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from explorer.errors import UsageError


@dataclass(frozen=True, slots=True)
class Answer:
    """One way to read the file: the value to give, and what it would mean, on the first row where that is seen."""

    value: str
    shown: str


class Question(UsageError):
    """A file that can be read in several ways; `asks` names what has to be said, as `guess` and its flag call it."""

    def __init__(self, asks: str, problem: str, answers: Sequence[Answer]) -> None:
        self.asks = asks
        self.found = problem
        self.answers = tuple(answers)
        flag = f"--{asks}"
        if self.answers:
            readings = "; ".join(f"{flag} {answer.value} would read {answer.shown}" for answer in self.answers)
            super().__init__(f"{problem}. Say which with {flag}: {readings}.")
        else:
            super().__init__(f"{problem}. Say it with {flag}.")
