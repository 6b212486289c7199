"""Findings about a score that splits instances: accuracy of the low and the high half, and views without a split."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from explorer.finding import Finding, HalfFindings, SplitFindings
from explorer.records import Factor
from explorer.rows.builders import Row, finding_row
from explorer.stats import split
from explorer.stats.auc import auc
from explorer.stats.bootstrap import bootstrap, bootstrap_mean, weighted_medians
from explorer.stats.clustered import clustered_difference
from explorer.stats.estimate import Estimate
from explorer.stats.logistic import logistic
from explorer.stats.proportion import Proportion
from explorer.stats.split import LowHigh
from explorer.studies.families import families_of

BINS = 10


@dataclass(frozen=True, slots=True)
class Where:
    """Of which group and under which factors findings are stored; `half` is the factor that tells low from high."""

    group: str
    factors: Mapping[str, Factor]
    half: str

    def row(
        self,
        finding: Finding,
        estimate: Estimate,
        detail: Mapping[str, Any] | None = None,
        *,
        factors: Mapping[str, Factor] | None = None,
    ) -> Row:
        """A row of `findings`; a number in its detail that is not defined is null."""
        defined = {
            key: None if isinstance(value, float) and math.isnan(value) else value
            for key, value in (detail or {}).items()
        }
        return finding_row(finding, self.group, estimate, factors={**self.factors, **(factors or {})}, detail=defined)


# "Popular instances are answered better" is asked four ways, each with its weakness: two halves by the median (throws
# away how far a score is from it), the same by ranks where many scores tie (the halves then depend on a seed), a slope
# (takes log odds for a straight line), the AUC (needs neither cut nor line, but has no unit of accuracy). Where they
# agree the way of asking is not what made the finding.
def compare(
    findings: SplitFindings,
    group: str,
    frame: pd.DataFrame,
    *,
    factors: Mapping[str, Factor] | None = None,
    half: str = "condition",
) -> list[Row]:
    """Findings about one group of instances (columns score, correct, grp, kind): halves, difference, slope, AUC, curve.

    Instances without a score or a verdict are left out and counted.
    """
    where = Where(group, factors or {}, half)
    correct, score = frame["correct"].to_numpy(), frame["score"].to_numpy()
    paradigms = families_of(frame)
    # The median is of this group's own scores, not of the whole benchmark's: what is rare in one paradigm may be common
    # in another.
    divided = split.low_high(score, correct)
    rows = [
        *_halves(where, findings.half, divided, score, correct, paradigms),
        _difference_row(where, findings.difference, divided, score, correct, paradigms),
    ]
    if paradigms is not None:
        # Beside errors by paradigm, which lean on a normal mean, the same by drawing whole paradigms anew.
        boot = bootstrap(_difference, score, correct, groups=paradigms, weighted=_differences)
        rows.append(where.row(findings.difference_over_paradigms, boot, {"paradigms": boot.units}))
    if divided.rank_split is not None:
        ranks = divided.rank_split
        detail = {"low": ranks.low, "high": ranks.high, "seeds": ranks.seeds}
        rows.append(where.row(findings.rank_split, ranks.difference, detail))
    rows.append(_slope(where, findings, correct, score, paradigms))
    rows.append(where.row(findings.auc, auc(correct, score, paradigms)))
    for number, bin in enumerate(split.quantile_curve(score, correct, paradigms, bins=BINS).bins):
        scores = {"lowest": bin.lowest, "highest": bin.highest, "mean": bin.mean}
        rows.append(where.row(findings.curve, bin.accuracy, scores, factors={"part": number}))
    return rows


def halves(
    findings: HalfFindings, group: str, frame: pd.DataFrame, *, factors: Mapping[str, Factor] | None = None
) -> list[Row]:
    """Of what `compare` finds the two halves and their difference alone."""
    where = Where(group, factors or {}, "condition")
    correct, score = frame["correct"].to_numpy(), frame["score"].to_numpy()
    divided = split.low_high(score, correct)
    paradigms = families_of(frame)
    return [
        *_halves(where, findings.half, divided, score, correct, paradigms),
        _difference_row(where, findings.difference, divided, score, correct, paradigms),
    ]


def _halves(
    where: Where,
    finding: Finding,
    divided: LowHigh,
    score: np.ndarray,
    correct: np.ndarray,
    paradigms: np.ndarray | None,
) -> list[Row]:
    below, above = split.median_split(_with_outcome(correct, score))
    return [
        _half(where, finding, name, share, divided, correct[inside], None if paradigms is None else paradigms[inside])
        for name, share, inside in (("low", divided.low, below), ("high", divided.high, above))
    ]


# The interval of a half. Wilson's takes items as independent, but the thousand items of a paradigm are one template
# filled a thousand times: knowing ten of them one nearly knows the rest. With 67 paradigms there are nearer to 67 than
# to 67,000 independent draws, so the interval is over paradigms wherever there are several.
def _half(
    where: Where,
    finding: Finding,
    name: str,
    share: Proportion,
    divided: LowHigh,
    correct: np.ndarray,
    paradigms: np.ndarray | None,
) -> Row:
    """Accuracy of a half; for minimal pairs with an interval over paradigms, whose items are alike."""
    detail = {"median": divided.median, "ties": share.ties}
    if paradigms is not None and len(set(paradigms)) > 1:
        over = bootstrap_mean(correct, paradigms)
        share = replace(share, low=over.low, high=over.high, units=over.units)
        detail |= {"paradigms": over.units}
    share = replace(share, left_out=divided.left_out, reason=divided.reason or share.reason)
    return where.row(finding, share, detail, factors={where.half: name})


def _difference_row(
    where: Where,
    finding: Finding,
    divided: LowHigh,
    score: np.ndarray,
    correct: np.ndarray,
    paradigms: np.ndarray | None,
) -> Row:
    """High less low: Fisher's test over items, or errors by paradigm with Fisher's p as published beside."""
    reason = divided.difference.reason or divided.reason
    if paradigms is None:
        gap: Estimate = replace(divided.difference, left_out=divided.left_out, reason=reason)
        return where.row(finding, gap, {"median": divided.median})
    # Items of a paradigm share their words and their grammar, so that Fisher's test over items, which the paper uses,
    # takes them for more than they are: on BLiMP a p of 3e-5 that is .2 once paradigms are the unit.
    below, above = split.median_split(_with_outcome(correct, score))
    inside = below | above
    over = clustered_difference(correct[inside], above[inside].astype(float), paradigms[inside])
    reason = "; ".join(filter(None, (over.reason, divided.reason)))
    detail = {"median": divided.median, "paradigms": over.units, "fisher_p": divided.difference.p}
    return where.row(finding, replace(over, left_out=divided.left_out, reason=reason), detail)


def _with_outcome(correct: np.ndarray, score: np.ndarray) -> np.ndarray:
    """The scores of instances that have an outcome; nan for the others."""
    return np.where(np.isfinite(correct), score, np.nan)


def _slope(
    where: Where, findings: SplitFindings, correct: np.ndarray, score: np.ndarray, paradigms: np.ndarray | None
) -> Row:
    # A tie counts as wrong in a logistic regression, whose outcomes are 0 and 1.
    fit = logistic(correct, score, names=[findings.name], groups=paradigms)
    (slope,) = fit.slopes
    if math.isnan(slope.value):
        return where.row(findings.slope, slope)
    # From fewer than five paradigms there is a slope, but no errors: then no band is drawn around its curve.
    covariance = None if math.isnan(slope.low) else fit.covariance
    detail = {"intercept": fit.intercept, "per_sd": slope.per_sd, "covariance": covariance}
    return where.row(findings.slope, slope, detail)


def _difference(score: np.ndarray, correct: np.ndarray) -> float:
    below, above = split.median_split(score)
    return float(correct[above].mean() - correct[below].mean()) if below.any() and above.any() else math.nan


def _differences(weights: np.ndarray, score: np.ndarray, correct: np.ndarray) -> np.ndarray:
    """`_difference` of each resample, from how often it draws each instance."""
    is_above = score > weighted_medians(weights, score)[:, None]
    above, below = weights * is_above, weights * ~is_above
    with np.errstate(invalid="ignore", divide="ignore"):  # 0 / 0: no instance on that side
        return (above @ correct) / above.sum(axis=1) - (below @ correct) / below.sum(axis=1)
