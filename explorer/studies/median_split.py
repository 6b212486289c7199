"""Findings about a score that splits instances: accuracy of the low and the high half, and views without a split."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from explorer.records import Factor
from explorer.rows.builders import finding_row
from explorer.stats import split
from explorer.stats.auc import auc
from explorer.stats.bootstrap import bootstrap, bootstrap_mean
from explorer.stats.estimate import Estimate
from explorer.stats.logistic import logistic
from explorer.stats.proportion import Proportion
from explorer.stats.split import LowHigh

BINS = 10
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Naming:
    """What the findings are called: NAME_half, NAME_difference and so on, with factors; `half` is the one that tells
    low from high."""

    name: str
    group: str
    factors: Mapping[str, Factor]
    half: str

    def row(
        self,
        what: str,
        found: Estimate,
        detail: Mapping[str, Any] | None = None,
        *,
        factors: Mapping[str, Factor] | None = None,
    ) -> Row:
        """A row of `findings`; a number in its detail that is not defined is null."""
        known = {
            key: None if isinstance(one, float) and math.isnan(one) else one for key, one in (detail or {}).items()
        }
        name = f"{self.name}_{what}"
        return finding_row(name, self.group, found, factors={**self.factors, **(factors or {})}, detail=known)


def compare(
    name: str,
    group: str,
    frame: pd.DataFrame,
    *,
    factors: Mapping[str, Factor] | None = None,
    half: str = "condition",
) -> list[Row]:
    """Findings about one group of instances (columns score, correct, grp, kind): halves, difference, slope, AUC, curve.

    Instances without a score or a verdict are left out and counted.
    """
    naming = Naming(name, group, factors or {}, half)
    correct, score = frame["correct"].to_numpy(), frame["score"].to_numpy()
    paradigms = paradigms_of(frame)
    found = split.low_high(score, correct)
    rows = [*_halves(naming, found, score, correct, paradigms), _difference_row(naming, found)]
    if paradigms is not None:
        boot = bootstrap(_difference, score, correct, groups=paradigms)
        rows.append(naming.row("difference_over_paradigms", boot, {"paradigms": boot.units}))
    if found.rank_split is not None:
        ranks = found.rank_split
        detail = {"low": ranks.low, "high": ranks.high, "seeds": ranks.seeds}
        rows.append(naming.row("rank_split", ranks.difference, detail))
    rows += [_slope(naming, correct, score), _auc(naming, correct, score)]
    for number, bin in enumerate(split.quantile_curve(score, correct, bins=BINS).bins):
        scores = {"lowest": bin.lowest, "highest": bin.highest, "mean": bin.mean}
        rows.append(naming.row("curve", bin.accuracy, scores, factors={"part": number}))
    return rows


def halves(name: str, group: str, frame: pd.DataFrame, *, factors: Mapping[str, Factor] | None = None) -> list[Row]:
    """Of what `compare` finds the two halves, with Wilson intervals, and their difference alone."""
    naming = Naming(name, group, factors or {}, "condition")
    correct, score = frame["correct"].to_numpy(), frame["score"].to_numpy()
    found = split.low_high(score, correct)
    return [*_halves(naming, found, score, correct, None), _difference_row(naming, found)]


def paradigms_of(frame: pd.DataFrame) -> np.ndarray | None:
    """The paradigm of each instance where all are minimal pairs of several paradigms, whose items are alike."""
    return frame["grp"].to_numpy() if (frame["kind"] == "pair").all() and frame["grp"].nunique() > 1 else None


def _halves(
    naming: Naming, found: LowHigh, score: np.ndarray, correct: np.ndarray, paradigms: np.ndarray | None
) -> list[Row]:
    return [
        _half(naming, half, share, found, correct[inside], None if paradigms is None else paradigms[inside])
        for half, share, inside in zip(
            ("low", "high"), (found.low, found.high), split.halves(_where(correct, score)), strict=False
        )
    ]


def _half(
    naming: Naming, half: str, share: Proportion, found: LowHigh, correct: np.ndarray, paradigms: np.ndarray | None
) -> Row:
    """Accuracy of a half; for minimal pairs with an interval over paradigms, whose items are alike."""
    detail = {"median": found.median, "ties": share.ties}
    if paradigms is not None and len(set(paradigms)) > 1:
        over = bootstrap_mean(correct, paradigms)
        share = replace(share, low=over.low, high=over.high)
        detail |= {"paradigms": over.units}
    share = replace(share, left_out=found.left_out, reason=found.reason or share.reason)
    return naming.row("half", share, detail, factors={naming.half: half})


def _difference_row(naming: Naming, found: LowHigh) -> Row:
    gap = replace(found.difference, left_out=found.left_out, reason=found.difference.reason or found.reason)
    return naming.row("difference", gap, {"median": found.median})


def _where(correct: np.ndarray, score: np.ndarray) -> np.ndarray:
    """The scores of instances that have an outcome; nan for the others."""
    return np.where(np.isfinite(correct), score, np.nan)


def _slope(naming: Naming, correct: np.ndarray, score: np.ndarray) -> Row:
    # A tie counts as wrong in a logistic regression.
    fit = logistic(correct, score, names=[naming.name])
    (slope,) = fit.slopes
    if math.isnan(slope.value):
        return naming.row("slope", slope)
    detail = {"intercept": fit.intercept, "per_sd": slope.per_sd, "covariance": fit.covariance}
    return naming.row("slope", slope, detail)


def _auc(naming: Naming, correct: np.ndarray, score: np.ndarray) -> Row:
    return naming.row("auc", auc(correct, score))


def _difference(score: np.ndarray, correct: np.ndarray) -> float:
    below, above = split.halves(score)
    return float(correct[above].mean() - correct[below].mean()) if below.any() and above.any() else math.nan
