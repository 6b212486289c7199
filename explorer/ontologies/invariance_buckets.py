"""Average prediction invariance and accuracy by popularity (Bombieri et al. 2024, figure 4)."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from explorer.errors import OntologyError
from explorer.ontologies.buckets import Bucket, mean
from explorer.ontologies.invariance import prediction_invariance
from explorer.records import Concept
from explorer.stats.spearman import RankCorrelation, spearman


@dataclass(frozen=True, slots=True)
class BucketInvariance:
    """AvPI and accuracy of the concepts asked for in one bucket; accuracy is over concepts and repeats."""

    bucket: int
    n: int
    mean_pi: float
    accuracy: float


@dataclass(frozen=True, slots=True)
class InvarianceByPopularity:
    """The buckets that hold a concept, the accuracy over all, and Spearman between AvPI and accuracy over buckets."""

    buckets: tuple[BucketInvariance, ...]
    accuracy: float
    spearman: RankCorrelation
    left_out: int  # concepts without a count


def accuracy(gold: Sequence[str], groups: Sequence[Sequence[str]]) -> float:
    """Mean exact match of answers with their concept's id, over concepts and repeats."""
    check_lengths(gold, groups)
    return mean([float(answer == right) for right, answers in zip(gold, groups, strict=True) for answer in answers])


def by_popularity(
    concepts: Sequence[Concept], groups: Sequence[Sequence[str]], buckets: Sequence[Bucket], *, seed: int = 0
) -> InvarianceByPopularity:
    """The answers of each concept by the bucket of the ontology into which its count falls."""
    check_lengths(concepts, groups)
    highs = [bucket.high for bucket in buckets]
    members: dict[int, list[int]] = {}
    for row, concept in enumerate(concepts):
        if buckets and not math.isnan(concept.web_count):
            place = min(bisect_left(highs, concept.web_count), len(buckets) - 1)
            members.setdefault(buckets[place].number, []).append(row)
    figures = [
        BucketInvariance(
            bucket=number,
            n=len(rows),
            mean_pi=mean([prediction_invariance(groups[row]) for row in rows]),
            accuracy=accuracy([concepts[row].id for row in rows], [groups[row] for row in rows]),
        )
        for number, rows in sorted(members.items())
    ]
    return InvarianceByPopularity(
        buckets=tuple(figures),
        accuracy=accuracy([concept.id for concept in concepts], groups),
        spearman=spearman([figure.mean_pi for figure in figures], [figure.accuracy for figure in figures], seed=seed),
        left_out=len(concepts) - sum(figure.n for figure in figures),
    )


def check_lengths(gold: Sequence[object], groups: Sequence[Sequence[str]]) -> None:
    """An error unless there is one label a group of answers."""
    if len(gold) != len(groups):
        raise OntologyError(
            f"{len(gold):,} labels for the answers of {len(groups):,} concepts, expected one label each, in the same "
            "order. Check the labels and the number of repeats."
        )
