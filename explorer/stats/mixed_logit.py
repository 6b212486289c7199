"""Mixed-effects logistic regression: what moves correctness, with a random intercept for every suite or item."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from explorer.errors import StatisticsError
from explorer.stats.estimate import Estimate
from explorer.stats.gaps import drop_gaps, numbers, ties_wrong
from explorer.stats.separation import find_separation

# outcome ~ fixed part + (1 | group) + (1 | group) ...
_FORMULA = re.compile(r"\s*(\w+)\s*~\s*(.+?)((?:\s*\+\s*\(\s*1\s*\|\s*\w+\s*\))+)\s*")
_GROUP = re.compile(r"\|\s*(\w+)")
_NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Term(Estimate):
    """A fixed effect in log odds, with its Wald interval; nan where the term is a combination of others."""

    name: str
    se: float
    z: float


@dataclass(frozen=True, slots=True)
class RandomIntercept:
    """The standard deviation of a grouping's intercepts in log odds; `singular` where it is estimated as zero."""

    name: str
    levels: int
    sd: float
    singular: bool = False


@dataclass(frozen=True, slots=True)
class MixedLogit:
    """A fitted mixed logistic regression; with a reason there are no numbers, with warnings they need care.

    `nagq` is the number of quadrature nodes that ran, 1 being the Laplace approximation.
    """

    formula: str
    terms: tuple[Term, ...]
    random: tuple[RandomIntercept, ...]
    loglik: Estimate  # the number of rows, and why there is no fit
    aic: float
    nagq: int
    warnings: tuple[str, ...] = ()


# With 0 and 1 the main effect of length in `length * match` would be its effect where match is 0. With -1 and +1 it is
# the effect averaged over both, which is what a table headed "length" is read as.
def sum_coded(positive: ArrayLike) -> np.ndarray:
    """+1 where true and -1 where false, so that the other terms are effects averaged over both levels."""
    return np.where(np.asarray(positive, dtype=bool), 1.0, -1.0)


# What the random intercept does. Suite A is easy (9 of 10 right without a context), suite B hard (3 of 10), and a long
# context costs each the same. One intercept for both would take the gap between suites for noise within them, and count
# 20 judgments as 20 independent ones. With (1 | suite) each suite has its own starting point,
#
#     log odds of being right = intercept + effect of length + (suite's own shift, normal with some sd)
#
# whose sd is estimated and whose values are integrated out. That integral has no closed form: with nagq=1 the curve in
# it is replaced by a normal of the same peak and bend (Laplace), with more nodes it is added up at that many points.
def mixed_logit(table: Mapping[str, ArrayLike], formula: str, *, nagq: int = 1, level: float = 0.95) -> MixedLogit:
    """Maximum-likelihood estimates of `outcome ~ fixed terms + (1 | group) + ...` (outcomes 1, 0.5, 0; ties wrong).

    Fixed terms are numeric columns joined by +, : and * as in R. The likelihood is Laplace's approximation (nagq=1)
    or, for one grouping, adaptive Gauss-Hermite quadrature with up to 25 nodes (an odd number), as in lme4's glmer,
    with which it agrees (tests/reference). Data without a finite estimate come back with the reason.
    """
    import glmm

    outcome, fixed, groups = _formula_parts(formula)
    names = list(dict.fromkeys(_NAME.findall(fixed)))
    missing = [name for name in (outcome, *names, *groups) if name not in table]
    if missing:
        raise StatisticsError(f"The table has no column {missing[0]}, which the formula {formula!r} asks for. Add it.")
    if nagq % 2 == 0 or not 1 <= nagq <= 25:
        raise StatisticsError(f"nagq is {nagq}, expected an odd number from 1 (Laplace) to 25.")
    columns = (ties_wrong(table[outcome]), *(numbers(table[name]) for name in names), *(table[name] for name in groups))
    present, left_out = drop_gaps(*columns)
    data = dict(zip((outcome, *names), present, strict=False)) | {
        name: column.astype(str) for name, column in zip(groups, present[1 + len(names) :], strict=True)
    }
    # A random intercept, not a mean of means: suites differ in how hard they are, and items of a suite are not
    # independent judgments. Without it every p of the paper's regression would be too small.
    design, labels = _fixed_design(data, fixed)
    problem = _why_not_fitted(data[outcome], design, {name: data[name] for name in groups})
    if problem:
        return _unfitted_model(formula, labels, data, groups, nagq, left_out, problem)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they are in fit.warnings too
        fit = glmm.fit(data, formula, "binomial", nagq=nagq)
    notes = tuple(warning["message"] for warning in fit.warnings)
    if not fit.converged:
        why = notes[0] if notes else "the fit did not converge"
        return _unfitted_model(formula, labels, data, groups, nagq, left_out, why)
    return MixedLogit(
        formula=formula,
        terms=_fixed_terms(fit, level, left_out),
        random=_random_intercepts(fit, data),
        loglik=Estimate.point(float(fit.loglik), int(fit.nobs), left_out=left_out),
        aic=float(fit.aic),
        nagq=int(fit.nagq),
        warnings=notes,
    )


