"""Columns as numbers or outcomes without the rows that have a gap, which every statistic leaves out and counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from explorer.errors import StatisticsError


def numbers(values: ArrayLike) -> np.ndarray:
    """A column as float64, None as nan."""
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise StatisticsError(
            f"A column is not numeric ({error}). Pass numbers, with nan where there is none."
        ) from error
    if array.ndim != 1:
        raise StatisticsError(f"A column has {array.ndim} dimensions, expected 1. Pass a flat list or array.")
    return array


def outcomes(values: ArrayLike) -> np.ndarray:
    """A column of 1 (right), 0.5 (tie), 0 (wrong) and nan (unknown); between, the share of passes that were right."""
    array = numbers(values)
    strange = array[~(((array >= 0) & (array <= 1)) | np.isnan(array))]
    if strange.size:
        raise StatisticsError(
            f"An outcome is {strange[0]:g}, expected 1 (right), 0.5 (tie), 0 (wrong), a share or nan (unknown)."
        )
    return array


def ties_wrong(values: ArrayLike) -> np.ndarray:
    """Outcomes as 1 and 0: a tie counts as wrong, and of several passes what most of them were."""
    array = outcomes(values)
    return np.where(np.isnan(array), np.nan, (array > 0.5).astype(float))


def drop_gaps(*columns: ArrayLike) -> tuple[list[np.ndarray], int]:
    """The columns without the rows in which one has a gap (nan, infinite or None), and how many rows that took."""
    arrays = [np.asarray(column) for column in columns]
    sizes = [array.size for array in arrays]
    if len(set(sizes)) > 1:
        raise StatisticsError(
            f"The columns have {', '.join(map(str, sizes))} rows, expected as many in each. Pass columns of one table."
        )
    present = np.logical_and.reduce([_is_present(array) for array in arrays])
    return [array[present] for array in arrays], int((~present).sum())


def _is_present(array: np.ndarray) -> np.ndarray:
    if array.dtype.kind in "biuf":
        return np.isfinite(array)
    return np.array([value is not None and value == value for value in array.tolist()], dtype=bool)
