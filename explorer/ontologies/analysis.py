"""All figures of the ontology study from concepts and the answers to them, ours and imported ones alike."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from explorer.errors import OntologyError
from explorer.ontologies import errors
from explorer.ontologies.buckets import BUCKETS, Bucket, bucketize, fill, mean
from explorer.ontologies.errors import ErrorPattern, Nearness
from explorer.ontologies.parse import KINDS, IdRule, Outcome, parser, raw
from explorer.ontologies.repeated import TOP, RepeatedIds, repeated_ids
from explorer.records import Concept
from explorer.stats.spearman import RankCorrelation, spearman

PERMUTATIONS = 10_000


@dataclass(frozen=True, slots=True)
class Item:
    """A concept, the answer to it and what follows."""

    concept: Concept
    answer: str
    outcome: Outcome
    correct: bool
    nearness: Nearness  # nan unless the answer gives a wrong id
    bucket: int  # from 1; 0 for a concept without a count, or lost by the released splitter


@dataclass(frozen=True, slots=True)
class BucketFigures:
    """The means of one bucket."""

    bucket: int
    n: int
    low: float
    high: float
    mean_count: float
    accuracy: float
    jaccard: float
    levenshtein: float


@dataclass(frozen=True, slots=True)
class Share:
    """How many of how many answers are right."""

    correct: int
    n: int

    @property
    def accuracy(self) -> float:
        return self.correct / self.n if self.n else math.nan


@dataclass(frozen=True, slots=True)
class Analysis:
    """What the study says about one set of answers."""

    as_released: bool
    items: tuple[Item, ...]
    all: Share
    unflagged: Share  # without obsolete concepts and without labels that several concepts share
    outcomes: Mapping[str, int]
    distinct_predictions: int
    wrong: ErrorPattern
    buckets: tuple[BucketFigures, ...]
    repeated: RepeatedIds
    spearman_buckets: RankCorrelation  # mean count against accuracy, over buckets
    spearman_items: RankCorrelation  # count against right or wrong, over concepts
    spearman_jaccard: RankCorrelation  # mean count against the label overlap of wrong answers, over buckets
    spearman_levenshtein: RankCorrelation  # mean count against the edit distance of wrong answers, over buckets
    spearman_repeated: RankCorrelation  # bucket number against actual over expected repeated ids
    left_out: int  # concepts without a count

    def as_json(self) -> dict[str, Any]:
        """The figures under the names of the command line's JSON."""
        return {
            "n": self.all.n,
            "correct": self.all.correct,
            "accuracy": self.all.accuracy,
            "malformed": self.outcomes["malformed"],
            "distinct_predictions": self.distinct_predictions,
            "jaccard_wrong": self.wrong.jaccard,
            "levenshtein_wrong": self.wrong.levenshtein,
            "spearman_buckets": _rank_json(self.spearman_buckets),
            "spearman_items": _rank_json(self.spearman_items),
            "buckets": [
                {
                    "bucket": bucket.bucket,
                    "n": bucket.n,
                    "mean_count": bucket.mean_count,
                    "accuracy": bucket.accuracy,
                    "jaccard": bucket.jaccard,
                    "levenshtein": bucket.levenshtein,
                }
                for bucket in self.buckets
            ],
            "as_released": self.as_released,
            "outcomes": dict(self.outcomes),
            "unknown_id_share": self.wrong.unknown_share,
            "unflagged": {
                "n": self.unflagged.n,
                "correct": self.unflagged.correct,
                "accuracy": self.unflagged.accuracy,
            },
            "spearman_jaccard": _rank_json(self.spearman_jaccard),
            "spearman_levenshtein": _rank_json(self.spearman_levenshtein),
            "spearman_repeated": _rank_json(self.spearman_repeated),
            "left_out": self.left_out,
        }


