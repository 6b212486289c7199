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


def reduced(values: Sequence[float], reducer: str) -> float:
    """The values as one, by Inspect's reducer of this name (the mean for one not known); nan where none is known."""
    known = [value for value in values if value == value]
    if not known:
        return math.nan
    found = KNOWN.fullmatch(reducer)
    if found and found[1]:
        count, hits = int(found[2]), sum(value >= 1.0 for value in known)
        if found[1] == "at_least":
            return float(hits >= count)
        missed = math.comb(len(known) - hits, count) / math.comb(len(known), count) if count <= len(known) else 0.0
        return 1.0 - missed if hits else 0.0
    if reducer == "mode":
        return Counter(known).most_common(1)[0][0]
    if reducer in ("median", "max"):
        return float(statistics.median(known) if reducer == "median" else max(known))
    return statistics.fmean(known)


def together(samples: Sequence[Sample], reducer: str, name: str, told: float = math.nan) -> Sample:
    """The passes over a document (`name` says what the log calls them) as one sample, which keeps each of them.

    `told` is the verdict that the log itself reduced them to.
    """
    first = samples[0]
    passes = tuple(_numbered(sample, number) for number, sample in enumerate(samples))
    verdicts = [sample.correct for sample in samples]
    chosen = {sample.chosen for sample in samples}
    return dataclasses.replace(
        first,
        written=tuple(one for sample in passes for one in sample.written),
        chosen=first.chosen if len(chosen) == 1 else None,
        correct=told if told == told else reduced(verdicts, reducer),
        reason=in_words(verdicts, reducer, name) or first.reason,
        metrics=(*_reduced_metrics(samples, reducer), *(one for sample in passes for one in sample.metrics)),
        repeats=passes,
    )


def in_words(verdicts: Sequence[float], reducer: str, name: str) -> str:
    """How many of the passes were right, and how they became one; "" where none has a verdict."""
    known = [one for one in verdicts if one == one]
    if not known:
        return ""
    gaps = f", {len(verdicts) - len(known)} without a verdict" if len(known) < len(verdicts) else ""
    return f"right in {sum(known):g} of {len(verdicts)} {name}{gaps}; {reducer}"


def _numbered(sample: Sample, number: int) -> Sample:
    return dataclasses.replace(
        sample,
        written=tuple(dataclasses.replace(one, repeat=number) for one in sample.written),
        metrics=tuple(dataclasses.replace(one, repeat=number) for one in sample.metrics),
    )


def _reduced_metrics(samples: Sequence[Sample], reducer: str) -> list[Metric]:
    values: dict[tuple[str, str], list[float]] = {}
    for sample in samples:
        for metric in sample.metrics:
            values.setdefault((metric.name, metric.filter), []).append(metric.value)
    return [Metric(name, reduced(own, reducer), filter) for (name, filter), own in values.items()]
