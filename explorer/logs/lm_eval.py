"""lm-evaluation-harness 0.4: samples_<task>_<date>.jsonl, with the results_<date>.json beside it where there is one.

A line is a document under one filter. Versions up to 0.4.2 wrote `arguments` as lists and a file as one JSON array;
later ones write gen_args_0 ... and numbers as text. All are read.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from explorer.errors import LogError
from explorer.logs.log import (
    LM_EVAL,
    MISSHAPEN,
    Asked,
    Dropped,
    Log,
    Metric,
    Sample,
    Written,
    as_number,
    texts_in,
    without_keys,
)
from explorer.logs.opening import Opened, check_values
from explorer.scoring.reduce import word_of

KNOWN = "0.4"
MOST_RESULTS = 64 << 20  # bytes of a results_*.json
# What a line holds beside its metrics.
_FIELDS = {
    "doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "doc_hash", "prompt_hash",
    "target_hash",
}  # fmt: skip
# Metrics that are a verdict, the one that speaks first.
_VERDICTS = ("acc", "exact_match", "em", "contains")
_NAME = re.compile(r"samples_(?P<task>.+?)_(?P<date>\d{4}-\d{2}-\d{2}T[\d.-]+)")


class _Unfit(Exception):
    """A line that becomes no sample; the text says why."""


@dataclasses.dataclass(slots=True)
class _Lines:
    """The samples so far: the first line of each document under the first filter, with all filters' metrics."""

    samples: dict[str, Sample] = dataclasses.field(default_factory=dict)
    seen: dict[tuple[str, str], tuple[str, str]] = dataclasses.field(default_factory=dict)
    dropped: list[Dropped] = dataclasses.field(default_factory=list)


def read_lines(file: Opened) -> Log:
    """The log in a file of JSON Lines."""
    return _log(file, ((f"line {number}", raw) for number, raw in file.lines() if raw.strip()))


def read_array(file: Opened) -> Log:
    """The log in a file that is one JSON array."""
    rows = file.as_json()
    named = (f"entry {number}" for number, _ in enumerate(rows, 1))
    return _log(file, ((where, json.dumps(row).encode()) for where, row in zip(named, rows)))


def _log(file: Opened, rows: Iterable[tuple[str, bytes]]) -> Log:
    found = _Lines()
    for where, raw in rows:
        try:
            _take(found, where, raw)
        except _Unfit as error:
            found.dropped.append(Dropped(where, str(error), raw.decode("utf-8", "surrogateescape")))
        except MISSHAPEN as error:
            why = f"not put together as the harness does it ({error})"
            found.dropped.append(Dropped(where, why, raw.decode("utf-8", "surrogateescape")))
    if not found.samples:
        why = f"; the first: {found.dropped[0].where}: {found.dropped[0].reason}" if found.dropped else ""
        raise LogError(
            f"{file.path.name} has no line that lm-evaluation-harness {KNOWN} writes{why}. Give a samples_*.jsonl."
        )
    match = _NAME.match(file.path.stem)
    task = match["task"] if match else file.path.name.split(".")[0].removeprefix("samples_")
    results, name = _results(file.folder, match["date"] if match else "", task)
    return _described(file, found, task, results, name)


def _described(file: Opened, found: _Lines, task: str, results: Mapping[str, Any], results_name: str) -> Log:
    """The log with what its results say of model, version and the whole."""
    config = results.get("config") if isinstance(results.get("config"), dict) else {}
    version = str(results.get("lm_eval_version") or "")
    model, _, revision = _model(results, config or {}).partition("@")
    whole = (results.get("results") or {}).get(task) or {}
    remarks = []
    if not results:
        remarks.append(
            f"No results_*.json of {task} lies beside {file.path.name}, so its version and model are unknown."
        )
    elif version and not version.startswith(f"{KNOWN}."):
        remarks.append(f"The log was made by version {version}; known here is {KNOWN}, so look at the figures twice.")
    return Log(
        source=LM_EVAL,
        version=version,
        task=task,
        model=model,
        revision=revision,
        file=file.path.name,
        sha256=file.sha256,
        samples=tuple(found.samples.values()),
        dropped=tuple(found.dropped),
        results={name: float(value) for name, value in whole.items() if _is_result(name, value)},
        remarks=tuple(remarks),
        record={
            "results_file": results_name,
            "git_hash": results.get("git_hash"),
            "date": results.get("date"),
            "task_version": (results.get("versions") or {}).get(task),
            "n_shot": (results.get("n-shot") or {}).get(task),
            "config": without_keys({**(config or {})}),
            "task_config": without_keys((results.get("configs") or {}).get(task) or {}),
        },
    )