def analyze(
    concepts: Sequence[Concept],
    answers: Sequence[str],
    rule: IdRule,
    *,
    labels: Mapping[str, str] | None = None,
    after_prefix: bool = False,
    as_released: bool = False,
    buckets: int = BUCKETS,
    ranges: Sequence[Bucket] = (),
    top: int = TOP,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    beside: Analysis | None = None,
) -> Analysis:
    """The study's figures; `labels` holds the labels of predicted ids that are not among the concepts.

    `ranges` are the buckets of the whole ontology, where the concepts are a sample of it.

    As released, an answer is right if its text equals the id, distinct and repeated predictions are texts, and accuracy
    by bucket is over what the authors' splitter leaves; else an answer is right if the id that it gives is.
    `beside` is the other analysis of the same answers: where both call the same ones right, its permutations serve.
    """
    if len(concepts) != len(answers) or not concepts:
        raise OntologyError(
            f"{len(answers):,} answers for {len(concepts):,} concepts, expected one each and at least one."
        )
    known = {**(labels or {}), **{concept.id: concept.label for concept in reversed(concepts)}}
    counts = [concept.web_count for concept in concepts]
    made = fill(ranges, counts) if ranges else bucketize(counts, buckets, as_released)
    items = judge(concepts, answers, parser(rule, after_prefix), known, made, as_released)
    figures = tuple(_bucket_figures(bucket, items) for bucket in made)
    given = [raw(item.answer) if as_released else item.outcome.id for item in items]
    # Of whole buckets in both ways of counting: the published .868 is theirs.
    whole = bucketize(counts, buckets) if as_released and not ranges else made
    repeated = repeated_ids([concept.id for concept in concepts], given, whole, top)
    means = [bucket.mean_count for bucket in figures]

    def rank(x: Sequence[float], y: Sequence[float], resamples: int = 1_000) -> RankCorrelation:
        return spearman(x, y, permutations=permutations, resamples=resamples, seed=seed)

    return Analysis(
        as_released=as_released,
        items=items,
        all=_share(items),
        unflagged=_share(_unflagged(items)),
        outcomes={kind: Counter(item.outcome.kind for item in items)[kind] for kind in KINDS},
        distinct_predictions=len({text for text in given if text}),
        wrong=errors.summarize([item.nearness for item in items if not _right(item)]),
        buckets=figures,
        repeated=repeated,
        spearman_buckets=rank(means, [bucket.accuracy for bucket in figures]),
        spearman_items=beside.spearman_items
        if beside and [item.correct for item in beside.items] == [item.correct for item in items]
        else rank(counts, [float(item.correct) for item in items], resamples=0),
        spearman_jaccard=rank(means, [bucket.jaccard for bucket in figures]),
        spearman_levenshtein=rank(means, [bucket.levenshtein for bucket in figures]),
        spearman_repeated=rank([float(bucket.number) for bucket in whole], repeated.ratio),
        left_out=sum(map(math.isnan, counts)),
    )


def judge(
    concepts: Sequence[Concept],
    answers: Sequence[str],
    parse: Callable[[str], Outcome],
    labels: Mapping[str, str],
    buckets: Sequence[Bucket],
    as_released: bool = False,
) -> tuple[Item, ...]:
    """Each answer beside its concept: what it is, whether it is right, and how near a wrong id is."""
    places = {row: bucket.number for bucket in buckets for row in bucket.rows}
    items = []
    for row, (concept, answer) in enumerate(zip(concepts, answers, strict=True)):
        outcome = parse(answer)
        given = outcome.id == concept.id
        items.append(
            Item(
                concept=concept,
                answer=answer,
                outcome=outcome,
                correct=raw(answer) == concept.id if as_released else given,
                nearness=errors.NO_ID if given else errors.nearness(concept.id, outcome.id, labels),
                bucket=places.get(row, 0),
            )
        )
    return tuple(items)


def _bucket_figures(bucket: Bucket, items: Sequence[Item]) -> BucketFigures:
    members = [items[row] for row in bucket.rows]
    return BucketFigures(
        bucket=bucket.number,
        n=len(members),
        low=bucket.low,
        high=bucket.high,
        mean_count=mean([item.concept.web_count for item in members]),
        accuracy=_share(members).accuracy,
        jaccard=mean([item.nearness.jaccard for item in members]),
        levenshtein=mean([item.nearness.levenshtein for item in members]),
    )


def _right(item: Item) -> bool:
    """Whether the id given is the concept's, whatever text stands around it."""
    return item.outcome.id == item.concept.id


def _share(items: Sequence[Item]) -> Share:
    return Share(sum(item.correct for item in items), len(items))


def _unflagged(items: Sequence[Item]) -> list[Item]:
    labels = Counter(item.concept.label for item in items)
    return [item for item in items if not item.concept.obsolete and labels[item.concept.label] == 1]


def _rank_json(rank: RankCorrelation) -> dict[str, Any]:
    return {"rho": rank.value, "p": rank.p, "n": rank.n, **({"reason": rank.reason} if rank.reason else {})}
