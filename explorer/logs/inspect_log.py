"""Inspect (inspect-ai): a log as one JSON file, or as .eval, a zip with header.json and a file per sample.

Read here without the package: the header's `eval` and `results`, and of each sample its id, epoch, input, choices,
target, output, scores and error. Long texts stand under `attachments` and are put back.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
import zipfile
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from explorer import plain_json, unpacking
from explorer.errors import LogError
from explorer.logs import repeats
from explorer.logs.log import (
    INSPECT,
    UNREADABLE,
    Dropped,
    Log,
    Metric,
    NotASample,
    Sample,
    WrittenAnswer,
    all_texts,
    as_number,
    drop,
    first_reason,
    verdict_word,
    without_secrets,
)
from explorer.logs.opening import MAX_BYTES, LogFile, check_values
from explorer.logs.zipped import entry_bytes

KNOWN = 2  # version of the log format
MAX_ENTRIES = 500_000
MAX_EPOCHS = 1_000_000
MAX_RECORD = 2_000  # characters of one part of the configuration that are kept
# Inspect's own reading of a score as a number.
_VALUES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "yes": 1.0, "no": 0.0, "true": 1.0, "false": 0.0}
_ATTACHED = re.compile(r"attachment://([0-9a-fA-F]+)")

_Entry = tuple[str, Any]  # where it stands, the sample or what is wrong with it


def read_json(file: LogFile, fields: Mapping[str, Any]) -> Log:
    """The log in a JSON file."""
    samples = fields.get("samples")
    if not isinstance(samples, list):
        samples = []
    entries = ((f"sample {number}", sample) for number, sample in enumerate(samples, 1))
    return _log(file, fields, entries)


def read_eval(file: LogFile) -> Log:
    """The log in an .eval file."""
    name = file.path.name
    try:
        with zipfile.ZipFile(file.stream) as archive:
            entries = archive.infolist()
            limit = unpacking.most(sum(entry.compress_size for entry in entries), MAX_BYTES)
            if len(entries) > MAX_ENTRIES or sum(entry.file_size for entry in entries) > limit:
                raise LogError(f"{name} unpacks to more than {limit >> 20:,} MiB, expected less. Cut it into pieces.")
            names = set(archive.namelist())
            head = next((head for head in ("header.json", "_journal/start.json") if head in names), None)
            if head is None:
                raise LogError(
                    f"{name} is a zip file without header.json, so it is no log of Inspect. Give an .eval file."
                )
            fields = _json(file, archive, head)
            if "reductions.json" in names and isinstance(fields, dict):
                fields["reductions"] = _json(file, archive, "reductions.json")
            return _log(file, fields, _entries(file, archive))
    except (zipfile.BadZipFile, ValueError, RecursionError, zlib.error, EOFError, NotImplementedError) as error:
        raise LogError(f"{name} is damaged ({error}). Get it again.") from error


def _entries(file: LogFile, archive: zipfile.ZipFile) -> Iterator[_Entry]:
    for entry in archive.infolist():
        if entry.filename.startswith("samples/") and entry.filename.endswith(".json"):
            try:
                yield entry.filename, _json(file, archive, entry.filename)
            except (LogError, ValueError, RecursionError, zipfile.BadZipFile, zlib.error, EOFError) as error:
                yield entry.filename, f"damaged ({error})"


def _json(file: LogFile, archive: zipfile.ZipFile, name: str) -> Any:
    data = entry_bytes(archive, name)
    check_values(data, f"{name} in {file.path.name}")
    return plain_json.read(data)


def _log(file: LogFile, fields: Mapping[str, Any], entries: Iterable[_Entry]) -> Log:
    header = _parse_header(file, fields)
    groups: dict[str, list[tuple[int, Sample]]] = defaultdict(list)
    dropped: list[Dropped] = []
    seen: dict[tuple[str, int], str] = {}
    failed = 0
    for where, entry in entries:
        try:
            sample, epoch = _sample(where, entry, header.scorers)
            if (sample.key, epoch) in seen:
                raise NotASample(f"sample {sample.key} was in {seen[sample.key, epoch]} already; the first is kept")
            seen[sample.key, epoch] = where
            groups[sample.key].append((epoch, sample))
            failed += bool(isinstance(entry, dict) and entry.get("error"))
        except UNREADABLE as error:
            dropped.append(drop(where, error, json.dumps(entry, ensure_ascii=False, default=str), INSPECT))
    if not groups:
        raise LogError(
            f"{file.path.name} holds no sample{first_reason(dropped)}. Run Inspect again without --no-log-samples."
        )
    samples = tuple(_merge_epochs(key, epochs, header) for key, epochs in groups.items())
    return Log(
        source=INSPECT,
        version=header.version,
        task=header.task,
        model=header.model,
        revision="",
        file=file.path.name,
        sha256=file.sha256,
        samples=samples,
        dropped=tuple(dropped),
        results=header.results,
        reducer=header.reducers[0] if any(sample.repeats for sample in samples) else "",
        remarks=(*_about_header(header), *_about_samples(header, samples, failed)),
        record=header.record,
    )


# --- the header


@dataclasses.dataclass(frozen=True, slots=True)
class Header:
    """What a log says of its samples as a whole."""

    task: str
    model: str
    version: str  # of Inspect
    status: str
    format: int  # version of the log format
    scorers: tuple[str, ...]  # in the order of the results; the first one gives the verdict
    reducers: tuple[str, ...]  # how epochs become one score; the first one for the verdict
    verdicts: Mapping[str, float]  # sample's id → the verdict over its epochs, where the log has it
    limit: str
    total: int | None  # samples of the task
    completed: int | None  # of these
    results: Mapping[str, float]  # metric,scorer → what Inspect says of the whole
    record: Mapping[str, Any]  # the conditions, for environment.json


def _parse_header(file: LogFile, fields: Mapping[str, Any]) -> Header:
    about = fields.get("eval") if isinstance(fields, dict) else None
    if not isinstance(about, dict):
        raise LogError(f"{file.path.name} does not say what was evaluated, expected an `eval` in it. Get it again.")
    config, results = about.get("config") or {}, fields.get("results") or {}
    scores = results.get("scores") or []
    scorers = tuple(str(score.get("scorer") or score.get("name")) for score in scores if isinstance(score, dict))
    reducers = _reducers(config, scores)
    model = str(about.get("model") or "")
    format = fields.get("version")
    return Header(
        task=str(about.get("task") or "task").split("/")[-1],
        model="" if model == "none/none" else model,
        version=str((about.get("packages") or {}).get("inspect_ai") or ""),
        status=str(fields.get("status") or "unfinished"),
        format=format if isinstance(format, int) else KNOWN,
        scorers=scorers,
        reducers=reducers,
        verdicts=_reduced_verdicts(fields.get("reductions"), scorers, reducers[0]),
        limit=str(config.get("limit") or ""),
        total=_count(results.get("total_samples")),
        completed=_count(results.get("completed_samples")),
        results=_results(scores),
        record={
            name: _shorten(without_secrets(about.get(name)))
            for name in (
                "created",
                "task",
                "task_version",
                "task_args",
                "model_args",
                "model_generate_config",
                "config",
            )
        },
    )


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) else None


def _shorten(value: Any) -> Any:
    """The value, or its size where it is long: a mock model's arguments hold all its answers."""
    size = len(json.dumps(value, default=str))
    return value if size <= MAX_RECORD else f"left out, {size:,} characters"


