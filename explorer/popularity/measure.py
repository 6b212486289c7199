"""Instances → n-grams, counts, IPS and relative differences, as rows of a run's tables.

A recipe counts the whole reference set once (`survey_edges`), which gives the decile edges, and then makes the
rows of each part (`popularity_rows`); the counts come from the cache the second time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from explorer import prompts
from explorer.popularity import ips as scores
from explorer.popularity import ngrams
from explorer.popularity.counter import Counter, Progress, RowCounter
from explorer.popularity.ips import IPS, DecileEdges
from explorer.popularity.ngrams import DEFAULT_N, Initial, Ngram, TextNgrams
from explorer.records import Count, Factor, Instance
from explorer.rows.columns import Measures, Table, from_columns


@dataclass(frozen=True, slots=True)
class OptionPopularity:
    """One option's text with its n-grams and its IPS."""

    option: int
    text: str
    ngrams: TextNgrams
    ips: IPS


@dataclass(frozen=True, slots=True)
class InstancePopularity:
    """An instance's options, and the number by which it falls into the low or the high half.

    The number is the relative difference where there is a right and a wrong option, else the IPS of the one text.
    """

    instance_id: str
    options: tuple[OptionPopularity, ...]
    score: float
    score_name: str  # "relative_difference" or "ips"
    reason: str = ""


def survey_edges(
    counter: Counter,
    instances: Sequence[Instance],
    *,
    reference: str,
    n: int = DEFAULT_N,
    initial: Initial = "running",
    progress: Progress | None = None,
) -> DecileEdges:
    """The decile edges over the distinct n-grams of all options; raises while counts are missing for an outage."""
    texts = [text for instance in instances for text in prompts.option_texts(instance)]
    if isinstance(counter, RowCounter) and counter.counts_at_once:
        rows = ngrams.distinct_rows(counter, texts, n, initial, _half(progress, 0))
        values = counter.count_rows(rows, _half(progress, 1))
        return scores.edges_over(values, reference=reference, index=counter.index, n=n, initial=initial)
    texts_ngrams = ngrams.of_texts(counter, texts, n, initial, _half(progress, 0))
    counts = ngrams.count_ngrams(counter, texts_ngrams, _half(progress, 1))
    ngrams.require_answers(counts)
    return scores.decile_edges(counts, reference=reference, index=counter.index, n=n, initial=initial)


def rate_texts(
    counter: Counter, texts: Sequence[str], edges: DecileEdges, progress: Progress | None = None
) -> tuple[list[tuple[TextNgrams, IPS]], dict[Ngram, Count]]:
    """Each text's n-grams and IPS by these edges, and the counts they rest on; of runs and of live views alike."""
    edges.check_fits(counter.index, edges.n, edges.initial)
    by_text = ngrams.of_texts(counter, texts, edges.n, edges.initial)
    counts = ngrams.count_ngrams(counter, by_text, progress)
    return list(zip(by_text, scores.texts_ips(by_text, counts, edges), strict=True)), counts


def measure_instances(
    counter: Counter, instances: Sequence[Instance], edges: DecileEdges, progress: Progress | None = None
) -> tuple[list[InstancePopularity], dict[Ngram, Count]]:
    """The popularity of each instance by these edges, and the counts it rests on."""
    texts = [prompts.option_texts(instance) for instance in instances]
    rated_texts, counts = rate_texts(counter, [text for each in texts for text in each], edges, progress)
    remaining = iter(rated_texts)
    measured = []
    for instance, options in zip(instances, texts, strict=True):
        rated = tuple(OptionPopularity(i, text, *next(remaining)) for i, text in enumerate(options))
        measured.append(_instance(instance, rated))
    return measured, counts


def popularity_rows(
    measured: Sequence[InstancePopularity],
    counts: Mapping[Ngram, Count],
    factors: Mapping[str, Factor] | None = None,
) -> dict[str, Table]:
    """Rows of `counts` and of `measures` (ips per option, relative_difference per instance)."""
    measures = Measures()
    for instance in measured:
        for option in instance.options:
            measures.add(
                instance.instance_id, "ips", option.ips.value, option=option.option, reason=option.ips.reason,
                factors=factors,
            )  # fmt: skip
        if instance.score_name == "relative_difference":
            measures.add(
                instance.instance_id, instance.score_name, instance.score, reason=instance.reason, factors=factors
            )
    return {"counts": _count_table(measured, counts, factors), "measures": measures.table()}


def _half(progress: Progress | None, half: int) -> Progress | None:
    """Progress of the first or the second half of a piece of work, in thousandths of the whole."""
    if progress is None:
        return None
    return lambda done, total: progress(500 * half + 500 * done // max(total, 1), 1000)


def _instance(instance: Instance, options: tuple[OptionPopularity, ...]) -> InstancePopularity:
    values = [option.ips for option in options]
    if len(options) > 1 and instance.gold is not None:
        value, reason = scores.relative_difference(values, instance.gold)
        return InstancePopularity(instance.id, options, value, "relative_difference", reason)
    if len(options) == 1:
        return InstancePopularity(instance.id, options, values[0].value, "ips", values[0].reason)
    return InstancePopularity(instance.id, options, math.nan, "ips", "no option is known to be the right one")


def _count_table(
    measured: Sequence[InstancePopularity], counts: Mapping[Ngram, Count], factors: Mapping[str, Factor] | None
) -> Table:
    """A row for each distinct n-gram; `start` is -1 for one that only the form without a leading blank has."""
    options = [(instance.instance_id, option, option.ngrams) for instance in measured for option in instance.options]
    ids = [ngram for _, _, texts in options for ngram in texts.ngrams]
    answers = [counts[ngram] for ngram in ids]
    columns = {
        "instance_id": [name for name, _, texts in options for _ in texts.ngrams],
        "option": [option.option for _, option, texts in options for _ in texts.ngrams],
        "index_name": [count.index for count in answers],
        "n": [texts.n for _, _, texts in options for _ in texts.ngrams],
        "start": [
            start if i < texts.bare_from else -1 for _, _, texts in options for i, start in enumerate(texts.starts)
        ],
        "ids": ids,
        "count": [count.count for count in answers],
        "approx": [count.approx for count in answers],
        "reason": [count.reason for count in answers],
    }
    return from_columns("counts", len(ids), {**(factors or {}), **columns})
