"""Inspect (inspect-ai): a log as one JSON file, or as .eval, a zip with header.json and a file a sample.

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
    MISSHAPEN,
    Dropped,
    Log,
    Metric,
    Sample,
    Written,
    as_number,
    texts_in,
    without_keys,
)
from explorer.logs.opening import MOST_BYTES, Opened, check_values
from explorer.logs.zipped import entry_bytes
from explorer.scoring.reduce import word_of

KNOWN = 2  # version of the log format
MOST_ENTRIES = 500_000
MOST_EPOCHS = 1_000_000
LONGEST_RECORD = 2_000  # characters of one part of the configuration that are kept
# Inspect's own reading of a score as a number.
_VALUES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "yes": 1.0, "no": 0.0, "true": 1.0, "false": 0.0}
_ATTACHED = re.compile(r"attachment://([0-9a-fA-F]+)")

_Entry = tuple[str, Any]  # where it stands, the sample or what is wrong with it


def read_json(file: Opened, fields: Mapping[str, Any]) -> Log:
    """The log in a JSON file."""
    samples = fields.get("samples")
    if not isinstance(samples, list):
        samples = []
    entries = ((f"sample {number}", sample) for number, sample in enumerate(samples, 1))
    return _log(file, fields, entries)


def read_eval(file: Opened) -> Log:
    """The log in an .eval file."""
    name = file.path.name
    try:
        with zipfile.ZipFile(file.file) as archive:
            entries = archive.infolist()
            most = unpacking.most(sum(entry.compress_size for entry in entries), MOST_BYTES)
            if len(entries) > MOST_ENTRIES or sum(entry.file_size for entry in entries) > most:
                raise LogError(f"{name} unpacks to more than {most >> 20:,} MiB, expected less. Cut it into pieces.")
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


def _entries(file: Opened, archive: zipfile.ZipFile) -> Iterator[_Entry]:
    for entry in archive.infolist():
        if entry.filename.startswith("samples/") and entry.filename.endswith(".json"):
            try:
                yield entry.filename, _json(file, archive, entry.filename)
            except (LogError, ValueError, RecursionError, zipfile.BadZipFile, zlib.error, EOFError) as error:
                yield entry.filename, f"damaged ({error})"


def _json(file: Opened, archive: zipfile.ZipFile, name: str) -> Any:
    data = entry_bytes(archive, name)
    check_values(data, f"{name} in {file.path.name}")
    return plain_json.read(data)


def _log(file: Opened, fields: Mapping[str, Any], entries: Iterable[_Entry]) -> Log:
    about = fields.get("eval") if isinstance(fields, dict) else None
    if not isinstance(about, dict):
        raise LogError(f"{file.path.name} does not say what was evaluated, expected an `eval` in it. Get it again.")
    groups: dict[str, list[tuple[int, Sample]]] = defaultdict(list)
    dropped: list[Dropped] = []
    seen: dict[tuple[str, int], str] = {}
    scorers = _scorers(fields)
    failed = 0
    for where, entry in entries:
        try:
            sample, epoch = _sample(where, entry, scorers)
            if (sample.key, epoch) in seen:
                raise _Unfit(f"sample {sample.key} was in {seen[sample.key, epoch]} already; the first is kept")
            seen[sample.key, epoch] = where
            groups[sample.key].append((epoch, sample))
            failed += bool(isinstance(entry, dict) and entry.get("error"))
        except _Unfit as error:
            dropped.append(Dropped(where, str(error), json.dumps(entry, ensure_ascii=False, default=str)))
        except MISSHAPEN as error:
            why = f"not put together as Inspect does it ({error})"
            dropped.append(Dropped(where, why, json.dumps(entry, ensure_ascii=False, default=str)))
    if not groups:
        why = f"; the first: {dropped[0].where}: {dropped[0].reason}" if dropped else ""
        raise LogError(f"{file.path.name} holds no sample{why}. Run Inspect again without --no-log-samples.")
    reducers = _reducers(about, fields)
    told = _describe(fields, scorers, reducers[0])
    samples = tuple(_together(key, own, reducers[0], told) for key, own in groups.items())
    several = any(sample.repeats for sample in samples)
    version = str((about.get("packages") or {}).get("inspect_ai") or "")
    model = str(about.get("model") or "")
    return Log(
        source=INSPECT,
        version=version,
        task=str(about.get("task") or "task").split("/")[-1],
        model="" if model == "none/none" else model,
        revision="",
        file=file.path.name,
        sha256=file.sha256,
        samples=samples,
        dropped=tuple(dropped),
        results=_results(fields),
        reducer=reducers[0] if several else "",
        remarks=(*_remarks(fields), *_about_samples(about, fields, samples, reducers, failed)),
        record={
            name: _brief(without_keys(about.get(name)))
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


def _brief(value: Any) -> Any:
    """The value, or its size where it is long: a mock model's arguments hold all its answers."""
    size = len(json.dumps(value, default=str))
    return value if size <= LONGEST_RECORD else f"left out, {size:,} characters"


