"""Popularity buckets: concepts with neighbouring counts, as the ontology paper forms them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from explorer.errors import StatisticsError
from explorer.stats.gaps import numbers

BUCKETS = 50


def bucket_by_distinct(counts: ArrayLike, buckets: int = BUCKETS, *, as_released: bool = False) -> np.ndarray:
    """Each row's bucket, 1 to `buckets` by rising count, or 0 for a row that is in none (a gap).

    floor(distinct / buckets) consecutive distinct counts form a bucket and the last takes the remainder. The paper's
    released code walks the rows by rising count (stable in file order) and loses the first row of every bucket after
    the first; `as_released` does the same, so those rows get 0.
    """
    values = numbers(counts)
    present = np.isfinite(values)
    distinct = np.unique(values[present])
    if distinct.size < buckets:
        raise StatisticsError(
            f"There are {distinct.size} distinct counts, expected at least {buckets}. Ask for fewer buckets."
        )
    rank = np.searchsorted(distinct, values[present])
    found = np.zeros(values.size, dtype=int)
    found[present] = np.minimum(rank // (distinct.size // buckets), buckets - 1) + 1
    if as_released:
        order = np.argsort(np.where(present, values, np.inf), kind="stable")[: int(present.sum())]
        found[order[np.flatnonzero(np.diff(found[order])) + 1]] = 0
    return found
