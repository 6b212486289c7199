"""Dose and response: how a verdict or a score follows from how often the corpus holds what decides."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from explorer.stats.auc import RocCurve, auc, roc_curve
from explorer.stats.bootstrap import bootstrap_mean
from explorer.stats.estimate import Estimate, drawn_from_enough
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
    return shares(frame, "model", "correct")


def shares(frame: pd.DataFrame, by: str, value: str) -> list[Response]:
    """Of each line (the column `by`) and dose the share of a value between 0 and 1, with Wilson's interval."""
    return _responses(frame, by, value, proportion)


def means(frame: pd.DataFrame, by: str, value: str) -> list[Response]:
    """Of each line (the column `by`) and dose the mean of a value, with its bootstrap interval over items."""
    return _responses(frame, by, value, bootstrap_mean)


def _responses(frame: pd.DataFrame, by: str, value: str, summarize: Callable[[np.ndarray], Estimate]) -> list[Response]:
    responses = []
    for (name, dose), rows in frame.groupby([by, "dose"], sort=True):
        estimate = drawn_from_enough(summarize(rows[value].to_numpy(dtype=float)))
        responses.append(Response(str(name), int(str(dose)), estimate.value, estimate.low, estimate.high, estimate.n))
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
        # Every dose is held against the same texts that the corpus lacks, so that the areas of two doses differ by the
        # dose alone.
        absent = rows[rows["dose"] == 0]["value"].to_numpy(dtype=float)
        for dose, members in rows[rows["dose"] > 0].groupby("dose", sort=True):
            seen = members["value"].to_numpy(dtype=float)
            outcome = np.concatenate([np.ones(len(seen)), np.zeros(len(absent))])
            area = auc(outcome, sign * np.concatenate([seen, absent]), resamples=RESAMPLES)
            responses.append(Response(str(name), int(str(dose)), area.value, area.low, area.high, area.n))
    return responses


def roc_curves(frame: pd.DataFrame, is_high: bool) -> dict[int, RocCurve]:
    """Dose → the ROC curve of one attack: texts of that dose against all texts that the corpus lacks."""
    frame = frame.dropna(subset=["value"])
    sign = 1.0 if is_high else -1.0
    absent = frame[frame["dose"] == 0]["value"].to_numpy(dtype=float)
    curves = {}
    for dose, members in frame[frame["dose"] > 0].groupby("dose", sort=True):
        seen = members["value"].to_numpy(dtype=float)
        outcome = np.concatenate([np.ones(len(seen)), np.zeros(len(absent))])
        curves[int(str(dose))] = roc_curve(outcome, sign * np.concatenate([seen, absent]))
    return curves


def first_above(responses: Sequence[Response], chance: float = 0.5) -> int | None:
    """The least dose from which on every interval lies above chance; none where that of the largest dose does not."""
    first = None
    # From the largest dose down, and only as far as every interval lies above chance: a single small dose that does so
    # by luck, with larger ones that do not, is no threshold.
    for candidate in sorted(responses, key=lambda response: -response.dose):
        if math.isnan(candidate.low) or candidate.low <= chance:
            break
        first = candidate.dose
    return first


def first_beyond(responses: Sequence[Response]) -> int | None:
    """The least dose from which on every interval lies above that of dose 0; none where the largest dose's does not."""
    never = next((response for response in responses if response.dose == 0), None)
    if never is None or math.isnan(never.high):
        return None
    return first_above([response for response in responses if response.dose > 0], never.high)
