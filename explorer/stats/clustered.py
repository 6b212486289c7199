"""Differences and slopes whose errors are by group: paradigms, suites, families of items that share material.

Items of a paradigm come from one template, so that the tenth says little that the first nine did not. Errors by group
(Liang and Zeger 1986; Cameron and Miller 2015) take the group as what was drawn: whatever the items of a group have in
common, their residuals are added up before they are squared. How that holds with few groups is told in
`bias_reduced.py`; from fewer than five there is no interval, nor of what one group alone decides.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from explorer.stats.bias_reduced import NO_OTHERS, GroupErrors, bias_reduced, logistic_bias_reduced
from explorer.stats.estimate import FEWEST, Estimate
from explorer.stats.gaps import drop_gaps, numbers, outcomes

NO_ERROR = "no interval: groups do not differ"


@dataclass(frozen=True, slots=True, kw_only=True)
class Clustered(Estimate):
    """A difference or slope with errors by group; `units` is how many groups there are."""

    units: int
    se: float = math.nan


def clustered_difference(right: ArrayLike, above: ArrayLike, groups: ArrayLike) -> Clustered:
    """Accuracy where `above` is 1 less accuracy where it is 0, its interval and p with errors by group; a tie is half.

    It is the slope of a least-squares line through outcomes of 0 and 1, whose only value is the difference itself.
    """
    (outcome, is_above, names), left_out = drop_gaps(outcomes(right), numbers(above), groups)
    units = np.unique(names).size
    why = _too_few(units)
    if not outcome.size or np.ptp(is_above) == 0:
        return Clustered.point(
            math.nan, outcome.size, left_out=left_out, reason="a group without outcomes", units=units
        )
    value = float(outcome[is_above == 1].mean() - outcome[is_above == 0].mean())
    if why or np.ptp(outcome) == 0:
        why = why or f"every outcome is {'right' if outcome[0] else 'wrong'}"
        return Clustered.point(value, outcome.size, left_out=left_out, reason=why, units=units)
    codes = np.unique(names, return_inverse=True)[1]
    residuals = outcome - np.where(is_above == 1, outcome[is_above == 1].mean(), outcome[is_above == 0].mean())
    errors = bias_reduced(np.column_stack([np.ones(is_above.size), is_above]), residuals, codes)
    return _clustered_estimate(value, errors, 1, outcome.size, left_out, units)


def clustered_mean(values: ArrayLike, groups: ArrayLike) -> Clustered:
    """The mean of values, such as changes of an item, its interval and the p of its being 0, with errors by group.

    How unsure its variance is follows from the sizes of the groups with rows independent. Where groups of very unequal
    sizes (12 to 160 items, 6 to 12 groups) differ much in their means (half of all variance), 7 to 8% of intervals
    miss, not 5.
    """
    (known_values, names), left_out = drop_gaps(numbers(values), groups)
    units = np.unique(names).size
    if not known_values.size:
        return Clustered.point(math.nan, left_out=left_out, reason="no values", units=0)
    value = float(known_values.mean())
    why = _too_few(units) or ("every value is the same" if np.ptp(known_values) == 0 else "")
    if why:
        return Clustered.point(value, known_values.size, left_out=left_out, reason=why, units=units)
    codes = np.unique(names, return_inverse=True)[1]
    errors = bias_reduced(np.ones((known_values.size, 1)), known_values - value, codes)
    return _clustered_estimate(value, errors, 0, known_values.size, left_out, units)


def _clustered_estimate(
    value: float,
    errors: GroupErrors,
    coefficient: int,
    n: int,
    left_out: int,
    units: int,
    *,
    scale: float = 1.0,
    level: float = 0.95,
) -> Clustered:
    """A coefficient with the error at its place, in units of which the fit's own are `scale`."""
    se, spread = float(errors.errors[coefficient]) / scale, errors.spreads[coefficient]
    if errors.is_decided_alone[coefficient]:
        return Clustered.point(value, n, left_out=left_out, reason=NO_OTHERS, units=units)
    if not se > 1e-12:  # every group's residuals add up to nothing
        return Clustered.point(value, n, left_out=left_out, reason=NO_ERROR, units=units)
    reach = spread.reach(level) * se
    return Clustered(value, value - reach, value + reach, n, spread.tails(value / se), left_out, units=units, se=se)


@dataclass(frozen=True, slots=True)
class ClusteredSlopes:
    """Slopes of a logistic regression with errors by group, their covariance (intercept first), and the fit."""

    intercept: float
    slopes: tuple[Clustered, ...]
    names: tuple[str, ...]
    covariance: tuple[tuple[float, ...], ...]
    loglik: float
    reason: str = ""


# Errors by group. Maximum likelihood adds up what each row says of the slope, and its usual variance takes the rows'
# shares as independent. Items of a paradigm are one template filled again and again: what one says, all say. So the
# shares are added up within each group first, and the variance is that of the groups' sums:
#
#     rows          g1: +2 +2 +2   g2: -2 -2 -2      sum of squares by row     6 x 4  = 24
#     by group      g1: +6         g2: -6            sum of squares by group   2 x 36 = 72, three times the variance
#
# Few groups make even this too small, hence `bias_reduced.py`, and none below five.
def clustered_slopes(
    right: np.ndarray,
    table: np.ndarray,
    groups: np.ndarray,
    names: Sequence[str],
    *,
    left_out: int = 0,
    level: float = 0.95,
) -> ClusteredSlopes:
    """Outcomes (0 or 1, without gaps) regressed on the columns of `table`, shape (n, k), with errors by group.

    The estimates are those of maximum likelihood. With fewer than five groups the slopes have no errors, and say so;
    so does a slope that one group alone decides.
    """
    import statsmodels.api as sm

    units, n = int(np.unique(groups).size), right.size
    codes = np.unique(groups, return_inverse=True)[1]
    # Standardized, so that Newton's steps are well scaled whatever the unit of a column.
    center, spread = table.mean(axis=0), table.std(axis=0)
    design = sm.add_constant((table - center) / spread, has_constant="add")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = sm.Logit(right, design).fit(disp=0, maxiter=100)
    why = _too_few(units) or ("" if fit.mle_retvals["converged"] else "the fit did not converge")
    back = np.diag(np.append(1.0, 1.0 / spread))
    back[0, 1:] = -center / spread
    params, covariance = back @ fit.params, np.full((len(names) + 1,) * 2, math.nan)
    if why:
        slopes = [Clustered.point(float(value), n, left_out=left_out, reason=why, units=units) for value in params[1:]]
    else:
        errors = logistic_bias_reduced(design, right, np.asarray(fit.predict()), codes)
        covariance = back @ errors.covariance @ back.T
        slopes = [
            _clustered_estimate(
                float(params[i]), errors, i, n, left_out, units, scale=float(spread[i - 1]), level=level
            )
            for i in range(1, len(names) + 1)
        ]
    return ClusteredSlopes(
        float(params[0]), tuple(slopes), tuple(names), tuple(map(tuple, covariance.tolist())), float(fit.llf), why
    )


def _too_few(units: int) -> str:
    few_groups = "1 group" if units == 1 else f"{units} groups"
    return "" if units >= FEWEST else f"no interval: {few_groups}, at least {FEWEST} are needed"
