"""Concepts by popularity: buckets of equally many distinct counts (Bombieri et al. 2024, section 4.2)."""

from __future__ import annotations

import dataclasses
import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

BUCKETS = 50


@dataclass(frozen=True, slots=True)
class Bucket:
    """The concepts whose count lies between `low` and `high`, both included."""

    number: int  # from 1, the least popular
    low: float
    high: float
    rows: tuple[int, ...]  # places of the concepts among the counts


def bucketize(counts: Sequence[float], buckets: int = BUCKETS, as_released: bool = False) -> list[Bucket]:
    """Buckets of floor(distinct / buckets) consecutive distinct counts, the last with the remainder.

    Concepts without a count are in none. `as_released` copies the authors' splitter: going through the concepts by
    count (equal counts in the order given), one that lies beyond the current bucket only opens the next and is itself
    lost, so that each bucket but the first lacks its first concept.
    """
    known = [row for row, count in enumerate(counts) if not math.isnan(count)]
    distinct = sorted({counts[row] for row in known})
    number = min(buckets, len(distinct))
    if not number:
        return []
    size = len(distinct) // number
    lows = [distinct[i * size] for i in range(number)]
    highs = [distinct[(i + 1) * size - 1] for i in range(number - 1)] + [distinct[-1]]
    members: list[list[int]] = [[] for _ in range(number)]
    at = 0
    for row in sorted(known, key=lambda row: counts[row]):
        if as_released and counts[row] > highs[at]:
            at += 1
            continue
        while counts[row] > highs[at]:
            at += 1
        members[at].append(row)
    return [Bucket(i + 1, lows[i], highs[i], tuple(sorted(members[i]))) for i in range(number)]


def fill(ranges: Sequence[Bucket], counts: Sequence[float]) -> list[Bucket]:
    """The same ranges of counts, holding the concepts with these counts: for a sample of those that made the ranges."""
    highs = [bucket.high for bucket in ranges]
    members: list[list[int]] = [[] for _ in ranges]
    for row, count in enumerate(counts):
        if ranges and not math.isnan(count):
            members[min(bisect_left(highs, count), len(ranges) - 1)].append(row)
    return [dataclasses.replace(bucket, rows=tuple(rows)) for bucket, rows in zip(ranges, members, strict=True)]


def bucket_numbers(buckets: Sequence[Bucket], n: int) -> list[int]:
    """The bucket's number of each of `n` concepts, 0 for those in none."""
    numbers = [0] * n
    for bucket in buckets:
        for row in bucket.rows:
            numbers[row] = bucket.number
    return numbers


def mean(values: Sequence[float]) -> float:
    """The mean of the values that are not nan; nan where there are none."""
    known = [value for value in values if not math.isnan(value)]
    return math.fsum(known) / len(known) if known else math.nan
