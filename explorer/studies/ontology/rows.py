"""The ontology study's figures as rows of the result tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from explorer.finding import Finding
from explorer.ontologies.analysis import Analysis, Item
from explorer.records import Generation, Instance, Request
from explorer.rows.builders import Row, finding_row, generation_row, instance_row, measure_row
from explorer.similarity.measured import WORDS
from explorer.stats.estimate import Estimate
from explorer.stats.proportion import proportion
from explorer.stats.weighted import Strata, weighted_share, weighted_spearman
from explorer.studies.ontology import declared

REPEATS = 1_000  # permutations of a weighted correlation, whose ranks are made anew each time
AS_RELEASED = "as released"
CORRECTED = "corrected"


def answer_rows(instances: Sequence[Instance], analysis: Analysis) -> dict[str, list[Row]]:
    """Rows of instances, generations and measures for imported answers, one instance an item of the analysis."""
    tables: dict[str, list[Row]] = {"instances": [], "generations": [], "measures": []}
    for position, (instance, item) in enumerate(zip(instances, analysis.items, strict=True)):
        tables["instances"].append(instance_row(instance, position))
        generation = Generation(Request(instance.id, option=0, context="", role="prompt"), item.answer)
        tables["generations"].append(generation_row(generation, 0, verdict=item.outcome.kind))
        tables["measures"] += item_measures(instance.id, item)
    return tables


def item_measures(instance_id: str, item: Item, factors: Mapping[str, Any] | None = None) -> list[Row]:
    """What one answer measures: right or wrong, popularity, and for a wrong id its nearness to the right one."""

    def row(measure: str, value: float, reason: str = "") -> Row:
        return measure_row(instance_id, measure, value, reason=reason, factors=factors)

    uncounted = math.isnan(item.concept.web_count)
    rows = [
        row("correct", float(item.correct), item.outcome.kind if item.outcome.kind != "id" else ""),
        row("web_count", item.concept.web_count, "no count in the file" if uncounted else ""),
        row("bucket", float(item.bucket) if item.bucket else math.nan, "" if item.bucket else "no count in the file"),
    ]
    if not math.isnan(item.nearness.levenshtein):
        unknown = math.isnan(item.nearness.jaccard)
        by = "" if item.nearness.unit == WORDS else f"by {item.nearness.unit}"
        rows.append(row("label_jaccard", item.nearness.jaccard, "the predicted id does not exist" if unknown else by))
        rows.append(row("id_levenshtein", item.nearness.levenshtein))
    return rows


def finding_rows(analysis: Analysis, strata: Strata | None = None, seed: int = 0) -> list[Row]:
    """Rows of findings; the factor `setting` tells the authors' way of counting from the corrected one.

    With `strata` accuracy and its correlation with popularity over concepts are reweighted to the whole ontology.
    """
    factors = {"setting": AS_RELEASED if analysis.as_released else CORRECTED}

    def row(finding: Finding, group: str, estimate: Estimate, detail: Mapping[str, Any] | None = None) -> Row:
        return finding_row(finding, group, estimate, factors=factors, detail=detail)

    right = [float(item.correct) for item in analysis.items]
    share = proportion(right)
    over_items: Estimate = analysis.spearman_items
    of_sample: dict[str, Any] | None = None
    if strata is not None:
        of_sample = {"sample": share.value}
        share = weighted_share(right, strata)
        counts = [item.concept.web_count for item in analysis.items]
        over_items = weighted_spearman(counts, right, strata, permutations=REPEATS, seed=seed)
    clean = analysis.unflagged
    wrong = analysis.wrong
    unflagged = Estimate.point(
        clean.accuracy,
        clean.n,
        left_out=analysis.all.n - clean.n,
        reason="" if clean.n else "no concept is left",
    )
    jaccard = Estimate.point(
        wrong.jaccard,
        wrong.well_formed - wrong.unknown,
        left_out=wrong.wrong - wrong.well_formed + wrong.unknown,
        reason="" if wrong.well_formed > wrong.unknown else "no wrong answer gives an id that exists",
    )
    levenshtein = Estimate.point(
        wrong.levenshtein,
        wrong.well_formed,
        left_out=wrong.wrong - wrong.well_formed,
        reason="" if wrong.well_formed else "no wrong answer gives an id",
    )
    rows = [
        row(declared.ACCURACY, "overall", share, of_sample),
        row(declared.ACCURACY, "without obsolete and shared labels", unflagged),
        row(declared.DISTINCT_PREDICTIONS, "overall", Estimate.point(analysis.distinct_predictions, analysis.all.n)),
        row(declared.JACCARD_WRONG, "overall", jaccard, {"unknown_ids": wrong.unknown}),
        row(declared.LEVENSHTEIN_WRONG, "overall", levenshtein),
        row(declared.SPEARMAN_BUCKETS, "overall", analysis.spearman_buckets),
        row(declared.SPEARMAN_ITEMS, "overall", over_items),
        row(declared.SPEARMAN_JACCARD, "overall", analysis.spearman_jaccard),
        row(declared.SPEARMAN_LEVENSHTEIN, "overall", analysis.spearman_levenshtein),
        row(declared.SPEARMAN_REPEATED, "overall", analysis.spearman_repeated),
    ]
    rows += [
        row(declared.OUTCOME, kind, Estimate.point(count / analysis.all.n, analysis.all.n))
        for kind, count in analysis.outcomes.items()
    ]
    for bucket, ratio in zip(analysis.buckets, analysis.repeated.ratio, strict=True):
        name = str(bucket.bucket)
        empty = "" if bucket.n else "no concept is left in this bucket"
        where = {"mean_count": bucket.mean_count, "low": bucket.low, "high": bucket.high} if bucket.n else None
        rows.append(row(declared.BUCKET_ACCURACY, name, Estimate.point(bucket.accuracy, bucket.n, reason=empty), where))
        for finding, value, why in (
            (declared.BUCKET_JACCARD, bucket.jaccard, "no wrong id"),
            (declared.BUCKET_LEVENSHTEIN, bucket.levenshtein, "no wrong id"),
            (declared.BUCKET_REPEATED_RATIO, ratio, "no repeated id is expected here"),
        ):
            rows.append(row(finding, name, Estimate.point(value, bucket.n, reason=why if math.isnan(value) else "")))
    return rows
