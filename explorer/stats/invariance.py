"""Does a model give one answer, however it is asked?"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from explorer.stats.bootstrap import Interval, bootstrap_mean


@dataclass(frozen=True, slots=True)
class Invariance:
    """Mean prediction invariance over concepts with its interval; `identical` concepts had one answer throughout."""

    mean: Interval
    identical: int
    n: int
    left_out: int = 0
    reason: str = ""


def prediction_invariance(answers: Sequence[Hashable]) -> float:
    """1 - (U - 1) / (M - 1) for U distinct of M answers: 1 if all agree, 0 if all differ, nan for a single answer."""
    if len(answers) < 2:
        return math.nan
    return 1 - (len(set(answers)) - 1) / (len(answers) - 1)


def average_invariance(concepts: Sequence[Sequence[Hashable]], *, seed: int = 0) -> Invariance:
    """AvPI: the mean prediction invariance of the concepts' answers, with its bootstrap interval over concepts."""
    values = [prediction_invariance(answers) for answers in concepts]
    mean = bootstrap_mean(values, seed=seed)
    identical = sum(value == 1 for value in values)
    return Invariance(mean, identical, mean.n, mean.left_out, mean.reason)
