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
    UNREADABLE,
    Dropped,
    Log,
    Metric,
    NotASample,
    Sample,
    ScoredOption,
    WrittenAnswer,
    all_texts,
    as_number,
    drop,
    first_reason,
    verdict_word,
    without_secrets,
)
from explorer.logs.opening import LogFile, check_values

KNOWN = "0.4"
REDUCER = "mean"  # of lines that answer one document again
MAX_RESULTS = 64 << 20  # bytes of a results_*.json
# What a line holds beside its metrics.
_FIELDS = {
    "doc_id",
    "doc",
    "target",
    "arguments",
    "resps",
    "filtered_resps",
    "filter",
    "metrics",
    "doc_hash",
    "prompt_hash",
    "target_hash",
}
# Metrics that are a verdict, the one that speaks first.
_VERDICTS = ("acc", "exact_match", "em", "contains")
_NAME = re.compile(r"samples_(?P<task>.+?)_(?P<date>\d{4}-\d{2}-\d{2}T[\d.-]+)")


@dataclasses.dataclass(slots=True)
class _Line:
    """A line that became a sample: which document it is about, which filter read the answers, and its bytes."""

    where: str
    key: str
    filter: str
    sample: Sample
    raw: bytes


def read_lines(file: LogFile) -> Log:
    """The log in a file of JSON Lines."""
    return _log(file, ((f"line {number}", raw) for number, raw in file.lines() if raw.strip()))


def read_array(file: LogFile) -> Log:
    """The log in a file that is one JSON array."""
    rows = file.read_json()
    return _log(file, ((f"entry {number}", json.dumps(row).encode()) for number, row in enumerate(rows, 1)))


def _log(file: LogFile, rows: Iterable[tuple[str, bytes]]) -> Log:
    lines: list[_Line] = []
    dropped: list[Dropped] = []
    documents: dict[str, list[str]] = {}
    for where, raw in rows:
        try:
            lines.append(_line(where, raw, documents))
        except UNREADABLE as error:
            dropped.append(drop(where, error, _as_text(raw), "the harness"))
    if not lines:
        raise LogError(
            f"{file.path.name} has no line that lm-evaluation-harness {KNOWN} writes{first_reason(dropped)}. Give a "
            "samples_*.jsonl."
        )
    match = _NAME.match(file.path.stem)
    task = match["task"] if match else file.path.name.split(".")[0].removeprefix("samples_")
    results = _read_results(file.folder, match["date"] if match else "", task)
    unique, copies = _without_copies(lines)
    samples, filters = _samples(unique)
    return Log(
        source=LM_EVAL,
        version=results.version,
        task=task,
        model=results.model,
        revision=results.revision,
        file=file.path.name,
        sha256=file.sha256,
        samples=samples,
        dropped=(*dropped, *copies),
        results=results.metrics,
        reducer=REDUCER if any(sample.repeats for sample in samples) else "",
        remarks=(
            *_about_results(results, task, file.path.name),
            *_about_samples(samples, filters, results),
            *_about_documents(documents),
        ),
        record=results.record,
    )


def _without_copies(lines: Sequence[_Line]) -> tuple[list[_Line], list[Dropped]]:
    """The lines without those that say the same again, and the latter.

    Where every document stands equally often, and not always with the same answer, the lines are repeats: then equal
    ones count, too.
    """
    seen: dict[tuple[str, str], dict[bytes, str]] = {}
    counts = Counter((line.key, line.filter) for line in lines)
    for line in lines:
        seen.setdefault((line.key, line.filter), {}).setdefault(line.raw, line.where)
    if len(set(counts.values())) == 1 and any(len(different) > 1 for different in seen.values()):
        return list(lines), []
    unique, copies = [], []
    for line in lines:
        first = seen[line.key, line.filter][line.raw]
        if first == line.where:
            unique.append(line)
        else:
            why = f"document {line.key} was in {first} already, with the same"
            copies.append(Dropped(line.where, why, _as_text(line.raw)))
    return unique, copies


def _as_text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _samples(lines: Sequence[_Line]) -> tuple[tuple[Sample, ...], list[str]]:
    """A sample a document: the first filter's verdict, over all repeats, with all filters' metrics; and the filters."""
    documents: dict[str, dict[str, list[Sample]]] = {}
    for line in lines:
        documents.setdefault(line.key, {}).setdefault(line.filter, []).append(line.sample)
    filters = list(dict.fromkeys(line.filter for line in lines))
    samples = []
    for by_filter in documents.values():
        readings = [
            passes[0] if len(passes) == 1 else repeats.merge_passes(passes, REDUCER, "repeats")
            for passes in (by_filter[name] for name in filters if name in by_filter)
        ]
        metrics = tuple(metric for sample in readings for metric in sample.metrics)
        samples.append(dataclasses.replace(readings[0], metrics=metrics))
    return tuple(samples), filters


def _about_documents(documents: Mapping[str, Sequence[str]]) -> Iterator[str]:
    if shared := sum(len(different) > 1 for different in documents.values()):
        yield f"{shared:,} numbers stand for more than one document each: the file holds several tasks or runs."


