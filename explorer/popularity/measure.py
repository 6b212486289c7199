"""Instances → n-grams, counts, IPS and relative differences, as rows of a run's tables.

A recipe counts the whole reference set once (`survey`), which gives the decile edges, and then makes the rows of each
part (`rows`); the counts come from the cache the second time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from explorer import prompts
from explorer.popularity import ips as scores
from explorer.popularity import ngrams
from explorer.popularity.counter import Counter, Progress
from explorer.popularity.ips import IPS, Edges
from explorer.popularity.ngrams import DEFAULT_N, Initial, Ngram, TextNgrams
from explorer.records import Count, Factor, Instance
from explorer.rows.builders import measure_row


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


def survey(
    counter: Counter,
    instances: Sequence[Instance],
    *,
    reference: str,
    n: int = DEFAULT_N,
    initial: Initial = "running",
    progress: Progress | None = None,
) -> Edges:
    """The decile edges over the distinct n-grams of all options; raises while counts are missing for an outage."""
    texts = [text for instance in instances for text in prompts.option_texts(instance)]
    found = ngrams.of_texts(counter, texts, n, initial, _half(progress, 0))
    counts = ngrams.count(counter, found, _half(progress, 1))
    ngrams.require_answers(counts)
    return scores.decile_edges(counts, reference=reference, index=counter.index, n=n, initial=initial)


def measure(
    counter: Counter, instances: Sequence[Instance], edges: Edges, progress: Progress | None = None
) -> tuple[list[InstancePopularity], dict[Ngram, Count]]:
    """The popularity of each instance by these edges, and the counts it rests on."""
    edges.check_fits(counter.index, edges.n, edges.initial)
    texts = [prompts.option_texts(instance) for instance in instances]
    flat = ngrams.of_texts(counter, [text for each in texts for text in each], edges.n, edges.initial)
    counts = ngrams.count(counter, flat, progress)
    rest = iter(flat)
    measured = []
    for instance, options in zip(instances, texts, strict=True):
        found = [next(rest) for _ in options]
        rated = tuple(
            OptionPopularity(i, text, each, scores.ips(each, counts, edges))
            for i, (text, each) in enumerate(zip(options, found, strict=True))
        )
        measured.append(_instance(instance, rated))
    return measured, counts


def rows(
    measured: Sequence[InstancePopularity],
    counts: Mapping[Ngram, Count],
    factors: Mapping[str, Factor] | None = None,
) -> dict[str, list[dict[str, Any]]]:
    """Rows of `counts` and of `measures` (ips per option, relative_difference per instance)."""
    tables: dict[str, list[dict[str, Any]]] = {"counts": [], "measures": []}
    for instance in measured:
        for option in instance.options:
            tables["counts"] += _count_rows(instance.instance_id, option, counts, factors)
            tables["measures"].append(
                measure_row(
                    instance.instance_id, "ips", option.ips.value, option=option.option, reason=option.ips.reason,
                    factors=factors,
                )
            )  # fmt: skip
        if instance.score_name == "relative_difference":
            tables["measures"].append(
                measure_row(
                    instance.instance_id, instance.score_name, instance.score, reason=instance.reason, factors=factors
                )
            )
    return tables


def _half(progress: Progress | None, half: int) -> Progress | None:
    """Progress of the first or the second half of a piece of work, in thousandths of the whole."""
    if progress is None:
        return None
    return lambda done, total: progress(500 * half + 500 * done // max(total, 1), 1000)


def _instance(instance: Instance, options: tuple[OptionPopularity, ...]) -> InstancePopularity:
    own = [option.ips for option in options]
    if len(options) > 1 and instance.gold is not None:
        value, reason = scores.relative_difference(own, instance.gold)
        return InstancePopularity(instance.id, options, value, "relative_difference", reason)
    if len(options) == 1:
        return InstancePopularity(instance.id, options, own[0].value, "ips", own[0].reason)
    return InstancePopularity(instance.id, options, math.nan, "ips", "no option is known to be the right one")


def _count_rows(
    instance_id: str, option: OptionPopularity, counts: Mapping[Ngram, Count], factors: Mapping[str, Factor] | None
) -> list[dict[str, Any]]:
    """A row for each distinct n-gram; `start` is -1 for one that only the form without a leading blank has."""
    found = option.ngrams
    return [
        {
            "instance_id": instance_id,
            "option": option.option,
            **(factors or {}),
            "index_name": counts[ngram].index,
            "n": found.n,
            "start": start if i < found.bare_from else -1,
            "ids": list(ngram),
            "count": counts[ngram].count,
            "approx": counts[ngram].approx,
            "reason": counts[ngram].reason,
        }
        for i, (ngram, start) in enumerate(zip(found.ngrams, found.starts, strict=True))
    ]
