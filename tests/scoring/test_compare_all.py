"""Verdicts made all at once equal those made one by one, whatever the scores are."""

from __future__ import annotations

import dataclasses
import math
import random

import pytest

from explorer.records import Request, Score
from explorer.scoring import reduce
from explorer.scoring.policy import PRESETS

NUMBERS = (0.0, -1.0, -1.000001, -2.5, -2.5, -40.0, math.nan, -math.inf, math.inf)


def score(chance: random.Random, option: int) -> Score | None:
    if chance.random() < 0.03:
        return None
    logprobs = tuple(chance.choice(NUMBERS[:-1]) for _ in range(chance.choice((0, 1, 1, 2, 3))))
    if chance.random() < 0.02:
        logprobs = (math.inf,)
    text = chance.choice(("one", "two", f"option {option}"))
    return Score(
        Request("x", option, "", text), tuple("t" for _ in logprobs), tuple(1 for _ in logprobs), logprobs,
        chars=chance.choice((0, 3, 8)), bytes=chance.choice((0, 4, 9)), greedy=False, straddles=False,
        reason="too long" if chance.random() < 0.05 else "",
    )  # fmt: skip


@pytest.mark.parametrize("ties", ["half", "first"])
@pytest.mark.parametrize("normalization", ["sum", "mean_token", "per_char", "per_byte", "pmi"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_verdicts_at_once_are_those_one_by_one(ties, normalization, dtype):
    chance = random.Random(f"{ties}{normalization}{dtype}")
    policy = dataclasses.replace(PRESETS["natural"], ties=ties, normalization=normalization)
    cases = [[score(chance, i) for i in range(chance.choice((0, 1, 2, 2, 2, 3, 4)))] for _ in range(600)]
    golds = [chance.choice((None, *range(len(case) + 1))) for case in cases]
    together = reduce.compare_all(cases, golds, policy, dtype)
    one_by_one = [reduce.compare(case, gold, policy, dtype) for case, gold in zip(cases, golds, strict=True)]
    assert [repr(verdict) for verdict in together] == [repr(verdict) for verdict in one_by_one]
    if normalization != "pmi":
        assert {verdict.outcome for verdict in together} >= {"right", "wrong", "missing"}
