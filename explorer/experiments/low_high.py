"""Findings about a score that splits instances: accuracy of the low and the high half, and views without a split."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from explorer.records import Factor
from explorer.results.rows import finding_row
from explorer.stats import split
from explorer.stats.auc import auc
from explorer.stats.bootstrap import bootstrap, bootstrap_mean
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

    def row(self, what: str, value: float, factors: Mapping[str, Factor] | None = None, **given: Any) -> Row:
        """A row of `findings`; a number in its detail that is not defined is null."""
        detail = {
            key: None if isinstance(one, float) and math.isnan(one) else one
            for key, one in given.pop("detail", {}).items()
        }
        return finding_row(
            f"{self.name}_{what}",
            self.group,
            value,
            factors={**self.factors, **(factors or {})},
            detail=detail,
            **given,
        )


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
        rows.append(
            naming.row(
                "difference_over_paradigms", boot.value, low=boot.low, high=boot.high, n=boot.n,
                left_out=boot.left_out, reason=boot.reason, detail={"paradigms": boot.units},
            )
        )  # fmt: skip
    if found.rank_split is not None:
        ranks = found.rank_split
        rows.append(
            naming.row(
                "rank_split", ranks.difference, low=ranks.difference_low, high=ranks.difference_high,
                n=ranks.n, detail={"low": ranks.low, "high": ranks.high, "seeds": ranks.seeds},
            )
        )  # fmt: skip
    rows += [_slope(naming, correct, score), _auc(naming, correct, score)]
    for number, bin in enumerate(split.quantile_curve(score, correct, bins=BINS).bins):
        share = bin.accuracy
        rows.append(
            naming.row(
                "curve", share.value, {"part": number}, low=share.low, high=share.high, n=share.n,
                detail={"lowest": bin.lowest, "highest": bin.highest, "mean": bin.mean},
            )
        )  # fmt: skip
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
        for half, share, inside in zip(("low", "high"), (found.low, found.high), split.halves(_where(correct, score)))
    ]


def _half(
    naming: Naming, half: str, share: Proportion, found: LowHigh, correct: np.ndarray, paradigms: np.ndarray | None
) -> Row:
    """Accuracy of a half; for minimal pairs with an interval over paradigms, whose items are alike."""
    interval, detail = (share.low, share.high), {"median": found.median, "ties": share.ties}
    if paradigms is not None and len(set(paradigms)) > 1:
        over = bootstrap_mean(correct, paradigms)
        interval, detail = (over.low, over.high), {**detail, "paradigms": over.units}
    return naming.row(
        "half", share.value, {naming.half: half}, low=interval[0], high=interval[1], n=share.n,
        left_out=found.left_out, reason=found.reason or share.reason, detail=detail,
    )  # fmt: skip


def _difference_row(naming: Naming, found: LowHigh) -> Row:
    gap = found.difference
    return naming.row(
        "difference", gap.difference, low=gap.low, high=gap.high, p=gap.p, n=found.n, left_out=found.left_out,
        reason=gap.reason or found.reason, detail={"median": found.median},
    )  # fmt: skip


def _where(correct: np.ndarray, score: np.ndarray) -> np.ndarray:
    """The scores of instances that have an outcome; nan for the others."""
    return np.where(np.isfinite(correct), score, np.nan)


def _slope(naming: Naming, correct: np.ndarray, score: np.ndarray) -> Row:
    # A tie counts as wrong in a logistic regression.
    fit = logistic(correct, score, names=[naming.name])
    if not fit.slopes or math.isnan(fit.slopes[0].estimate):
        return naming.row("slope", math.nan, n=fit.n, left_out=fit.left_out, reason=fit.reason)
    slope = fit.slopes[0]
    detail = {"intercept": fit.intercept, "per_sd": slope.per_sd, "covariance": fit.covariance}
    return naming.row(
        "slope", slope.estimate, low=slope.low, high=slope.high, p=slope.p, n=fit.n, left_out=fit.left_out,
        reason=fit.reason, detail=detail,
    )  # fmt: skip


def _auc(naming: Naming, correct: np.ndarray, score: np.ndarray) -> Row:
    found = auc(correct, score)
    return naming.row(
        "auc", found.value, low=found.low, high=found.high, n=found.n, left_out=found.left_out, reason=found.reason
    )


def _difference(score: np.ndarray, correct: np.ndarray) -> float:
    below, above = split.halves(score)
    return float(correct[above].mean() - correct[below].mean()) if below.any() and above.any() else math.nan
