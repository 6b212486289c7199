"""Dose and response: how a verdict or a score follows from how often the corpus holds what decides."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from explorer import display
from explorer.stats.auc import auc
from explorer.stats.proportion import proportion

LEAST = 20  # items a dose must have for its interval to say something
RESAMPLES = 500


@dataclass(frozen=True, slots=True)
class Response:
    """What was measured at one dose: a share or an area under the ROC curve, with its 95% interval, over n items."""

    name: str  # the model or the attack
    dose: int
    value: float
    low: float
    high: float
    n: int


def accuracy(frame: pd.DataFrame) -> list[Response]:
    """Of each model and dose the share of right verdicts (ties half); `frame` has model, dose and correct."""
    responses = []
    for (name, dose), rows in frame.groupby(["model", "dose"], sort=True):
        share = proportion(rows["correct"].to_numpy(dtype=float))
        responses.append(Response(str(name), int(str(dose)), share.value, share.low, share.high, share.n))
    return responses


def detection(frame: pd.DataFrame, is_high: Mapping[str, bool]) -> list[Response]:
    """Of each attack and dose the AUC of texts of that dose against all texts that the corpus lacks.

    `frame` has attack, dose and value; `is_high` says of each attack whether a high score speaks for membership.
    """
    responses = []
    for name, rows in frame.groupby("attack", sort=True):
        if str(name) not in is_high:
            continue
        rows = rows.dropna(subset=["value"])  # a text of one token has no first half; neighbors may not be asked for
        if rows.empty:
            continue
        sign = 1.0 if is_high[str(name)] else -1.0
        absent = rows[rows["dose"] == 0]["value"].to_numpy(dtype=float)
        for dose, members in rows[rows["dose"] > 0].groupby("dose", sort=True):
            seen = members["value"].to_numpy(dtype=float)
            outcome = np.concatenate([np.ones(len(seen)), np.zeros(len(absent))])
            area = auc(outcome, sign * np.concatenate([seen, absent]), resamples=RESAMPLES)
            responses.append(Response(str(name), int(str(dose)), area.value, area.low, area.high, area.n))
    return responses


def first_above(responses: Sequence[Response], chance: float = 0.5) -> int | None:
    """The least dose from which on every interval lies above chance; none where that of the largest dose does not."""
    first = None
    for one in sorted(responses, key=lambda response: -response.dose):
        if math.isnan(one.low) or one.low <= chance:
            break
        first = one.dose
    return first


def accuracy_in_words(title: str, responses: Sequence[Response]) -> str:
    """What the curve of one model says, in one sentence."""
    by_dose = {one.dose: one for one in responses}
    first, zero, most = first_above(responses), by_dose.get(0), by_dose[max(by_dose)]
    never = f" Where it never stands there, {_share(zero)}." if zero else ""
    if first is None:
        return f"{title} shows no effect of the dose: {_share(most)} at {most.dose:,} times.{never}"
    times = "the first time" if first == 1 else f"{first:,} times"
    return (
        f"{title} is right above chance from {times} on, and in {_share(most)} where the deciding n-gram stands "
        f"{most.dose:,} times in the corpus.{never}"
    )


def detection_in_words(title: str, responses: Sequence[Response]) -> str:
    """What one attack finds, in one sentence."""
    first, most = first_above(responses), max(responses, key=lambda one: one.dose)
    area = f"AUC {display.number(most.value)} at {most.dose:,} times"
    if first is None:
        return f"{title} does not tell texts of the corpus from others ({area})."
    smaller = [one.dose for one in responses if one.dose < first]
    times = "once" if first == 1 else f"{first:,} times"
    missed = f", not those seen {max(smaller):,} times" if smaller and max(smaller) > 1 else ""
    missed = ", not those seen once" if smaller and max(smaller) == 1 else missed
    return f"{title} finds texts seen {times}{missed} ({area})."


def _share(one: Response) -> str:
    return display.share(one.value, one.low, one.high)
