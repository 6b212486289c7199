"""Can the outcomes be told apart without an error? Then a logistic regression has no finite estimate."""

from __future__ import annotations

from typing import Literal

import numpy as np

Separation = Literal["", "quasi-complete separation", "complete separation"]
_MARGIN = 1e-6  # of columns scaled to at most 1


def separation(outcome: np.ndarray, design: np.ndarray) -> Separation:
    """Whether some weighting of the design's columns parts the ones from the zeros (Albert and Anderson 1984).

    Found by linear programming (Konis 2007): a weighting that puts no row on the wrong side and at least one strictly
    on the right one is quasi-complete separation, one that puts every row strictly there is complete separation.
    """
    from scipy.optimize import linprog

    scale = np.abs(design).max(axis=0)
    rows = np.where(outcome[:, None] > 0, design, -design) / np.where(scale > 0, scale, 1.0)
    rows = np.unique(rows, axis=0)
    size, width = rows.shape
    box = [(-1.0, 1.0)] * width
    best = linprog(-rows.sum(axis=0), A_ub=-rows, b_ub=np.zeros(size), bounds=box, method="highs")
    if -best.fun < _MARGIN:
        return ""
    # Maximize the smallest margin t, the last variable.
    widest = linprog(
        np.append(np.zeros(width), -1.0),
        A_ub=np.column_stack([-rows, np.ones(size)]),
        b_ub=np.zeros(size),
        bounds=[*box, (0.0, 1.0)],
        method="highs",
    )
    return "complete separation" if -widest.fun > _MARGIN else "quasi-complete separation"
