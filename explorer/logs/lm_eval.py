"""lm-evaluation-harness 0.4: samples_<task>_<date>.jsonl, with the results_<date>.json beside it where there is one.

A line is a document under one filter. Versions up to 0.4.2 wrote `arguments` as lists and a file as one JSON array;
later ones write gen_args_0 ... and numbers as text. All are read.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from explorer import plain_json
from explorer.errors import LogError
from explorer.logs import repeats
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
REDUCER = "mean"  # of lines that answer one document again
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
class _Line:
    """A line that became a sample: which document it is about, which filter read the answers, and its bytes."""

    where: str
    key: str
    filter: str
    sample: Sample
    raw: bytes


def read_lines(file: Opened) -> Log:
    """The log in a file of JSON Lines."""
    return _log(file, ((f"line {number}", raw) for number, raw in file.lines() if raw.strip()))


def read_array(file: Opened) -> Log:
    """The log in a file that is one JSON array."""
    rows = file.as_json()
    named = (f"entry {number}" for number, _ in enumerate(rows, 1))
    return _log(file, ((where, json.dumps(row).encode()) for where, row in zip(named, rows, strict=False)))


def _log(file: Opened, rows: Iterable[tuple[str, bytes]]) -> Log:
    lines: list[_Line] = []
    dropped: list[Dropped] = []
    documents: dict[str, list[str]] = {}
    for where, raw in rows:
        try:
            lines.append(_line(where, raw, documents))
        except _Unfit as error:
            dropped.append(Dropped(where, str(error), raw.decode("utf-8", "surrogateescape")))
        except MISSHAPEN as error:
            why = f"not put together as the harness does it ({error})"
            dropped.append(Dropped(where, why, raw.decode("utf-8", "surrogateescape")))
    if not lines:
        why = f"; the first: {dropped[0].where}: {dropped[0].reason}" if dropped else ""
        raise LogError(
            f"{file.path.name} has no line that lm-evaluation-harness {KNOWN} writes{why}. Give a samples_*.jsonl."
        )
    match = _NAME.match(file.path.stem)
    task = match["task"] if match else file.path.name.split(".")[0].removeprefix("samples_")
    results, name = _results(file.folder, match["date"] if match else "", task)
    kept, again = _without_copies(lines)
    log = _described(file, kept, [*dropped, *again], task, results, name)
    if shared := sum(len(found) > 1 for found in documents.values()):
        remark = f"{shared:,} numbers stand for more than one document each: the file holds several tasks or runs."
        log = dataclasses.replace(log, remarks=(*log.remarks, remark))
    return log


def _without_copies(lines: Sequence[_Line]) -> tuple[list[_Line], list[Dropped]]:
    """The lines without those that say the same again, and the latter.

    Where every document stands equally often, and not always with the same answer, the lines are repeats: then equal
    ones count, too.
    """
    seen: dict[tuple[str, str], dict[bytes, str]] = {}
    counts = Counter((line.key, line.filter) for line in lines)
    for line in lines:
        seen.setdefault((line.key, line.filter), {}).setdefault(line.raw, line.where)
    if len(set(counts.values())) == 1 and any(len(found) > 1 for found in seen.values()):
        return list(lines), []
    kept, again = [], []
    for line in lines:
        first = seen[line.key, line.filter][line.raw]
        if first == line.where:
            kept.append(line)
        else:
            why = f"document {line.key} was in {first} already, with the same"
            again.append(Dropped(line.where, why, line.raw.decode("utf-8", "surrogateescape")))
    return kept, again


def _samples(lines: Sequence[_Line]) -> tuple[tuple[Sample, ...], list[str]]:
    """A sample a document: the first filter's verdict, over all repeats, with all filters' metrics; and the filters."""
    documents: dict[str, dict[str, list[Sample]]] = {}
    for line in lines:
        documents.setdefault(line.key, {}).setdefault(line.filter, []).append(line.sample)
    filters = list(dict.fromkeys(line.filter for line in lines))
    made = []
    for by_filter in documents.values():
        own = [
            passes[0] if len(passes) == 1 else repeats.together(passes, REDUCER, "repeats")
            for passes in (by_filter[name] for name in filters if name in by_filter)
        ]
        metrics = tuple(metric for sample in own for metric in sample.metrics)
        made.append(dataclasses.replace(own[0], metrics=metrics))
    return tuple(made), filters


def _about_samples(
    samples: Sequence[Sample], filters: Sequence[str], results: Mapping[str, Any], task: str
) -> Iterator[str]:
    """What of the log's samples a reader would not see in its figures."""
    if len(filters) > 1:
        yield (
            f"The answers were read by {len(filters)} filters: verdicts are those of {filters[0]}; "
            f"{', '.join(filters[1:])} stand beside as reported metrics."
        )
    several = [len(sample.repeats) for sample in samples if sample.repeats]
    if several:
        yield (
            f"{len(several):,} documents stand in up to {max(several)} lines with answers of their own; the verdict is "
            "the mean over all of them, and each is kept."
        )
    written = max((len({one.repeat for one in sample.written} - {None}) for sample in samples), default=0)
    if written > 1 and not several:
        yield (
            f"Each document was answered up to {written} times; the filter {filters[0]} made one answer of them, and "
            "the verdict is of that, as the harness has it."
        )
    limit = (results.get("config") or {}).get("limit") if isinstance(results.get("config"), dict) else None
    counts = (results.get("n-samples") or {}).get(task) or {}
    whole, asked = counts.get("original"), counts.get("effective")
    if isinstance(whole, int) and isinstance(asked, int) and asked < whole:
        yield f"The harness asked {asked:,} of the task's {whole:,} documents."
    elif limit:
        yield f"The harness was told to take a part of the documents only (limit {str(limit)[:40]})."
    if isinstance(asked, int) and asked > len(samples):
        yield f"The log holds {len(samples):,} of the {asked:,} documents that were asked."


