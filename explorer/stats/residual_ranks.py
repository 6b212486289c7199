"""Ranks with what other measures explain of them taken out, so that a correlation of two allows for a third."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from explorer.stats.gaps import numbers

FEWEST = 5  # items of a group, beyond one for each control, that a line needs


def residual_ranks(values: ArrayLike, controls: Sequence[ArrayLike], groups: ArrayLike | None = None) -> np.ndarray:
    """The rank of each value within its group, less what a line in the ranks of the controls explains of it.

    The correlation of two measures so treated is the partial rank correlation given the controls. nan where the value
    or a control is missing, or a group has too few items.
    """
    from scipy.stats import rankdata

    column = numbers(values)
    others = [numbers(control) for control in controls]
    names = (
        np.zeros(column.size, dtype=int) if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
    )
    is_known = np.isfinite(column)
    for control in others:
        is_known &= np.isfinite(control)
    residuals = np.full(column.size, np.nan)
    for name in np.unique(names):
        rows = np.flatnonzero(is_known & (names == name))
        if rows.size < FEWEST + len(others):
            continue
        ranks = rankdata(column[rows])
        lines = np.column_stack([np.ones(rows.size), *(rankdata(control[rows]) for control in others)])
        explained = lines @ np.linalg.lstsq(lines, ranks, rcond=None)[0]
        # What rounding leaves of a measure that the controls explain wholly is no measure any more.
        residuals[rows] = np.round(ranks - explained, 9)
    return residuals
