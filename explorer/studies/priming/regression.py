"""The paper's mixed-effects logistic regressions of correctness on a context's length, match and acceptability."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from explorer.rows.builders import Row, finding_row
from explorer.stats.mixed_logit import MixedLogit, mixed_logit, sum_coded
from explorer.studies.priming import declared

IN_DISTRIBUTION = "correct ~ log_length * match * acceptable"
UNRELATED = "correct ~ log_length"


def summarize(plain: pd.DataFrame, *, items: bool) -> list[Row]:
    """Rows of `findings`: each term of the model of in-distribution contexts, and of that of unrelated ones.

    `items` adds the first with a random intercept for each item beside that of the suite, since items recur.
    """
    table = design(plain)
    # Unrelated contexts come in one kind alone, so that they have a model of their own. Lengths enter as logs, as in
    # the paper.
    inside = table[table["condition"] != "unrelated"]
    outside = table[table["condition"] == "unrelated"]
    rows = []
    if inside["condition"].nunique() == 4:
        rows += _rows("suite", _fit(inside, f"{IN_DISTRIBUTION} + (1 | suite)"))
        if items:
            rows += _rows("suite and item", _fit(inside, f"{IN_DISTRIBUTION} + (1 | suite) + (1 | item)"))
    if len(outside):
        rows += _rows("unrelated", _fit(outside, f"{UNRELATED} + (1 | suite)"))
    return rows


def design(plain: pd.DataFrame) -> pd.DataFrame:
    """A row a judgment after a context: correct, log_length (of its tokens), match and acceptable (+1 or -1)."""
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
