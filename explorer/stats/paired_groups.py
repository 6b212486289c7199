"""Two models on the same items, group by group: which is better where, beyond chance?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from explorer.stats.bootstrap import bootstrap_mean
from explorer.stats.estimate import Estimate
from explorer.stats.gaps import drop_gaps, numbers
from explorer.stats.mcnemar import PairedChange, mcnemar
from explorer.stats.multiple_tests import correct_p_values
from explorer.stats.wilcoxon import wilcoxon

OVERALL = "overall"
RESAMPLES = 500


@dataclass(frozen=True, slots=True)
class GroupComparison:
    """Two models on the items of a group: outcomes (McNemar) and margins (mean difference in nats, Wilcoxon).

    The adjusted p-values are Holm's over the groups; those of all items together are tests of their own.
    """

    group: str
    outcomes: PairedChange
    outcome_p: float  # adjusted
    margins: Estimate  # second less first
    raw_margin_p: float
    margin_p: float  # adjusted


# "Better overall" and "better in these groups" are two questions. The first is one test and stays as it is; the second
# is as many tests as there are groups, and of 67 suites three would differ by chance alone at 0.05, hence Holm there.
def compare_groups(
    first: ArrayLike,
    second: ArrayLike,
    first_margins: ArrayLike,
    second_margins: ArrayLike,
    groups: ArrayLike,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> tuple[GroupComparison, ...]:
    """All items together, then every group in the order it first occurs."""
    outcomes = (numbers(first), numbers(second))
    margins = (numbers(first_margins), numbers(second_margins))
    names = np.asarray(groups)
    every_item = np.ones(names.size, dtype=bool)
    members = {OVERALL: every_item} | {str(name): names == name for name in dict.fromkeys(names.tolist())}
    rows = {}
    for name, inside in members.items():
        change = mcnemar(outcomes[0][inside], outcomes[1][inside])
        (a, b), _ = drop_gaps(margins[0][inside], margins[1][inside])
        # Outcomes and margins are asked apart: two models may be right on the same items by very different margins.
        shift = wilcoxon(a, b, resamples=0)
        rows[name] = (change, bootstrap_mean(b - a, resamples=resamples, seed=seed), shift.p)
    # One group is all items, and needs no correction.
    grouped = [name for name in rows if name != OVERALL]
    adjusted = {OVERALL: (rows[OVERALL][0].p, rows[OVERALL][2])}
    by_outcome = correct_p_values([rows[name][0].p for name in grouped], "holm").p
    by_margin = correct_p_values([rows[name][2] for name in grouped], "holm").p
    adjusted |= dict(zip(grouped, zip(by_outcome, by_margin, strict=True), strict=True))
    return tuple(
        GroupComparison(name, change, adjusted[name][0], shift, p, adjusted[name][1])
        for name, (change, shift, p) in rows.items()
    )