def _formula_parts(formula: str) -> tuple[str, str, list[str]]:
    matched = _FORMULA.fullmatch(formula)
    if not matched:
        raise StatisticsError(
            f"The formula is {formula!r}, expected one like 'correct ~ log_length * match + (1 | suite)' with random "
            "intercepts last."
        )
    outcome, fixed, random = matched.groups()
    return outcome, fixed, _GROUP.findall(random)


def _fixed_design(data: Mapping[str, np.ndarray], fixed: str) -> tuple[np.ndarray, list[str]]:
    """The fixed-effects design and the names of its columns."""
    import glmm

    try:
        design, labels = glmm.model_matrix(dict(data), f"~ {fixed}")
    except ValueError as error:
        raise StatisticsError(f"The fixed part {fixed!r} cannot be read: {error}") from error
    return design, ["Intercept" if label == "(Intercept)" else label for label in labels]


def _why_not_fitted(outcome: np.ndarray, design: np.ndarray, groups: Mapping[str, np.ndarray]) -> str:
    if not outcome.size:
        return "no rows"
    if np.ptp(outcome) == 0:
        return "every outcome is right" if outcome[0] else "every outcome is wrong"
    for name, column in groups.items():
        _, codes = np.unique(column, return_inverse=True)
        shares = np.bincount(codes, outcome) / np.bincount(codes)
        if shares.size < 2:
            return f"{name} has one level, which has no variance to estimate"
        # With one row per level, the level's intercept and the row's own chance cannot be told apart.
        if shares.size == outcome.size:
            return f"{name} has a level for every row, whose variance cannot be told from chance"
        if np.isin(shares, (0.0, 1.0)).all():
            return f"every {name} is all right or all wrong, so its variance has no finite estimate"
    separated = find_separation(outcome, design)
    return f"{separated} by the fixed effects" if separated else ""


def _fixed_terms(fit, level: float, left_out: int) -> tuple[Term, ...]:
    from scipy.stats import norm

    reach = float(norm.ppf((1 + level) / 2))
    terms = []
    for name, aliased, beta, se in zip(fit.names, fit.aliased, fit.beta, fit.se, strict=True):
        estimate, error = (math.nan, math.nan) if aliased else (float(beta), float(se))
        # Wald, as lme4 prints it: with thousands of judgments it is as good as a likelihood ratio, and needs one fit.
        z = estimate / error
        terms.append(
            Term(
                name="Intercept" if name == "(Intercept)" else name,
                value=estimate,
                n=int(fit.nobs),
                left_out=left_out,
                reason="a combination of other terms" if aliased else "",
                se=error,
                z=z,
                p=float(2 * norm.sf(abs(z))),
                low=estimate - reach * error,
                high=estimate + reach * error,
            )
        )
    return tuple(terms)


def _random_intercepts(fit, data: Mapping[str, np.ndarray]) -> tuple[RandomIntercept, ...]:
    return tuple(
        RandomIntercept(name, np.unique(data[name]).size, math.sqrt(max(block[0], 0.0)), block[0] <= 1e-10)
        for (name, _), block in zip(fit.re_groups, fit.varcorr, strict=True)
    )


def _unfitted_model(
    formula: str,
    labels: list[str],
    data: Mapping[str, np.ndarray],
    groups: list[str],
    nagq: int,
    left_out: int,
    reason: str,
) -> MixedLogit:
    nan = math.nan
    n = data[groups[0]].size
    terms = tuple(Term.point(nan, n, left_out=left_out, reason=reason, name=label, se=nan, z=nan) for label in labels)
    random = tuple(RandomIntercept(name, np.unique(data[name]).size, nan) for name in groups)
    return MixedLogit(formula, terms, random, Estimate.point(nan, n, left_out=left_out, reason=reason), nan, nagq)
