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


def correct(p_values: ArrayLike, method: Literal["holm", "benjamini-hochberg"]) -> Corrected:
    """p-values adjusted for the family-wise error (Holm) or the false discovery rate (Benjamini-Hochberg)."""
    from statsmodels.stats.multitest import multipletests

    # A test that could not be made is none of the family: counting it would punish the others.
    raw = numbers(p_values)
    present = np.isfinite(raw)
    adjusted = np.full(raw.size, np.nan)
    if present.any():
        adjusted[present] = multipletests(raw[present], method=METHODS[method])[1]
    return Corrected(tuple(adjusted.tolist()), int(present.sum()), int((~present).sum()))
