"""Records as rows of the tables in schema.py, and back."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from explorer.finding import Finding
from explorer.records import Condition, Factor, Generation, Instance, Score
from explorer.stats.estimate import Estimate, Range, drawn_from_enough, units_of

# A row of a table of rows/schema.py, a value per column; null where a column is missing.
Row: TypeAlias = dict[str, Any]


def instance_row(instance: Instance, position: int) -> Row:
    """The instance as a row of `instances`; `payload` holds all of it."""
    return {
        "instance_id": instance.id,
        "benchmark": instance.benchmark,
        "split": instance.split,
        "grp": instance.group,
        "phenomenon": instance.phenomenon,
        "field": instance.field,
        "kind": instance.kind,
        "gold": instance.gold,
        "label": instance.label,
        "text_hash": instance.text_hash,
        "position": position,
        "payload": payload(instance),
    }


def payload(instance: Instance) -> str:
    """The whole instance as JSON."""
    # Not dataclasses.asdict, which copies every value first and takes ten times as long.
    fields = {name: getattr(instance, name) for name in _FIELDS}
    fields["conditions"] = [{"name": part.name, "regions": part.regions} for part in instance.conditions]
    fields["extra"] = dict(instance.extra)
    return _as_json(fields)


_FIELDS = tuple(field.name for field in dataclasses.fields(Instance))
_as_json = json.JSONEncoder(ensure_ascii=False).encode


def instance_of(text: str) -> Instance:
    """The instance that `payload` wrote."""
    fields = json.loads(text)
    fields["options"] = tuple(fields["options"])
    fields["conditions"] = tuple(Condition(part["name"], tuple(part["regions"])) for part in fields["conditions"])
    return Instance(**fields)


def score_row(score: Score, number: int, *, tokens: bool = True, context: bool = True) -> Row:
    """The score as a row of `scores`; `tokens` keeps the token lists, `context` the context's text."""
    request = score.request
    return {
        "instance_id": request.instance_id,
        "request": number,
        "option": request.option,
        "role": request.role,
        **request.factors,
        "logprob": score.sum,
        "tokens": len(score.tokens),
        "scored": score.scored,
        "chars": score.chars,
        "bytes": score.bytes,
        "greedy": score.greedy,
        "straddles": score.straddles,
        "truncated": score.truncated,
        "reason": score.reason,
        "context": request.context if context else None,
        "continuation": request.continuation,
        "token_texts": list(score.tokens) if tokens else None,
        "token_logprobs": list(score.logprobs) if tokens else None,
    }


def generation_row(generation: Generation, number: int, *, verdict: str = "") -> Row:
    """The generation as a row of `generations`."""
    request = generation.request
    return {
        "instance_id": request.instance_id,
        "request": number,
        "role": request.role,
        **request.factors,
        "prompt": request.context,
        "text": generation.text,
        "tokens": len(generation.token_ids),
        "finish": generation.finish,
        "verdict": verdict,
        "reason": generation.reason,
    }


def thought_rows(
    generations: Sequence[Generation], factors: Mapping[str, Factor] | None = None, name: str = "thought_chars"
) -> list[Row]:
    """A row of `measures` an instance whose answers had a thought before them: its characters; none without any."""
    sizes: dict[str, int] = {}
    for one in generations:
        if one.thought:
            sizes[one.request.instance_id] = sizes.get(one.request.instance_id, 0) + len(one.thought)
    return [measure_row(instance_id, name, float(size), factors=factors) for instance_id, size in sizes.items()]


def measure_row(
    instance_id: str,
    measure: str,
    value: float,
    *,
    option: int = -1,
    reason: str = "",
    factors: Mapping[str, Factor] | None = None,
) -> Row:
    """A number about an instance as a row of `measures`; nan wants a reason."""
    value = float(value)
    if math.isnan(value) and not reason:
        reason = "undefined"
    return {
        "instance_id": instance_id,
        "option": option,
        **(factors or {}),
        "measure": measure,
        "value": value,
        "reason": reason,
    }


def finding_row(
    finding: Finding,
    group: str,
    number: Estimate | float,
    *,
    factors: Mapping[str, Factor] | None = None,
    detail: Mapping[str, Any] | None = None,
) -> Row:
    """An estimate, or a bare number, about many instances as a row of `findings`.

    An interval from too few units is left out, with the reason. The detail says over how many `units` it is where these
    are not the n, and of what low and high are the `range` where they are no interval.
    """
    estimate = drawn_from_enough(number if isinstance(number, Estimate) else Estimate.point(number))
    units = units_of(estimate)
    if units != estimate.n:
        detail = {**(detail or {}), "units": units}
    if isinstance(estimate, Range):
        detail = {**(detail or {}), "range": estimate.of}
    return {
        "finding": finding.name,
        "grp": group,
        **(factors or {}),
        "value": float(estimate.value),
        "low": float(estimate.low),
        "high": float(estimate.high),
        "p": float(estimate.p),
        "n": int(estimate.n),
        "left_out": int(estimate.left_out),
        "reason": estimate.reason,
        "detail": json.dumps(detail, ensure_ascii=False) if detail else None,
    }
