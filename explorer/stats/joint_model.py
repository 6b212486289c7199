"""What goes with being right once everything else is allowed for: measures in one logistic regression, and beside it.

Two measures that go together each look like the reason where only one is. In one model each has its effect with the
others held. Whatever tells groups apart (a paradigm's difficulty) is taken out by an intercept for each group; errors
are by group where there are at least five (`bias_reduced.py`), and a measure that varies in fewer than five groups, or
that one group alone decides, has no interval. Of fewer groups whose items share material no measure has one.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.stats.bias_reduced import NO_OTHERS, GroupErrors, logistic_bias_reduced
from explorer.stats.bootstrap import percentile_interval, resample_weights
from explorer.stats.clustered import Clustered
from explorer.stats.estimate import FEWEST, Estimate, drawn_from_enough, without_interval
from explorer.stats.gaps import drop_gaps, numbers, ties_wrong

FOLDS = 5
RESAMPLES = 500
FEWEST_ROWS = 20  # a measure, below which a fit says more of its rows than of others


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect(Clustered):
    """The change in log odds of being right per standard deviation of a measure within groups, the others held.

    alone      Spearman's rho of the measure and being right, within groups
    partial    the same with the others held (partial Spearman), its interval over groups or items
    inflation  its variance inflation factor: 1 where it goes with no other, above 10 it cannot be told from them
    ratio_p    p of the likelihood ratio of the model with it and without, rows taken as independent
    ratio      that likelihood ratio, chi-squared with one degree of freedom
    gain       what it adds to the log-likelihood of rows that were not fitted, in nats a thousand rows
    """

    name: str
    alone: float
    partial: Estimate
    inflation: float
    ratio: float
    ratio_p: float
    gain: float = math.nan


@dataclass(frozen=True, slots=True)
class JointModel:
    """All effects, over how many rows and groups; with a reason there are none.

    left_out  rows with a gap, or of a group that is all right or all wrong, in which nothing can be told apart
    dropped   measures that could not enter, with the reason
    too_few   whether there are no intervals, items of a group sharing material and the groups being fewer than five
    """

    effects: tuple[Effect, ...]
    n: int
    groups: int
    left_out: int = 0
    reason: str = ""
    dropped: Mapping[str, str] = field(default_factory=dict)
    too_few: bool = False

    @property
    def is_by_group(self) -> bool:
        """Whether the errors are by group."""
        return self.groups >= FEWEST


def joint_model(
    right: ArrayLike,
    measures: Mapping[str, ArrayLike],
    groups: ArrayLike | None = None,
    *,
    share_material: bool = True,
    cross_validate: bool = True,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> JointModel:
    """Outcomes (ties wrong) on all measures at once, in one row per item, with an intercept for each group.

    With `share_material` items of a group are made alike (a paradigm's, from one template), so that groups are what was
    drawn: from fewer than five there are effects and no intervals. Without it groups are sorts of items that were drawn
    one by one, and errors are over items where groups are fewer than five.
    """
    names = list(measures)
    rows = np.zeros(len(np.asarray(right))) if groups is None else np.asarray(groups)
    (outcome, codes, *columns), left_out = drop_gaps(
        ties_wrong(right), rows, *(numbers(measures[name]) for name in names)
    )
    codes = np.unique(codes, return_inverse=True)[1]
    mixed = _rows_of_mixed_groups(outcome, codes)
    left_out += int((~mixed).sum())
    outcome, codes = outcome[mixed], np.unique(codes[mixed], return_inverse=True)[1]
    group_count = int(codes.max()) + 1 if codes.size else 0
    dropped: dict[str, str] = {}
    standardized: dict[str, np.ndarray] = {}  # less the mean of their group, in standard deviations
    for name, column in zip(names, columns, strict=True):
        values = _within_groups(column[mixed], codes)
        if not values.size or values.std() < 1e-12:
            dropped[name] = "it does not vary within groups" if group_count > 1 else "it does not vary"
        elif _follows_from(values, standardized):
            dropped[name] = f"it follows from {', '.join(standardized)}"
        else:
            standardized[name] = values / values.std()
    problem = _why_not_fitted(outcome, standardized, group_count)
    if problem:
        return JointModel((), outcome.size, group_count, left_out, problem, dropped)
    # A measure that is the same for nearly all items, and another for a few that are all right, has no finite effect,
    # and takes the others' with it.
    fit = _fit_if_finite(outcome, standardized, codes)
    while fit is None and len(standardized) > 1 and (parting := _parting_measure(outcome, standardized, codes)):
        standardized.pop(parting)
        dropped[parting] = "it parts right from wrong without an exception, so that no finite effect exists"
        fit = _fit_if_finite(outcome, standardized, codes)
    effects = _effects(fit, outcome, standardized, codes, left_out, cross_validate, resamples, seed)
    reason = "" if effects else "right and wrong are separated by the measures, so that no finite effect exists"
    too_few = share_material and groups is not None and group_count < FEWEST
    if too_few:
        effects = tuple(_without_intervals(effect, group_count) for effect in effects)
    return JointModel(effects, outcome.size, group_count, left_out, reason, dropped, too_few)


# Of a few groups the items tell these groups' effects, however many items there are: where effects differ from group to
# group around none at all, errors over the items of three groups find one in six of ten tables.
def _without_intervals(effect: Effect, groups: int) -> Effect:
    """The same with no interval and no p, over groups that are too few."""
    few_groups = "1 group" if groups == 1 else f"{groups} groups"
    why = f"no interval: {few_groups}, at least {FEWEST} are needed"
    partial = Clustered.point(effect.partial.value, effect.partial.n, reason=why, units=groups)
    return replace(without_interval(effect, why), se=math.nan, units=groups, partial=partial)


def _make_design(columns: Mapping[str, np.ndarray], codes: np.ndarray) -> np.ndarray:
    """The measures, then an intercept for each group."""
    return np.column_stack([*columns.values(), np.eye(int(codes.max()) + 1)[codes]])


def _fit_if_finite(outcome: np.ndarray, columns: Mapping[str, np.ndarray], codes: np.ndarray) -> Any:
    """The fit of statsmodels, or none where an effect has no finite estimate."""
    import statsmodels.api as sm

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            fit = sm.Logit(outcome, _make_design(columns, codes)).fit(disp=0, maxiter=100, cov_type="HC1")
        except (np.linalg.LinAlgError, sm.tools.sm_exceptions.PerfectSeparationError):
            return None
    finite = fit.mle_retvals["converged"] and np.abs(fit.params[: len(columns)]).max() <= 20
    return fit if finite else None


def _parting_measure(outcome: np.ndarray, columns: Mapping[str, np.ndarray], codes: np.ndarray) -> str:
    """The measure without which the others have finite effects; "" where it is not one alone."""
    for name in reversed(list(columns)):
        if (
            _fit_if_finite(outcome, {column: values for column, values in columns.items() if column != name}, codes)
            is not None
        ):
            return name
    return ""


def _effects(
    fit: Any,
    outcome: np.ndarray,
    columns: Mapping[str, np.ndarray],
    codes: np.ndarray,
    left_out: int,
    cross_validate: bool,
    resamples: int,
    seed: int,
) -> tuple[Effect, ...]:
    from scipy.stats import chi2, norm

    if fit is None:
        return ()
    groups = int(codes.max()) + 1
    design = _make_design(columns, codes)
    table, intercepts = design[:, : len(columns)], design[:, len(columns) :]
    shorter_logliks = _logliks_without(fit, outcome, design, len(columns))
    if not shorter_logliks:
        return ()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        errors = np.asarray(fit.bse)[: len(columns)]
        by_group: GroupErrors | None = None  # errors over items are held against the normal
        if groups >= FEWEST:
            by_group = logistic_bias_reduced(design, outcome, np.asarray(fit.predict()), codes, len(columns))
            errors = by_group.errors
        inflation = _inflation_factors(table, codes)
    varied = [_varied_in(column, codes) for column in table.T]
    alone, partial = _rank_correlations(outcome, table, codes, resamples, seed)
    gains = _held_out_gains(outcome, table, intercepts, seed) if cross_validate else [math.nan] * len(columns)
    effects = []
    for i, name in enumerate(columns):
        ratio = max(0.0, 2 * float(fit.llf - shorter_logliks[i]))
        value, error = float(fit.params[i]), float(errors[i])
        spread = by_group.spreads[i] if by_group else None
        reach = error * (spread.reach() if spread else float(norm.ppf(0.975)))
        p = spread.tails(value / error) if spread and error > 0 else 2 * float(norm.sf(abs(value) / error))
        effect = Effect(
            value, value - reach, value + reach, outcome.size, p, left_out,
            units=varied[i] if spread else outcome.size, se=error, name=name, alone=alone[i], partial=partial[i],
            inflation=inflation[i], ratio=ratio, ratio_p=float(chi2.sf(ratio, 1)), gain=gains[i],
        )  # fmt: skip
        effect = drawn_from_enough(effect)
        if by_group and by_group.is_decided_alone[i] and not math.isnan(effect.low):
            partial_alone = without_interval(effect.partial, NO_OTHERS)
            effect = replace(without_interval(effect, NO_OTHERS), se=math.nan, partial=partial_alone)
        effects.append(effect)
    return tuple(effects)


def _logliks_without(fit: Any, outcome: np.ndarray, design: np.ndarray, measures: int) -> list[float]:
    """The log-likelihood of the model without each measure, for the ratio; an empty list where a fit has no maximum."""
    import statsmodels.api as sm

    # A fit starts from the effects of the full model, which lie near its own: it takes few steps.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return [
                sm.Logit(outcome, np.delete(design, i, axis=1))
                .fit(disp=0, maxiter=100, start_params=np.delete(fit.params, i))
                .llf
                for i in range(measures)
            ]
        except (np.linalg.LinAlgError, sm.tools.sm_exceptions.PerfectSeparationError):
            return []


def _inflation_factors(table: np.ndarray, codes: np.ndarray) -> list[float]:
    """By how much the other measures widen the variance of each one's effect; 1 where they are unrelated."""
    from statsmodels.stats.outliers_influence import variance_inflation_factor

    measures = table.shape[1]
    if measures == 1:
        return [1.0]
    # Within groups, as the effects are: measures that differ in the same way from group to group do not count as alike.
    inner = np.column_stack([_within_groups(column, codes) for column in table.T])
    return [float(variance_inflation_factor(inner, i)) for i in range(measures)]


def _rows_of_mixed_groups(outcome: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """The rows of groups in which some are right and some wrong."""
    if not outcome.size:
        return np.zeros(0, dtype=bool)
    share = np.bincount(codes, outcome) / np.maximum(np.bincount(codes), 1)
    return ((share > 0) & (share < 1))[codes]


# Two paradigms with scores 1 2 3 and 11 12 13 become -1 0 1 and -1 0 1: what tells the paradigms apart is gone, what
# tells their items apart stays. A slope over such values is the one that an intercept for each group leaves.
def _within_groups(values: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Values less the mean of their group."""
    if not values.size:
        return values
    sizes = np.maximum(np.bincount(codes), 1)
    return values - (np.bincount(codes, values) / sizes)[codes]


def _varied_in(values: np.ndarray, codes: np.ndarray) -> int:
    """In how many groups values vary, which have lost their group's mean; the others say nothing of a measure."""
    return int((np.bincount(codes, values**2) > 1e-12).sum())


def _follows_from(values: np.ndarray, columns: Mapping[str, np.ndarray]) -> bool:
    """Whether a measure is a sum of the others to within rounding, so that no model can tell them apart."""
    if not columns:
        return False
    others = np.column_stack([*columns.values(), np.ones(values.size)])
    residuals = values - others @ np.linalg.lstsq(others, values, rcond=None)[0]
    return bool(residuals.std() < 1e-8 * values.std())


def _why_not_fitted(outcome: np.ndarray, columns: Mapping[str, np.ndarray], groups: int) -> str:
    if not columns:
        return "no measure varies over these items"
    if outcome.size < FEWEST_ROWS * len(columns) + groups:
        return (
            f"{outcome.size:,} items have all measures, at least {FEWEST_ROWS * len(columns) + groups:,} are needed "
            f"for {len(columns)} measures"
        )
    return ""


def _rank_correlations(
    outcome: np.ndarray, table: np.ndarray, codes: np.ndarray, resamples: int, seed: int
) -> tuple[list[float], list[Estimate]]:
    """Spearman's rho of each measure and being right, alone and with the others held, within groups.

    Ranks are taken once and lose their group's mean; all correlations then follow from sums of products, which are kept
    by group (or row), so that a resample only weighs them anew.
    """
    from scipy.stats import rankdata

    ranks = np.column_stack([_within_groups(rankdata(column), codes) for column in (outcome, *table.T)])
    groups = int(codes.max()) + 1
    value = _partial_correlations(ranks.T @ ranks)
    alone = np.corrcoef(ranks.T)[0, 1:]
    by_group = groups >= FEWEST
    if by_group:
        products = np.array([ranks[codes == code].T @ ranks[codes == code] for code in range(groups)])
        weights = resample_weights(np.arange(groups), resamples, seed)
        resampled = [_partial_correlations(np.tensordot(w, products, axes=1)) for w in weights]
    else:
        weights = resample_weights(np.arange(outcome.size), resamples, seed)
        resampled = [_partial_correlations((ranks * w[:, None]).T @ ranks) for w in weights]
    partial = []
    for i in range(table.shape[1]):
        units = _varied_in(table[:, i], codes) if by_group else outcome.size
        low = high = math.nan
        if resamples:
            low, high, _ = percentile_interval(
                np.array([correlations_drawn[i] for correlations_drawn in resampled]), 0.95, units
            )
        partial.append(drawn_from_enough(Clustered(float(value[i]), low, high, outcome.size, units=units)))
    return alone.tolist(), list(partial)


# From the inverse P of the matrix of products the correlation of columns 0 and j, all others held, is -P[0, j] /
# sqrt(P[0, 0] P[j, j]). It is that of the residuals of both after a regression on the others, for all j at once and
# without fitting any: a resample costs one small inverse.
def _partial_correlations(products: np.ndarray) -> np.ndarray:
    """The correlation of the first column with each other one, all the rest held, from their sums of products."""
    precision = np.linalg.pinv(products)
    with np.errstate(invalid="ignore", divide="ignore"):
        return -precision[0, 1:] / np.sqrt(precision[0, 0] * np.diag(precision)[1:])


def _held_out_gains(outcome: np.ndarray, table: np.ndarray, intercepts: np.ndarray, seed: int) -> list[float]:
    """What each measure adds to the log-likelihood of rows that were not fitted, in nats a thousand rows."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold

    folds = min(FOLDS, int(min(outcome.sum(), outcome.size - outcome.sum())))
    if folds < 2:
        return [math.nan] * table.shape[1]
    parts = list(StratifiedKFold(folds, shuffle=True, random_state=seed).split(table, outcome))

    def held_out(columns: Sequence[int]) -> float:
        design = np.column_stack([table[:, list(columns)], intercepts])
        total = 0.0
        for fitted, held_out_rows in parts:
            # Next to no penalty: a group that is all right in four folds would otherwise have no finite intercept.
            model = LogisticRegression(C=100.0, fit_intercept=False, max_iter=200).fit(design[fitted], outcome[fitted])
            chance = model.predict_proba(design[held_out_rows])[:, 1]
            total += float(np.log(np.where(outcome[held_out_rows] == 1, chance, 1 - chance)).sum())
        return total

    every = list(range(table.shape[1]))
    full_model = held_out(every)
    return [
        1000
        * (full_model - held_out([measure_kept for measure_kept in every if measure_kept != measure]))
        / outcome.size
        for measure in every
    ]
