"""Does a score go with being right?"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from explorer.stats.clustered import clustered_slopes
from explorer.stats.estimate import Estimate
from explorer.stats.gaps import drop_gaps, numbers, ties_wrong
from explorer.stats.separation import find_separation


@dataclass(frozen=True, slots=True, kw_only=True)
class Slope(Estimate):
    """The change in log odds of being right per unit of a feature and per standard deviation of it (over n).

    `units` is how many groups its errors are by, None where they are over rows.
    """

    name: str
    se: float
    z: float
    per_sd: float
    units: int | None = None


@dataclass(frozen=True, slots=True)
class LogisticFit:
    """An unpenalized logistic regression; with a reason, there are no numbers."""

    intercept: float
    slopes: tuple[Slope, ...]
    covariance: tuple[tuple[float, ...], ...]  # of intercept and slopes, per unit
    loglik: float
    n: int
    right: int
    left_out: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class LogisticCurve:
    """The fitted chance of being right at each x, with its pointwise band."""

    x: tuple[float, ...]
    chance: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


def logistic(
    right: ArrayLike,
    *features: ArrayLike,
    names: Sequence[str] = (),
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> LogisticFit:
    """Outcomes (ties wrong) regressed on one or more features by maximum likelihood, with Wald intervals.

    Constant outcomes, constant, identical and collinear features and separation are named instead of fitted. Where
    `groups` names each row's, the errors are by group (`clustered.py`).
    """
    labels = tuple(names) or tuple(f"x{number}" for number in range(1, len(features) + 1))
    every = (ties_wrong(right), *map(numbers, features), *(() if groups is None else (groups,)))
    (outcome, *columns), left_out = drop_gaps(*every)
    families = columns.pop() if groups is not None else None
    # A fit exists only where the classes overlap along every direction; elsewhere the likelihood rises for ever, and
    # what a program prints is where it happened to stop.
    problem = _why_not_fitted(outcome, columns, labels)
    if problem:
        return _unfitted_logistic(outcome, labels, left_out, problem)
    table = np.column_stack(columns)
    if families is not None:
        return _by_group(outcome, table, families, labels, left_out, level)
    return _by_item(outcome, table, labels, left_out, level)


def _by_item(
    outcome: np.ndarray, table: np.ndarray, labels: tuple[str, ...], left_out: int, level: float
) -> LogisticFit:
    import statsmodels.api as sm
    from scipy.stats import norm

    center, spread = table.mean(axis=0), table.std(axis=0)
    # Standardized features keep Newton's steps well scaled whatever the unit of the score.
    design = sm.add_constant((table - center) / spread, has_constant="add")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = sm.Logit(outcome, design).fit(disp=0, maxiter=100)
    if not fit.mle_retvals["converged"]:
        return _unfitted_logistic(outcome, labels, left_out, "the fit did not converge")
    # From slopes per standard deviation back to slopes per unit: b / spread, and the intercept at 0 instead of the
    # mean.
    back = np.diag(np.append(1.0, 1.0 / spread))
    back[0, 1:] = -center / spread
    per_unit, covariance = back @ fit.params, back @ fit.cov_params() @ back.T
    reach = norm.ppf((1 + level) / 2)
    slopes = tuple(
        Slope(
            name=name,
            value=float(per_unit[i]),
            low=float(per_unit[i] - reach * fit.bse[i] / spread[i - 1]),
            high=float(per_unit[i] + reach * fit.bse[i] / spread[i - 1]),
            se=float(fit.bse[i] / spread[i - 1]),
            z=float(fit.tvalues[i]),
            p=float(fit.pvalues[i]),
            n=outcome.size,
            left_out=left_out,
            per_sd=float(fit.params[i]),
        )
        for i, name in enumerate(labels, start=1)
    )
    return LogisticFit(
        intercept=float(per_unit[0]),
        slopes=slopes,
        covariance=tuple(map(tuple, covariance.tolist())),
        loglik=float(fit.llf),
        n=outcome.size,
        right=int(outcome.sum()),
        left_out=left_out,
    )


def _by_group(
    outcome: np.ndarray,
    table: np.ndarray,
    families: np.ndarray,
    labels: tuple[str, ...],
    left_out: int,
    level: float,
) -> LogisticFit:
    fit = clustered_slopes(outcome, table, families, labels, left_out=left_out, level=level)
    slopes = tuple(
        Slope(
            name=name, value=slope.value, low=slope.low, high=slope.high, se=slope.se, z=slope.value / slope.se,
            p=slope.p, n=slope.n, left_out=left_out, reason=slope.reason, per_sd=slope.value * float(spread),
            units=slope.units,
        )
        for name, slope, spread in zip(labels, fit.slopes, table.std(axis=0), strict=True)
    )  # fmt: skip
    return LogisticFit(fit.intercept, slopes, fit.covariance, fit.loglik, outcome.size, int(outcome.sum()), left_out)


def logistic_curve(fit: LogisticFit, x: ArrayLike) -> LogisticCurve:
    """The curve of a fit on one feature; the band is the Wald interval of the log odds, turned into chances.

    It reaches as many errors to either side as the slope's own interval, which are more where groups are few.
    """
    from scipy.special import expit

    at = numbers(x)
    if fit.reason or len(fit.slopes) != 1:
        gaps = (math.nan,) * at.size
        return LogisticCurve(tuple(at.tolist()), gaps, gaps, gaps)
    design = np.column_stack([np.ones(at.size), at])
    # The band is made in log odds, where the estimate is near normal, and turned into chances after: it stays in 0 to
    # 1.
    odds = design @ np.array([fit.intercept, fit.slopes[0].value])
    variance = np.einsum("ij,jk,ik->i", design, np.array(fit.covariance), design)
    slope = fit.slopes[0]
    reached = slope.high - slope.value  # nan where the slope has no interval, and then the curve has no band
    errors = math.nan if math.isnan(reached) else reached / math.sqrt(fit.covariance[1][1])
    reach = errors * np.sqrt(np.maximum(variance, 0.0))
    curves = (expit(odds), expit(odds - reach), expit(odds + reach))
    return LogisticCurve(tuple(at.tolist()), *(tuple(curve.tolist()) for curve in curves))


# The likelihood has no maximum where a feature parts the outcomes, for instance where every item above a count of 9 is
# right and every other wrong: each larger slope fits better still. A program then stops where its steps end, with a
# slope of 40 and a standard error of 9,000. Such cases are told apart before fitting, and get a reason for a number.
def _why_not_fitted(outcome: np.ndarray, columns: list[np.ndarray], names: tuple[str, ...]) -> str:
    if not outcome.size:
        return "no rows"
    if np.ptp(outcome) == 0:
        return "every outcome is right" if outcome[0] else "every outcome is wrong"
    constant = [name for name, column in zip(names, columns, strict=True) if np.ptp(column) == 0]
    if constant:
        return f"constant feature: {', '.join(constant)}"
    for i, first in enumerate(columns):
        for j in range(i):
            if np.array_equal(first, columns[j]):
                return f"identical features: {names[j]}, {names[i]}"
    table = np.column_stack(columns)
    design = np.column_stack([np.ones(outcome.size), (table - table.mean(axis=0)) / table.std(axis=0)])
    if np.linalg.matrix_rank(design) < design.shape[1]:
        return f"collinear features: {', '.join(names)}"
    separated = find_separation(outcome, design)
    return f"{separated} by {', '.join(names)}" if separated else ""


def _unfitted_logistic(outcome: np.ndarray, names: tuple[str, ...], left_out: int, reason: str) -> LogisticFit:
    nan = math.nan
    slopes = tuple(
        Slope.point(nan, outcome.size, left_out=left_out, reason=reason, name=name, se=nan, z=nan, per_sd=nan)
        for name in names
    )
    covariance = tuple((nan,) * (len(names) + 1) for _ in range(len(names) + 1))
    return LogisticFit(nan, slopes, covariance, nan, outcome.size, int(outcome.sum()), left_out, reason)