def _reducers(config: Mapping[str, Any], scores: Sequence[Any]) -> tuple[str, ...]:
    """The reducers as the configuration and the results name them; the mean where the log does not say."""
    configured = config.get("epochs_reducer")
    names = [configured] if isinstance(configured, str) else configured if isinstance(configured, list) else []
    names = [*names, *(score.get("reducer") for score in scores if isinstance(score, dict))]
    return tuple(dict.fromkeys(str(name) for name in names if name)) or ("mean",)


def _reduced_verdicts(reductions: Any, scorers: Sequence[str], reducer: str) -> dict[str, float]:
    for reduction in reductions if isinstance(reductions, list) else ():
        if isinstance(reduction, dict) and str(reduction.get("reducer") or reducer) == reducer:
            if scorers and str(reduction.get("scorer")) != scorers[0]:
                continue
            scores = [score for score in reduction.get("samples") or [] if isinstance(score, dict)]
            return {str(score.get("sample_id")): _number(score.get("value")) for score in scores}
    return {}


def _results(scores: Sequence[Any]) -> dict[str, float]:
    results: dict[str, float] = {}
    for score in scores:
        for name, metric in (score.get("metrics") or {}).items():
            value = metric.get("value") if isinstance(metric, dict) else None
            if isinstance(value, int | float) and not isinstance(value, bool):
                key = f"{name},{score.get('name')}"
                # Of several reducers of a scorer the first has the plain name.
                results[f"{key},{score.get('reducer')}" if key in results else key] = as_number(value)
    return results