def _about_samples(samples: Sequence[Sample], filters: Sequence[str], results: Results) -> Iterator[str]:
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
    written = max((len({answer.repeat for answer in sample.answers} - {None}) for sample in samples), default=0)
    if written > 1 and not several:
        yield (
            f"Each document was answered up to {written} times; the filter {filters[0]} made one answer of them, and "
            "the verdict is of that, as the harness has it."
        )
    if results.documents is not None and results.asked is not None and results.asked < results.documents:
        yield f"The harness asked {results.asked:,} of the task's {results.documents:,} documents."
    elif results.limit:
        yield f"The harness was told to take a part of the documents only (limit {results.limit[:40]})."
    if results.asked is not None and results.asked > len(samples):
        yield f"The log holds {len(samples):,} of the {results.asked:,} documents that were asked."


# --- the results file


@dataclasses.dataclass(frozen=True, slots=True)
class Results:
    """What the results_*.json beside a log says of its task; without a file, nothing."""

    file: str = ""
    version: str = ""  # of the harness
    model: str = ""
    revision: str = ""
    limit: str = ""
    documents: int | None = None  # of the task
    asked: int | None = None  # of these
    metrics: Mapping[str, float] = dataclasses.field(default_factory=dict)
    record: Mapping[str, Any] = dataclasses.field(default_factory=dict)  # the conditions, for environment.json


def _read_results(folder: Path, date: str, task: str) -> Results:
    """The results that were written with the samples: of the same moment, else the newest that knows the task."""
    paths = sorted(folder.glob("results_*.json"), reverse=True)
    paths.sort(key=lambda path: not date or date not in path.name)
    for path in paths:
        try:
            if path.stat().st_size > MAX_RESULTS:
                continue
            fields = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError, RecursionError):
            continue
        if isinstance(fields, dict) and task in (fields.get("results") or {}):
            return _parse_results(path.name, fields, task)
    return _parse_results("", {}, task)


def _parse_results(file: str, fields: Mapping[str, Any], task: str) -> Results:
    config = fields.get("config") if isinstance(fields.get("config"), dict) else {}
    counts = (fields.get("n-samples") or {}).get(task) or {}
    metrics = (fields.get("results") or {}).get(task) or {}
    model, _, revision = _model(fields, config or {}).partition("@")
    return Results(
        file=file,
        version=str(fields.get("lm_eval_version") or ""),
        model=model,
        revision=revision,
        limit=str((config or {}).get("limit") or ""),
        documents=_count(counts.get("original")),
        asked=_count(counts.get("effective")),
        metrics={name: as_number(value) for name, value in metrics.items() if _is_result(name, value)},
        record={
            "results_file": file,
            "git_hash": fields.get("git_hash"),
            "date": fields.get("date"),
            "task_version": (fields.get("versions") or {}).get(task),
            "n_shot": (fields.get("n-shot") or {}).get(task),
            "config": without_secrets({**(config or {})}),
            "task_config": without_secrets((fields.get("configs") or {}).get(task) or {}),
        },
    )


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) else None