def _is_result(name: str, value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and "," in name and "_stderr" not in name


def _model(results: Mapping[str, Any], config: Mapping[str, Any]) -> str:
    """The model as its arguments name it, with its revision after an @."""
    arguments = config.get("model_args") or ""
    if isinstance(arguments, str):
        arguments = dict(pair.partition("=")[::2] for pair in arguments.split(",") if "=" in pair)
    name = str(arguments.get("pretrained") or arguments.get("model") or results.get("model_name") or "")
    revision = str(arguments.get("revision") or "")
    return f"{name}@{revision}" if revision and revision != "main" else name


def _results(folder: Path, date: str, task: str) -> tuple[dict[str, Any], str]:
    """The results that were written with the samples: of the same moment, else the newest that knows the task."""
    paths = sorted(folder.glob("results_*.json"), reverse=True)
    paths.sort(key=lambda path: not date or date not in path.name)
    for path in paths:
        try:
            if path.stat().st_size > MOST_RESULTS:
                continue
            fields = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError, RecursionError):
            continue
        if isinstance(fields, dict) and task in (fields.get("results") or {}):
            return fields, path.name
    return {}, ""


# --- one line


def _take(found: _Lines, where: str, raw: bytes) -> None:
    fields = _parse(raw)
    key, filter = str(fields["doc_id"]), str(fields.get("filter") or "none")
    first = found.seen.get((key, filter))
    digest = str(hash(raw))
    if first:
        same = "the same" if first[1] == digest else "another answer; the first is kept"
        raise _Unfit(f"document {key} was in {first[0]} already, with {same}")
    sample = _sample(where, key, fields)
    found.seen[key, filter] = (where, digest)
    if key not in found.samples:
        found.samples[key] = sample
        return
    held = found.samples[key]
    found.samples[key] = dataclasses.replace(held, metrics=held.metrics + sample.metrics)