def _about_header(header: Header) -> Iterator[str]:
    if header.status != "success":
        yield f"Inspect calls this log {header.status!r}, so samples may be missing."
    if header.format > KNOWN:
        yield f"The log has format {header.format}; known here is {KNOWN}, so look at the figures twice."


def _about_samples(header: Header, samples: Sequence[Sample], failed: int) -> Iterator[str]:
    """What of the log's samples a reader would not see in its figures."""
    counts = Counter(len(sample.repeats) or 1 for sample in samples)
    epochs = max(counts)
    verdict_reducer, *other_reducers = header.reducers
    if epochs > 1:
        yield (
            f"Each sample was answered in {epochs} epochs, and its verdict is the {verdict_reducer} of them, as in the "
            "log; every epoch is kept."
        )
        if len(counts) > 1:
            yield f"{sum(counts.values()) - counts[epochs]:,} samples have fewer than {epochs} epochs."
        if not repeats.is_known(verdict_reducer):
            yield f"The reducer {verdict_reducer} is not known here: where the log tells no verdict, the mean stands."
        if other_reducers:
            yield f"The log reduces by {', '.join(other_reducers)}, too; those figures stand as the log gives them."
    if header.limit:
        yield f"Inspect was told to take a part of the samples only (limit {header.limit[:40]})."
    if header.total is not None and header.completed is not None and header.completed < header.total:
        yield f"Inspect completed {header.completed:,} of {header.total:,} samples."
    if failed:
        yield f"{failed:,} samples ended in an error, each with its reason."
    verdict_scorer, *other_scorers = dict.fromkeys(header.scorers) or [""]
    if other_scorers:
        yield f"Verdicts are those of the scorer {verdict_scorer}; {', '.join(other_scorers)} stand beside them."


# --- one sample


def _sample(where: str, entry: Any, scorers: Sequence[str]) -> tuple[Sample, int]:
    if isinstance(entry, str):
        raise NotASample(entry)
    if not isinstance(entry, dict) or "id" not in entry or "input" not in entry:
        raise NotASample("no id or no input, expected a sample")
    fields = _with_attachments(entry)
    epoch = int(fields.get("epoch") or 1)
    if not 1 <= epoch <= MAX_EPOCHS:
        raise NotASample(f"epoch {str(epoch)[:40]}, expected 1 to {MAX_EPOCHS:,}")
    scores = fields.get("scores") or {}
    names = [name for name in scorers if name in scores] or list(scores)
    correct, reason = _verdict(scores.get(names[0]) if names else None, fields.get("error"))
    prompt = _prompt(fields["input"])
    output = fields.get("output") or {}
    choices = tuple(map(str, fields.get("choices") or ()))
    target = fields.get("target")
    first_target = str(target[0] if isinstance(target, list) and target else target or "")
    text, finish = _completion(output)
    answer = (scores.get(names[0]) or {}).get("answer") if names else None
    return Sample(
        where=where,
        key=str(fields["id"]),
        texts=(prompt, *choices, *all_texts(target), *all_texts(fields.get("metadata") or {})),
        answers=(WrittenAnswer(prompt, text, finish, verdict_word(correct), repeat=epoch - 1),),
        choices=choices,
        target=first_target,
        gold=_choice_named(first_target, choices),
        chosen=_choice_named(str(answer or ""), choices),
        correct=correct,
        reason=reason,
        metrics=tuple(_metrics(scores, epoch - 1)),
    ), epoch


