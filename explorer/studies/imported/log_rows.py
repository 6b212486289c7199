"""A log's samples as rows of a run's tables: scores, answers, verdicts and metrics."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from explorer.logs import repeats
from explorer.logs.log import Sample
from explorer.records import Factor, Instance, Request, Score
from explorer.rows.builders import Row, instance_row, measure_row, score_row
from explorer.scoring.policy import PRESETS
from explorer.studies import verdicts

POLICY = PRESETS["lm-eval"]
APART = 1_000  # request numbers of one pass and the next


@dataclass(frozen=True, slots=True)
class MatchedSample:
    """A sample beside the instance that it is here."""

    sample: Sample
    instance: Instance
    order: tuple[int, ...] = ()
    matched: bool = True


def rows(placed: Sequence[MatchedSample]) -> dict[str, list[Row]]:
    """The rows of a run's tables for these samples."""
    tables: dict[str, list[Row]] = {"instances": [], "scores": [], "generations": [], "measures": []}
    for position, item in enumerate(placed):
        tables["instances"].append(instance_row(item.instance, position))
        tables["scores"] += _score_rows(item)
        tables["generations"] += _generation_rows(item)
        tables["measures"] += _measure_rows(item)
    return tables


def _passes(item: MatchedSample) -> Sequence[tuple[dict[str, Factor], Sample]]:
    """Each pass over a document with its factors; the sample itself where there was one."""
    if not item.sample.repeats:
        return [({}, item.sample)]
    return [({"part": number}, sample) for number, sample in enumerate(item.sample.repeats)]


def _scores(item: MatchedSample) -> list[Score]:
    """Our options with the harness's log-probabilities; it does not tell tokens, so each counts as one."""
    score_rows = []
    for option, place in enumerate(item.order):
        scored_option = item.sample.scored_options[place]
        bare = scored_option.continuation.removeprefix(" ")
        request = Request(
            item.instance.id,
            option,
            scored_option.context,
            scored_option.continuation,
            "target" if item.instance.kind == "cloze" else "option",
        )
        size = len(bare.encode("utf-8", "surrogatepass"))
        score_rows.append(
            Score(request, (), (), (scored_option.logprob,), len(bare), size, bool(scored_option.greedy), False)
        )
    return score_rows


def _score_rows(item: MatchedSample) -> list[Row]:
    rows = []
    for number, (factors, sample) in enumerate(_passes(item)):
        placed = dataclasses.replace(item, sample=sample)
        rows += [{**row, **factors, "request": APART * number + row["request"]} for row in _rows_of_pass(placed)]
    return rows


def _rows_of_pass(item: MatchedSample) -> list[Row]:
    if not item.sample.scored_options:
        return []
    unknown = {"tokens": None, "scored": None, "straddles": None, "truncated": None}
    rows = []
    for number, (place, score) in enumerate(zip(item.order, _scores(item), strict=False)):
        greedy = item.sample.scored_options[place].greedy
        rows.append({**score_row(score, number, tokens=False), **unknown, "greedy": greedy})
    for option, place in enumerate(item.order if item.sample.unconditional else ()):
        score = _scores(item)[option]
        row = score_row(score, len(item.order) + option, tokens=False)
        prior = {"role": "unconditional", "context": "", "logprob": item.sample.unconditional[place], "greedy": None}
        rows.append({**row, **unknown, **prior})
    return rows


def _generation_rows(item: MatchedSample) -> list[Row]:
    return [
        {
            "instance_id": item.instance.id,
            "request": number,
            "role": "prompt",
            "part": written.repeat,
            "prompt": written.prompt,
            "text": written.text,
            "finish": written.finish,
            "verdict": written.verdict,
            "reason": "",
        }
        for number, written in enumerate(item.sample.answers)
    ]


def _measure_rows(item: MatchedSample) -> list[Row]:
    """Our verdict from the logged log-probabilities, or the harness's own where it logged none; then its metrics.

    Of several passes each has its rows (`part` is its number), and the document those that they are reduced to.
    """
    rows = []
    for factors, sample in _passes(item):
        rows += _verdict_rows(dataclasses.replace(item, sample=sample), factors)
    if item.sample.repeats:
        rows += _reduced_rows(item, rows)
    for metric in item.sample.metrics:
        about: dict[str, Factor] = {}
        if metric.filter:
            about["setting"] = metric.filter
        if metric.repeat is not None:
            about["part"] = metric.repeat
        value = metric.value
        rows.append(
            measure_row(
                item.instance.id,
                f"reported {metric.name}",
                value,
                reason="" if value == value else "no number in the log",
                factors=about,
            )
        )
    return rows


def _verdict_rows(item: MatchedSample, factors: Mapping[str, Factor]) -> list[Row]:
    if item.sample.scored_options:
        return verdicts.judge(item.instance, _scores(item), POLICY, "float32", factors)
    rows = [measure_row(item.instance.id, "correct", item.sample.correct, reason=item.sample.reason, factors=factors)]
    if item.sample.chosen is not None and item.order:
        chosen = item.order.index(item.sample.chosen) if item.sample.chosen in item.order else math.nan
        rows.append(measure_row(item.instance.id, "chosen", chosen, factors=factors))
    return rows


def _reduced_rows(item: MatchedSample, rows_of_passes: Sequence[Mapping[str, Any]]) -> list[Row]:
    """The verdict over all passes, and the mean of what else each has."""
    if not item.sample.scored_options:
        return [measure_row(item.instance.id, "correct", item.sample.correct, reason=item.sample.reason)]
    rows = []
    for name in ("correct", "margin", "logprob"):
        values = [float(row["value"]) for row in rows_of_passes if row["measure"] == name]
        if values:
            reason = (
                repeats.describe_passes(values, "mean", "repeats")
                if name == "correct"
                else f"mean of {len(values)} repeats"
            )
            rows.append(measure_row(item.instance.id, name, repeats.reduce_values(values, "mean"), reason=reason))
    return rows
