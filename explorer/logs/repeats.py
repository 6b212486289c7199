"""Several answers to one document as one sample, reduced to one verdict as the log does it."""

from __future__ import annotations

import dataclasses
import math
import re
import statistics
from collections import Counter
from collections.abc import Sequence

from explorer.logs.log import Metric, Sample

KNOWN = re.compile(r"mean|median|mode|max|(at_least|pass_at)_(\d{1,6})")


def is_known(reducer: str) -> bool:
    """Whether values can be reduced this way here."""
    return bool(KNOWN.fullmatch(reducer))


def reduce_values(values: Sequence[float], reducer: str) -> float:
    """The values as one, by Inspect's reducer of this name (the mean for one not known); nan where none is known."""
    known = [value for value in values if value == value]
    if not known:
        return math.nan
    counted = KNOWN.fullmatch(reducer)
    if counted and counted[1]:
        count, hits = int(counted[2]), sum(value >= 1.0 for value in known)
        if counted[1] == "at_least":
            return float(hits >= count)
        missed = math.comb(len(known) - hits, count) / math.comb(len(known), count) if count <= len(known) else 0.0
        return 1.0 - missed if hits else 0.0
    if reducer == "mode":
        return Counter(known).most_common(1)[0][0]
    if reducer in ("median", "max"):
        return float(statistics.median(known) if reducer == "median" else max(known))
    return statistics.fmean(known)


def merge_passes(samples: Sequence[Sample], reducer: str, name: str, logged_verdict: float = math.nan) -> Sample:
    """The passes over a document as one sample, which keeps each of them.

    `name` is what the log calls the passes, `logged_verdict` the verdict that the log itself reduced them to.
    """
    first = samples[0]
    passes = tuple(_numbered(sample, number) for number, sample in enumerate(samples))
    verdicts = [sample.correct for sample in samples]
    chosen = {sample.chosen for sample in samples}
    return dataclasses.replace(
        first,
        answers=tuple(answer for sample in passes for answer in sample.answers),
        chosen=first.chosen if len(chosen) == 1 else None,
        correct=logged_verdict if logged_verdict == logged_verdict else reduce_values(verdicts, reducer),
        reason=describe_passes(verdicts, reducer, name) or first.reason,
        metrics=(*_reduced_metrics(samples, reducer), *(metric for sample in passes for metric in sample.metrics)),
        repeats=passes,
    )


def describe_passes(verdicts: Sequence[float], reducer: str, name: str) -> str:
    """How many of the passes were right, and how they became one; "" where none has a verdict."""
    known = [verdict for verdict in verdicts if verdict == verdict]
    if not known:
        return ""
    gaps = f", {len(verdicts) - len(known)} without a verdict" if len(known) < len(verdicts) else ""
    return f"right in {sum(known):g} of {len(verdicts)} {name}{gaps}; {reducer}"


def _numbered(sample: Sample, number: int) -> Sample:
    return dataclasses.replace(
        sample,
        answers=tuple(dataclasses.replace(answer, repeat=number) for answer in sample.answers),
        metrics=tuple(dataclasses.replace(metric, repeat=number) for metric in sample.metrics),
    )


def _reduced_metrics(samples: Sequence[Sample], reducer: str) -> list[Metric]:
    values: dict[tuple[str, str], list[float]] = {}
    for sample in samples:
        for metric in sample.metrics:
            values.setdefault((metric.name, metric.filter), []).append(metric.value)
    return [Metric(name, reduce_values(passes, reducer), filter) for (name, filter), passes in values.items()]