def _remarks(fields: Mapping[str, Any]) -> Iterator[str]:
    status = str(fields.get("status") or "unfinished")
    if status != "success":
        yield f"Inspect calls this log {status!r}, so samples may be missing."
    version = fields.get("version")
    if isinstance(version, int) and version > KNOWN:
        yield f"The log has format {version}; known here is {KNOWN}, so look at the figures twice."


def _about_samples(
    about: Mapping[str, Any], fields: Mapping[str, Any], samples: Sequence[Sample], reducers: Sequence[str], failed: int
) -> Iterator[str]:
    """What of the log's samples a reader would not see in its figures."""
    config = about.get("config") or {}
    counts = Counter(len(sample.repeats) or 1 for sample in samples)
    epochs = max(counts)
    if epochs > 1:
        yield (
            f"Each sample was answered in {epochs} epochs, and its verdict is the {reducers[0]} of them, as in the "
            "log; every epoch is kept."
        )
        if len(counts) > 1:
            yield f"{sum(counts.values()) - counts[epochs]:,} samples have fewer than {epochs} epochs."
        if not repeats.is_known(reducers[0]):
            yield f"The reducer {reducers[0]} is not known here: where the log tells no verdict, the mean stands."
        if len(reducers) > 1:
            yield f"The log reduces by {', '.join(reducers[1:])}, too; those figures stand as the log gives them."
    if config.get("limit"):
        yield f"Inspect was told to take a part of the samples only (limit {str(config['limit'])[:40]})."
    results = fields.get("results") or {}
    total, done = results.get("total_samples"), results.get("completed_samples")
    if isinstance(total, int) and isinstance(done, int) and done < total:
        yield f"Inspect completed {done:,} of {total:,} samples."
    if failed:
        yield f"{failed:,} samples ended in an error, each with its reason."
    names = list(dict.fromkeys(_scorers(fields)))
    if len(names) > 1:
        yield f"Verdicts are those of the scorer {names[0]}; {', '.join(names[1:])} stand beside them."


def _reducers(about: Mapping[str, Any], fields: Mapping[str, Any]) -> list[str]:
    """How epochs become one score, the first one for the verdict; the mean where the log does not say."""
    told = (about.get("config") or {}).get("epochs_reducer")
    listed = [told] if isinstance(told, str) else told if isinstance(told, list) else []
    scores = (fields.get("results") or {}).get("scores") or []
    listed += [score.get("reducer") for score in scores if isinstance(score, dict)]
    return list(dict.fromkeys(str(one) for one in listed if one)) or ["mean"]


def _describe(fields: Mapping[str, Any], scorers: Sequence[str], reducer: str) -> dict[str, float]:
    """The verdict of each sample over its epochs as the log itself tells it."""
    listed = fields.get("reductions")
    for one in listed if isinstance(listed, list) else ():
        if isinstance(one, dict) and str(one.get("reducer") or reducer) == reducer:
            if scorers and str(one.get("scorer")) != scorers[0]:
                continue
            scores = [score for score in one.get("samples") or [] if isinstance(score, dict)]
            return {str(score.get("sample_id")): _number(score.get("value")) for score in scores}
    return {}


def _scorers(fields: Mapping[str, Any]) -> list[str]:
    """The scorers in the order of the results; the first one speaks the verdict."""
    scores = (fields.get("results") or {}).get("scores") or []
    return [str(score.get("scorer") or score.get("name")) for score in scores if isinstance(score, dict)]


