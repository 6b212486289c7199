"""p-values corrected for how many were looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from explorer.stats.gaps import numbers

METHODS = {"holm": "holm", "benjamini-hochberg": "fdr_bh"}


@dataclass(frozen=True, slots=True)
class Corrected:
    """Adjusted p-values in the order given; nan stays nan and is not one of the `n` tests."""

    p: tuple[float, ...]
    n: int
    left_out: int = 0


# Of p = 0.01, 0.02, 0.03, 0.20 (m = 4 tests), sorted, the k-th becomes
#
#     Holm                  max so far of p * (m - k + 1)      0.04   0.06   0.06   0.20
#     Benjamini-Hochberg    min from here of p * m / k         0.04   0.04   0.04   0.20
#
# Holm bounds the chance of a single false claim: for a few groups whose names are printed. Benjamini-Hochberg bounds
# the share of false ones among the claims: for a table of all pairs of measures, which is looked through.
def correct_p_values(p_values: ArrayLike, method: Literal["holm", "benjamini-hochberg"]) -> Corrected:
    """p-values adjusted for the family-wise error (Holm) or the false discovery rate (Benjamini-Hochberg)."""
    from statsmodels.stats.multitest import multipletests

    # A test that could not be made is none of the family: counting it would punish the others.
    raw = numbers(p_values)
    present = np.isfinite(raw)
    adjusted = np.full(raw.size, np.nan)
    if present.any():
        adjusted[present] = multipletests(raw[present], method=METHODS[method])[1]
    return Corrected(tuple(adjusted.tolist()), int(present.sum()), int((~present).sum()))
