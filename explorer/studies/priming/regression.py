"""Logistic regressions of correctness on a context's length, match and acceptability, with errors by suite."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from explorer.rows.builders import Row, finding_row
from explorer.stats.estimate import Estimate
from explorer.stats.logistic import Slope, logistic
from explorer.stats.mixed_logit import MixedLogit, mixed_logit, sum_coded
from explorer.studies.priming import declared

IN_DISTRIBUTION = "correct ~ log_length * match * acceptable"
UNRELATED = "correct ~ log_length"
BY_SUITE, UNRELATED_BY_SUITE = "errors by suite", "unrelated, errors by suite"
_INTERACTIONS = (
    "log_length", "match", "acceptable", "log_length:match", "log_length:acceptable", "match:acceptable",
    "log_length:match:acceptable",
)  # fmt: skip


def summarize(plain: pd.DataFrame, *, items: bool) -> list[Row]:
    """Rows of `findings`: each term of the model of in-distribution contexts, and of that of unrelated ones.

    `items` adds the first with a random intercept for each item beside that of the suite, since items recur.
    """
    table = design(plain)
    # Unrelated contexts come in one kind alone, so that they have a model of their own. Lengths enter as logs, as in
    # the paper.
    # Four conditions (matched or not, acceptable or not) are needed for the interactions; with fewer some columns would
    # be sums of others, and their coefficients could not be told apart.
    inside = table[table["condition"] != "unrelated"]
    outside = table[table["condition"] == "unrelated"]
    rows = []
    if inside["condition"].nunique() == 4:
        rows += _by_suite(BY_SUITE, inside, IN_DISTRIBUTION, tuple(_INTERACTIONS))
        rows += _rows("suite", _fit(inside, f"{IN_DISTRIBUTION} + (1 | suite)"))
        if items:
            rows += _rows("suite and item", _fit(inside, f"{IN_DISTRIBUTION} + (1 | suite) + (1 | item)"))
    if len(outside):
        rows += _by_suite(UNRELATED_BY_SUITE, outside, UNRELATED, ("log_length",))
        rows += _rows("unrelated", _fit(outside, f"{UNRELATED} + (1 | suite)"))
    return rows


def _by_suite(name: str, table: pd.DataFrame, formula: str, terms: tuple[str, ...]) -> list[Row]:
    """The same terms without random intercepts, with errors by suite.

    A random intercept says that suites differ in how hard they are, not that a context moves them differently; where it
    does, as here, judgments of a suite still go together, and the paper's "all p < .001" is of too many of them.
    """
    known = table[table["correct"].notna()]
    columns = {term: np.prod([known[part].to_numpy(float) for part in term.split(":")], axis=0) for term in terms}
    fit = logistic(known["correct"], *columns.values(), names=terms, groups=known["suite"])
    intercept = Estimate.point(fit.intercept, fit.n, left_out=len(table) - fit.n, reason=fit.reason)
    about: dict[str, Any] = {
        "formula": f"{formula}, errors by suite", "levels": {"suite": int(known["suite"].nunique())},
        "random": {}, "warnings": [], "aic": None, "nagq": 0, "errors": "CR2",
    }  # fmt: skip
    loglik = Estimate.point(fit.loglik, fit.n, left_out=len(table) - fit.n, reason=fit.reason)
    rows = [finding_row(declared.REGRESSION_FIT, "log-likelihood", loglik, factors={"setting": name}, detail=about)]
    named = [("Intercept", intercept), *((slope.name, slope) for slope in fit.slopes)]
    for place, (term, estimate) in enumerate(named):
        known_error = isinstance(estimate, Slope) and not math.isnan(estimate.se)
        detail = {"se": estimate.se, "z": estimate.z} if known_error else None  # type: ignore[attr-defined]
        rows.append(
            finding_row(declared.REGRESSION, term, estimate, factors={"setting": name, "part": place}, detail=detail)
        )
    return rows


# A judgment after 320 tokens of matched wrong sentences is the row log_length 5.77, match +1, acceptable -1. With plus
# and minus one the coefficient of `match` is half the gap between matched and mismatched where log_length is 0 (a
# context of one token), averaged over both kinds of acceptability; `log_length:match` says how that half grows as a
# context gets e times as long.
def design(plain: pd.DataFrame) -> pd.DataFrame:
    """A row per judgment after a context: correct, log_length (of its tokens), match and acceptable (+1 or -1)."""
    table = plain[(plain["length"] > 0) & (plain["context_tokens"] > 0)]
    return pd.DataFrame(
        {
            "correct": table["correct"].to_numpy(dtype=float),
            "log_length": np.log(table["context_tokens"].to_numpy(dtype=float)),
            # Sum coding, so that a main effect is the mean over the other factor's levels, not the effect at one of
            # them.
            "match": sum_coded(table["condition"].str.startswith("matched_")),
            "acceptable": sum_coded(table["condition"].str.endswith("_acceptable")),
            "suite": table["grp"].to_numpy(),
            "item": table["instance_id"].to_numpy(),
            "condition": table["condition"].to_numpy(),
        }
    )


def _fit(table: pd.DataFrame, formula: str) -> MixedLogit:
    return mixed_logit({name: table[name].to_numpy() for name in table.columns}, formula)


def _rows(name: str, fit: MixedLogit) -> list[Row]:
    about = {
        "formula": fit.formula,
        "aic": None if math.isnan(fit.aic) else fit.aic,
        "nagq": fit.nagq,
        "random": {effect.name: None if math.isnan(effect.sd) else effect.sd for effect in fit.random},
        "levels": {effect.name: effect.levels for effect in fit.random},
        "warnings": list(fit.warnings),
    }
    rows = [finding_row(declared.REGRESSION_FIT, "log-likelihood", fit.loglik, factors={"setting": name}, detail=about)]
    for place, term in enumerate(fit.terms):
        detail = None if math.isnan(term.value) else {"se": term.se, "z": term.z}
        rows.append(
            finding_row(declared.REGRESSION, term.name, term, factors={"setting": name, "part": place}, detail=detail)
        )
    return rows