def _results(fields: Mapping[str, Any]) -> dict[str, float]:
    """Metric,scorer → what Inspect says of the whole."""
    found: dict[str, float] = {}
    for score in (fields.get("results") or {}).get("scores") or []:
        for name, metric in (score.get("metrics") or {}).items():
            value = metric.get("value") if isinstance(metric, dict) else None
            if isinstance(value, int | float) and not isinstance(value, bool):
                key = f"{name},{score.get('name')}"
                # Of several reducers of a scorer the first has the plain name.
                found[f"{key},{score.get('reducer')}" if key in found else key] = as_number(value)
    return found


# --- one sample


class _Unfit(Exception):
    """An entry that becomes no sample; the text says why."""


def _sample(where: str, entry: Any, scorers: Sequence[str]) -> tuple[Sample, int]:
    if isinstance(entry, str):
        raise _Unfit(entry)
    if not isinstance(entry, dict) or "id" not in entry or "input" not in entry:
        raise _Unfit("no id or no input, expected a sample")
    fields = _attached(entry)
    epoch = int(fields.get("epoch") or 1)
    if not 1 <= epoch <= MOST_EPOCHS:
        raise _Unfit(f"epoch {str(epoch)[:40]}, expected 1 to {MOST_EPOCHS:,}")
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
        texts=(prompt, *choices, *texts_in(target), *texts_in(fields.get("metadata") or {})),
        written=(Written(prompt, text, finish, _word(correct), repeat=epoch - 1),),
        choices=choices,
        target=first_target,
        gold=_letter(first_target, choices),
        chosen=_letter(str(answer or ""), choices),
        correct=correct,
        reason=reason,
        metrics=tuple(_metrics(scores, epoch - 1)),
    ), epoch


def _together(key: str, samples: Sequence[tuple[int, Sample]], reducer: str, told: Mapping[str, float]) -> Sample:
    """The epochs of a sample as one."""
    if len(samples) == 1:
        only = samples[0][1]
        return dataclasses.replace(
            only,
            written=tuple(dataclasses.replace(one, repeat=None) for one in only.written),
            metrics=tuple(dataclasses.replace(one, repeat=None) for one in only.metrics),
        )
    ordered = [sample for _, sample in sorted(samples, key=lambda pair: pair[0])]
    value = told.get(key, math.nan)
    return repeats.together(ordered, reducer, "epochs", value if 0.0 <= value <= 1.0 else math.nan)


def _attached(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The sample's own fields with the long texts in their places; its events are left aside."""
    long = entry.get("attachments") or {}
    kept = {name: entry[name] for name in _WANTED if name in entry}
    if not long:
        return kept
    room = [OFTEN * sum(len(text) for text in long.values()) + 65536]
    return {name: _with(value, long, room) for name, value in kept.items()}


_WANTED = ("id", "epoch", "input", "choices", "target", "metadata", "output", "scores", "error")


OFTEN = 4  # times that a long text of a sample may stand in it


def _with(value: Any, long: Mapping[str, str], room: list[int]) -> Any:
    def text_of(match: re.Match[str]) -> str:
        text = str(long.get(match[1], match[0]))
        room[0] -= len(text)
        if room[0] < 0:
            raise _Unfit(f"its long texts stand in it more than {OFTEN} times")
        return text

    if isinstance(value, str):
        return _ATTACHED.sub(text_of, value)
    if isinstance(value, dict):
        return {name: _with(item, long, room) for name, item in value.items()}
    return [_with(item, long, room) for item in value] if isinstance(value, list) else value


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
        told = str(error.get("message") or "") if isinstance(error, dict) else ""
        return math.nan, f"error: {' '.join(told.split())[:200]}" if told else "not scored"
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
        for part, one in parts:
            number = _number(one)
            if number == number:
                yield Metric(f"{name}/{part}" if part else name, number, repeat=repeat)


def _letter(text: str, choices: Sequence[str]) -> int | None:
    """The choice that a letter or its text names."""
    told = text.strip()
    if re.fullmatch(r"[A-Za-z]", told) and ord(told.upper()) - ord("A") < len(choices):
        return ord(told.upper()) - ord("A")
    return choices.index(told) if told in choices else None


def _word(correct: float) -> str:
    return "" if (word := word_of(correct)) == "none" else word
