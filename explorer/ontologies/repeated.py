"""Does a model that is unsure fall back on popular ids? (Bombieri et al. 2024, figure 3)"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from explorer.ontologies.buckets import Bucket

TOP = 500


@dataclass(frozen=True, slots=True)
class RepeatedIds:
    """For each bucket: how many of the most repeated ids are in it, and how many would be if spread evenly."""

    actual: tuple[int, ...]
    expected: tuple[float, ...]
    unknown: int  # of the most repeated ids, how many the ontology does not have

    @property
    def ratio(self) -> tuple[float, ...]:
        """Actual over expected, bucket by bucket."""
        return tuple(
            actual / due if due else float("nan") for actual, due in zip(self.actual, self.expected, strict=True)
        )


def repeated_ids(
    ids: Sequence[str], predicted: Sequence[str], buckets: Sequence[Bucket], top: int = TOP
) -> RepeatedIds:
    """The `top` most repeated answers by bucket; `ids` are the concepts' ids, empty answers are not counted.

    Ties at the last rank go to the answer that came first. An answer that is no id of the ontology keeps its rank and
    is then dropped, so that the expected numbers sum to `top` and the actual ones to less.
    """
    most = Counter(answer for answer in predicted if answer).most_common(top)
    bucket_of = {ids[row]: place for place, bucket in enumerate(buckets) for row in bucket.rows}
    known = set(ids)
    actual = [0] * len(buckets)
    for answer, _ in most:
        if answer in bucket_of:
            actual[bucket_of[answer]] += 1
    return RepeatedIds(
        actual=tuple(actual),
        expected=tuple(top * len(bucket.rows) / len(ids) for bucket in buckets),
        unknown=sum(answer not in known for answer, _ in most),
    )