def _merge_epochs(key: str, epochs: Sequence[tuple[int, Sample]], header: Header) -> Sample:
    """The epochs of a sample as one."""
    if len(epochs) == 1:
        only = epochs[0][1]
        return dataclasses.replace(
            only,
            answers=tuple(dataclasses.replace(answer, repeat=None) for answer in only.answers),
            metrics=tuple(dataclasses.replace(metric, repeat=None) for metric in only.metrics),
        )
    ordered = [sample for _, sample in sorted(epochs, key=lambda pair: pair[0])]
    verdict = header.verdicts.get(key, math.nan)
    return repeats.merge_passes(ordered, header.reducers[0], "epochs", verdict if 0.0 <= verdict <= 1.0 else math.nan)


_WANTED = ("id", "epoch", "input", "choices", "target", "metadata", "output", "scores", "error")
MAX_REPEATS = 4  # times that a long text of a sample may stand in it


def _with_attachments(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The sample's own fields with the long texts in their places; its events are left aside."""
    attachments = entry.get("attachments") or {}
    fields = {name: entry[name] for name in _WANTED if name in entry}
    if not attachments:
        return fields
    # A text that is named again and again could grow a small log beyond memory.
    room = [MAX_REPEATS * sum(len(text) for text in attachments.values()) + 65536]
    return {name: _insert(value, attachments, room) for name, value in fields.items()}


def _insert(value: Any, attachments: Mapping[str, str], room: list[int]) -> Any:
    def text_of(match: re.Match[str]) -> str:
        text = str(attachments.get(match[1], match[0]))
        room[0] -= len(text)
        if room[0] < 0:
            raise NotASample(f"its long texts stand in it more than {MAX_REPEATS} times")
        return text

    if isinstance(value, str):
        return _ATTACHED.sub(text_of, value)
    if isinstance(value, dict):
        return {name: _insert(item, attachments, room) for name, item in value.items()}
    return [_insert(item, attachments, room) for item in value] if isinstance(value, list) else value


def _prompt(value: Any) -> str:
    """The input as text: a string as it is, of a conversation each turn under its role."""
    if isinstance(value, str):
        return value
    turns = [turn for turn in value if isinstance(turn, dict)] if isinstance(value, list) else []
    texts = [(str(turn.get("role") or "user"), _content(turn.get("content"))) for turn in turns]
    return texts[0][1] if len(texts) == 1 else "\n\n".join(f"{role}: {text}" for role, text in texts)


def _content(value: Any) -> str:
    if isinstance(value, list):
        return "\n".join(str(part.get("text") or "") for part in value if isinstance(part, dict) and "text" in part)
    return str(value or "")


def _completion(output: Mapping[str, Any]) -> tuple[str, str]:
    """What the model wrote, and why it stopped."""
    choice: dict[str, Any] = next(iter(output.get("choices") or []), {})
    text = _content((choice.get("message") or {}).get("content")) or str(output.get("completion") or "")
    finish = {"stop": "stop", "max_tokens": "length", "model_length": "length"}.get(str(choice.get("stop_reason")), "")
    return text, finish


def _verdict(score: Any, error: Any) -> tuple[float, str]:
    """1, 0 or 0.5, or nan with the reason."""
    if not isinstance(score, dict):
        message = str(error.get("message") or "") if isinstance(error, dict) else ""
        return math.nan, f"error: {' '.join(message.split())[:200]}" if message else "not scored"
    value = _number(score.get("value"))
    if value in (0.0, 0.5, 1.0):
        return value, ""
    return math.nan, f"a score of {str(score.get('value'))[:40]} is no verdict"


def _number(value: Any) -> float:
    if isinstance(value, str) and value in _VALUES:
        return _VALUES[value]
    return math.nan if isinstance(value, list | dict) or value is None else as_number(value)


def _metrics(scores: Mapping[str, Any], repeat: int) -> Iterator[Metric]:
    for name, score in scores.items():
        value = score.get("value") if isinstance(score, dict) else None
        parts = value.items() if isinstance(value, dict) else [("", value)]
        for part, part_value in parts:
            number = _number(part_value)
            if number == number:
                yield Metric(f"{name}/{part}" if part else name, number, repeat=repeat)


def _choice_named(text: str, choices: Sequence[str]) -> int | None:
    """The choice that a letter or its text names."""
    text = text.strip()
    if re.fullmatch(r"[A-Za-z]", text) and ord(text.upper()) - ord("A") < len(choices):
        return ord(text.upper()) - ord("A")
    return choices.index(text) if text in choices else None