def _is_result(name: str, value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and "," in name and "_stderr" not in name


def _model(fields: Mapping[str, Any], config: Mapping[str, Any]) -> str:
    """The model as its arguments name it, with its revision after an @."""
    arguments = config.get("model_args") or ""
    if isinstance(arguments, str):
        arguments = dict(pair.partition("=")[::2] for pair in arguments.split(",") if "=" in pair)
    name = str(arguments.get("pretrained") or arguments.get("model") or fields.get("model_name") or "")
    revision = str(arguments.get("revision") or "")
    return f"{name}@{revision}" if revision and revision != "main" else name


def _about_results(results: Results, task: str, file: str) -> Iterator[str]:
    if not results.file:
        yield f"No results_*.json of {task} lies beside {file}, so its version and model are unknown."
    elif results.version and not results.version.startswith(f"{KNOWN}."):
        yield f"The log was made by version {results.version}; known here is {KNOWN}, so look at the figures twice."


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
        raise NotASample(str(error)) from None
    except UnicodeDecodeError as error:
        raise NotASample(f"byte {error.start} is not UTF-8, expected UTF-8") from None
    except ValueError as error:
        raise NotASample(f"no JSON ({error}), expected an object a line") from None
    if not isinstance(fields, dict):
        raise NotASample(f"a JSON {type(fields).__name__}, expected an object")
    missing = [name for name in ("doc_id", "doc", "arguments", "filtered_resps") if name not in fields]
    if missing:
        older = " (version 0.3 wrote other files)" if "prompt_0" in fields else ""
        raise NotASample(f"no {', '.join(missing)}, expected the fields of version {KNOWN}{older}")
    return fields


def _sample(where: str, key: str, fields: Mapping[str, Any]) -> Sample:
    arguments = _arguments(fields["arguments"])
    responses = fields["filtered_resps"]
    if not arguments or not isinstance(responses, list):
        raise NotASample("no arguments or no answers, expected one answer per request")
    metrics = _metrics(fields)
    verdict = next((metric for name in _VERDICTS for metric in metrics if metric.name == name), None)
    correct = verdict.value if verdict and verdict.value in (0.0, 0.5, 1.0) else math.nan
    base = Sample(
        where=where,
        key=key,
        texts=tuple(all_texts(fields["doc"])),
        target=str(fields.get("target", "")),
        correct=correct,
        reason="" if correct == correct else "the log has no verdict",
        metrics=metrics,
    )
    if _is_written(arguments):
        prompt = arguments[0][0]
        answer = WrittenAnswer(prompt, str(_first(responses)), verdict=verdict_word(correct))
        return dataclasses.replace(base, answers=(answer, *_repeated_answers(prompt, fields.get("resps"))))
    scores = [_parse_score(response) for response in responses]
    if len(scores) != len(arguments) or any(len(argument) < 2 for argument in arguments):
        raise NotASample(f"{len(scores)} answers to {len(arguments)} requests, expected a context and an option each")
    options = [
        ScoredOption(str(context), str(continuation), logprob, greedy)
        for (context, continuation, *_), (logprob, greedy) in zip(arguments, scores, strict=True)
    ]
    half = len(options) // 2
    # With mutual information the options are asked a second time, after nothing.
    if any(metric.name == "acc_mutual_info" for metric in metrics) and len(options) == 2 * half:
        base = dataclasses.replace(base, unconditional=tuple(option.logprob for option in options[half:]))
        options = options[:half]
    return dataclasses.replace(base, scored_options=tuple(options), gold=_gold(options, fields.get("target"), metrics))


def _arguments(value: Any) -> list[list[Any]]:
    """The arguments of each request, in order."""
    if isinstance(value, dict):
        value = [
            [argument for _, argument in sorted(part.items(), key=_place)] if isinstance(part, dict) else part
            for _, part in sorted(value.items(), key=_place)
        ]
    if not isinstance(value, list):
        raise NotASample("arguments is no list, expected the requests of the document")
    return [list(part) if isinstance(part, list | tuple) else [part] for part in value]


def _place(item: tuple[str, Any]) -> int:
    return int(re.sub(r"[^0-9]", "", item[0])[:9] or 0)


def _is_written(arguments: Sequence[Sequence[Any]]) -> bool:
    return len(arguments) == 1 and len(arguments[0]) > 1 and not isinstance(arguments[0][1], str)


def _parse_score(response: Any) -> tuple[float, bool | None]:
    if not isinstance(response, list | tuple) or not response:
        raise NotASample(f"an answer is {str(response)[:40]!r}, expected a log-probability and whether it is greedy")
    logprob = as_number(response[0])
    if not math.isfinite(logprob) or logprob > 0:
        raise NotASample(f"a log-probability is {str(response[0])[:40]!r}, expected a number of at most 0")
    greedy = as_number(response[1]) if len(response) > 1 else math.nan
    return logprob, None if math.isnan(greedy) else bool(greedy)


def _metrics(fields: Mapping[str, Any]) -> tuple[Metric, ...]:
    names = fields.get("metrics")
    listed = names if isinstance(names, list) else [name for name in fields if name not in _FIELDS]
    name = str(fields.get("filter") or "none")
    filter = "" if name == "none" else name
    numbers = ((str(name), fields.get(name)) for name in listed)
    return tuple(
        Metric(name, as_number(value), filter) for name, value in numbers if isinstance(value, bool | int | float | str)
    )


def _gold(options: Sequence[ScoredOption], target: Any, metrics: Sequence[Metric]) -> int | None:
    """The right option: what the target names, checked against the harness's own verdict where it has one."""
    if len(options) < 2:
        return 0
    best = max(range(len(options)), key=lambda i: options[i].logprob)
    acc = next((metric.value for metric in metrics if metric.name == "acc"), math.nan)
    target = str(target).strip()
    by_text = [i for i, option in enumerate(options) if option.continuation.strip() == target]
    candidates = [int(target)] if re.fullmatch(r"\d{1,4}", target) and int(target) < len(options) else []
    candidates += by_text if len(by_text) == 1 else []
    for index in candidates:
        if math.isnan(acc) or (index == best) == bool(acc):
            return index
    if acc == 1.0:
        return best
    return 1 - best if acc == 0.0 and len(options) == 2 else None


def _repeated_answers(prompt: str, responses: Any) -> Iterator[WrittenAnswer]:
    """Every answer to a prompt that was put several times, before a filter made one of them."""
    answers = responses[0] if isinstance(responses, list) and responses else None
    if isinstance(answers, list) and len(answers) > 1:
        for number, answer in enumerate(answers):
            yield WrittenAnswer(prompt, str(_first(answer)), repeat=number)


def _first(value: Any) -> Any:
    while isinstance(value, list) and value:
        value = value[0]
    return "" if isinstance(value, list) else value