def _parse(raw: bytes) -> dict[str, Any]:
    try:
        check_values(raw, "it")
        fields = json.loads(raw.decode("utf-8-sig"))
    except LogError as error:
        raise _Unfit(str(error)) from None
    except UnicodeDecodeError as error:
        raise _Unfit(f"byte {error.start} is not UTF-8, expected UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise _Unfit(f"no JSON ({error}), expected an object a line") from None
    if not isinstance(fields, dict):
        raise _Unfit(f"a JSON {type(fields).__name__}, expected an object")
    missing = [name for name in ("doc_id", "doc", "arguments", "filtered_resps") if name not in fields]
    if missing:
        older = " (version 0.3 wrote other files)" if "prompt_0" in fields else ""
        raise _Unfit(f"no {', '.join(missing)}, expected the fields of version {KNOWN}{older}")
    return fields


def _sample(where: str, key: str, fields: Mapping[str, Any]) -> Sample:
    arguments = _arguments(fields["arguments"])
    responses = fields["filtered_resps"]
    if not arguments or not isinstance(responses, list):
        raise _Unfit("no arguments or no answers, expected one answer a request")
    metrics = _metrics(fields)
    verdict = next((metric for name in _VERDICTS for metric in metrics if metric.name == name), None)
    correct = verdict.value if verdict and verdict.value in (0.0, 0.5, 1.0) else math.nan
    base = Sample(
        where=where,
        key=key,
        texts=tuple(texts_in(fields["doc"])),
        target=str(fields.get("target", "")),
        correct=correct,
        reason="" if correct == correct else "the log has no verdict",
        metrics=metrics,
    )
    if _is_written(arguments):
        finish = Written(arguments[0][0], str(_first(responses)), verdict=_word(correct))
        return dataclasses.replace(base, written=(finish,))
    pairs = [_scored(response) for response in responses]
    if len(pairs) != len(arguments) or any(len(argument) < 2 for argument in arguments):
        raise _Unfit(f"{len(pairs)} answers to {len(arguments)} requests, expected a context and an option each")
    asked = [
        Asked(str(context), str(continuation), logprob, greedy)
        for (context, continuation, *_), (logprob, greedy) in zip(arguments, pairs)
    ]
    half = len(asked) // 2
    # With mutual information the options are asked a second time, after nothing.
    if any(metric.name == "acc_mutual_info" for metric in metrics) and len(asked) == 2 * half:
        base = dataclasses.replace(base, unconditional=tuple(one.logprob for one in asked[half:]))
        asked = asked[:half]
    return dataclasses.replace(base, asked=tuple(asked), gold=_gold(asked, fields.get("target"), metrics))


def _arguments(value: Any) -> list[list[Any]]:
    """The arguments of each request, in order."""
    if isinstance(value, dict):
        named = sorted(value.items(), key=lambda item: int(re.sub(r"\D", "", item[0]) or 0))
        value = [
            [one for _, one in sorted(part.items(), key=lambda item: int(re.sub(r"\D", "", item[0]) or 0))]
            if isinstance(part, dict)
            else part
            for _, part in named
        ]
    if not isinstance(value, list):
        raise _Unfit("arguments is no list, expected the requests of the document")
    return [list(part) if isinstance(part, list | tuple) else [part] for part in value]


def _is_written(arguments: Sequence[Sequence[Any]]) -> bool:
    return len(arguments) == 1 and len(arguments[0]) > 1 and not isinstance(arguments[0][1], str)


def _scored(response: Any) -> tuple[float, bool | None]:
    if not isinstance(response, list | tuple) or not response:
        raise _Unfit(f"an answer is {str(response)[:40]!r}, expected a log-probability and whether it is greedy")
    logprob = as_number(response[0])
    if not math.isfinite(logprob):
        raise _Unfit(f"a log-probability is {str(response[0])[:40]!r}, expected a number")
    greedy = as_number(response[1]) if len(response) > 1 else math.nan
    return logprob, None if math.isnan(greedy) else bool(greedy)


def _metrics(fields: Mapping[str, Any]) -> tuple[Metric, ...]:
    names = fields.get("metrics")
    listed = names if isinstance(names, list) else [name for name in fields if name not in _FIELDS]
    told = str(fields.get("filter") or "none")
    filter = "" if told == "none" else told
    numbers = ((str(name), fields.get(name)) for name in listed)
    return tuple(
        Metric(name, as_number(value), filter) for name, value in numbers if isinstance(value, bool | int | float | str)
    )


def _gold(asked: Sequence[Asked], target: Any, metrics: Sequence[Metric]) -> int | None:
    """The right option: what the target names, checked against the harness's own verdict where it has one."""
    if len(asked) < 2:
        return 0
    best = max(range(len(asked)), key=lambda i: asked[i].logprob)
    right = next((metric.value for metric in metrics if metric.name == "acc"), math.nan)
    told = str(target).strip()
    named = [i for i, one in enumerate(asked) if one.continuation.strip() == told]
    found = [int(told)] if re.fullmatch(r"\d{1,4}", told) and int(told) < len(asked) else []
    found += named if len(named) == 1 else []
    for index in found:
        if math.isnan(right) or (index == best) == bool(right):
            return index
    if right == 1.0:
        return best
    return 1 - best if right == 0.0 and len(asked) == 2 else None


def _first(value: Any) -> Any:
    while isinstance(value, list) and value:
        value = value[0]
    return "" if isinstance(value, list) else value


def _word(correct: float) -> str:
    return "" if (word := word_of(correct)) == "none" else word
