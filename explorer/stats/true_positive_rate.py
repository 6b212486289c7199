"""How many members an attack finds while it raises few false alarms."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.stats.bootstrap import RESAMPLES, percentile_interval
from explorer.stats.estimate import FEWEST, Estimate
from explorer.stats.gaps import drop_gaps, numbers, ties_wrong

RATES = (0.01, 0.05)


@dataclass(frozen=True, slots=True, kw_only=True)
class TruePositives(Estimate):
    """The share of members found at a share of false alarms; `members` and `others` are how many texts that is of."""

    rate: float
    members: int
    others: int


def true_positives(
    member: ArrayLike, scores: ArrayLike, rate: float, *, resamples: int = RESAMPLES, seed: int = 0
) -> TruePositives:
    """The highest share of members found at a threshold with at most `rate` false alarms, with its interval.

    The average over all texts (AUC) may be high while none is found surely, and an attack that finds some surely at a
    low false-positive rate is what a reader has to fear (Carlini et al. 2022). The interval draws members and others
    anew, so that it knows of the threshold's own uncertainty; of fewer than five members there is none. Fewer than
    1 / `rate` others cannot tell such a rate.
    """
    (outcome, score), left_out = drop_gaps(ties_wrong(member), numbers(scores))
    members, others = score[outcome == 1], score[outcome == 0]
    about: dict[str, Any] = {"rate": rate, "members": members.size, "others": others.size}
    why = ""
    if not members.size or not others.size:
        why = "all texts are members" if members.size else "no text is a member"
    elif others.size * rate < 1:
        why = f"{others.size:,} texts that are no members, at least {math.ceil(1 / rate):,} are needed for {rate:.0%}"
    if why:
        return TruePositives.point(math.nan, outcome.size, left_out=left_out, reason=why, **about)
    value = _share_found(members, others, rate)
    chance = np.random.default_rng(seed)
    resampled_rates = np.array(
        [
            _share_found(
                members[chance.integers(0, members.size, members.size)],
                others[chance.integers(0, others.size, others.size)],
                rate,
            )
            for _ in range(resamples)
        ]
    )
    fewer = min(members.size, others.size)
    if fewer < FEWEST:
        which = "member" if members.size == fewer else "other"
        why = f"no interval: {fewer} {which}{'' if fewer == 1 else 's'}, at least {FEWEST} are needed"
        return TruePositives.point(value, outcome.size, left_out=left_out, reason=why, **about)
    low, high, _ = percentile_interval(resampled_rates, 0.95, fewer)
    return TruePositives(value, low, high, outcome.size, left_out=left_out, **about)


def _share_found(members: np.ndarray, others: np.ndarray, rate: float) -> float:
    # The most false alarms that are allowed; the threshold is the highest score among those that are not.
    allowed = math.floor(rate * others.size + 1e-9)
    threshold = np.sort(others)[::-1][allowed] if allowed < others.size else -np.inf
    return float((members > threshold).mean())