def _described(
    file: Opened,
    lines: Sequence[_Line],
    dropped: Sequence[Dropped],
    task: str,
    results: Mapping[str, Any],
    results_name: str,
) -> Log:
    """The log with what its results say of model, version and the whole."""
    config = results.get("config") if isinstance(results.get("config"), dict) else {}
    version = str(results.get("lm_eval_version") or "")
    model, _, revision = _model(results, config or {}).partition("@")
    whole = (results.get("results") or {}).get(task) or {}
    samples, filters = _samples(lines)
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
        samples=samples,
        dropped=tuple(dropped),
        results={name: as_number(value) for name, value in whole.items() if _is_result(name, value)},
        reducer=REDUCER if any(sample.repeats for sample in samples) else "",
        remarks=(*remarks, *_about_samples(samples, filters, results, task)),
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


def _line(where: str, raw: bytes, documents: dict[str, list[str]]) -> _Line:
    """A line's sample; `documents` tells apart what stands under one number."""
    fields = _parse(raw)
    number, filter = str(fields["doc_id"]), str(fields.get("filter") or "none")
    same = documents.setdefault(number, [])
    document = json.dumps(fields["doc"], sort_keys=True, default=str)
    if document not in same:
        same.append(document)
    place = same.index(document)
    key = f"{number}#{place + 1}" if place else number
    return _Line(where, key, filter, _sample(where, key, fields), raw)


def _parse(raw: bytes) -> dict[str, Any]:
    try:
        check_values(raw, "it")
        fields = plain_json.read(raw.decode("utf-8-sig"))
    except LogError as error:
        raise _Unfit(str(error)) from None
    except UnicodeDecodeError as error:
        raise _Unfit(f"byte {error.start} is not UTF-8, expected UTF-8") from None
    except ValueError as error:
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
        return dataclasses.replace(base, written=(finish, *_each(arguments[0][0], fields.get("resps"))))
    pairs = [_scored(response) for response in responses]
    if len(pairs) != len(arguments) or any(len(argument) < 2 for argument in arguments):
        raise _Unfit(f"{len(pairs)} answers to {len(arguments)} requests, expected a context and an option each")
    asked = [
        Asked(str(context), str(continuation), logprob, greedy)
        for (context, continuation, *_), (logprob, greedy) in zip(arguments, pairs, strict=False)
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
        named = sorted(value.items(), key=_place)
        value = [
            [one for _, one in sorted(part.items(), key=_place)] if isinstance(part, dict) else part
            for _, part in named
        ]
    if not isinstance(value, list):
        raise _Unfit("arguments is no list, expected the requests of the document")
    return [list(part) if isinstance(part, list | tuple) else [part] for part in value]


def _place(item: tuple[str, Any]) -> int:
    return int(re.sub(r"[^0-9]", "", item[0])[:9] or 0)


def _is_written(arguments: Sequence[Sequence[Any]]) -> bool:
    return len(arguments) == 1 and len(arguments[0]) > 1 and not isinstance(arguments[0][1], str)


def _scored(response: Any) -> tuple[float, bool | None]:
    if not isinstance(response, list | tuple) or not response:
        raise _Unfit(f"an answer is {str(response)[:40]!r}, expected a log-probability and whether it is greedy")
    logprob = as_number(response[0])
    if not math.isfinite(logprob) or logprob > 0:
        raise _Unfit(f"a log-probability is {str(response[0])[:40]!r}, expected a number of at most 0")
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


def _each(prompt: str, responses: Any) -> Iterator[Written]:
    """Every answer to a prompt that was put several times, before a filter made one of them."""
    answers = responses[0] if isinstance(responses, list) and responses else None
    if isinstance(answers, list) and len(answers) > 1:
        for number, answer in enumerate(answers):
            yield Written(prompt, str(_first(answer)), repeat=number)


def _first(value: Any) -> Any:
    while isinstance(value, list) and value:
        value = value[0]
    return "" if isinstance(value, list) else value


def _word(correct: float) -> str:
    return "" if (word := word_of(correct)) == "none" else word
