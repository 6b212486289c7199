"""Can the outcomes be told apart without an error? Then a logistic regression has no finite estimate."""

from __future__ import annotations

from typing import Literal

import numpy as np

Separation = Literal["", "quasi-complete separation", "complete separation"]
_MARGIN = 1e-6  # of columns scaled to at most 1
_SAMPLE = 500  # rows


def find_separation(outcome: np.ndarray, design: np.ndarray) -> Separation:
    """Whether some weighting of the design's columns parts the ones from the zeros (Albert and Anderson 1984).

    Found by linear programming (Konis 2007): a weighting that puts no row on the wrong side and at least one strictly
    on the right one is quasi-complete separation, one that puts every row strictly there is complete separation.
    """
    from scipy.optimize import linprog

    scale = np.abs(design).max(axis=0)
    rows = np.where(outcome[:, None] > 0, design, -design) / np.where(scale > 0, scale, 1.0)
    rows = np.unique(rows, axis=0)
    if _is_overlapping(rows):
        return ""
    # Maximize the smallest margin t, the last variable.
    size, width = rows.shape
    box = [(-1.0, 1.0)] * width
    widest = linprog(
        np.append(np.zeros(width), -1.0),
        A_ub=np.column_stack([-rows, np.ones(size)]),
        b_ub=np.zeros(size),
        bounds=[*box, (0.0, 1.0)],
        method="highs",
    )
    return "complete separation" if -widest.fun > _MARGIN else "quasi-complete separation"


def _is_overlapping(rows: np.ndarray) -> bool:
    """Whether no weighting has a positive margin somewhere and a negative one nowhere.

    Rows that overlap by themselves and span the design leave no weighting but zero, whatever the others are; a
    sample of some hundred usually does, and its program is a thousand times quicker than the whole.
    """
    rank = np.linalg.matrix_rank(rows)
    order = np.random.default_rng(0).permutation(len(rows))
    size = _SAMPLE
    while size < len(rows):
        sample = rows[order[:size]]
        if np.linalg.matrix_rank(sample) == rank and _best_margin(sample) < _MARGIN:
            return True
        size *= 4
    return _best_margin(rows) < _MARGIN


def _best_margin(rows: np.ndarray) -> float:
    """The largest sum of margins of a weighting between -1 and 1 that puts no row on the wrong side."""
    from scipy.optimize import linprog

    box = [(-1.0, 1.0)] * rows.shape[1]
    return -float(linprog(-rows.sum(axis=0), A_ub=-rows, b_ub=np.zeros(len(rows)), bounds=box, method="highs").fun)
