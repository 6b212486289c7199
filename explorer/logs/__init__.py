"""Logs of other harnesses: a file in, what it says out (`Log`), then matched with our instances.

read(path)     a Log of lm-evaluation-harness (samples_*.jsonl) or of Inspect (.json, .eval)
match(...)     which of our instances each of its samples is
"""

from __future__ import annotations

import json
from pathlib import Path

from explorer.errors import LogError
from explorer.logs import inspect_log, lm_eval
from explorer.logs.log import MISSHAPEN, Log
from explorer.logs.opening import LogFile, open_log


def read(path: Path) -> Log:
    """What the log says; LogError where the file is no log of a harness that is known here."""
    try:
        return _read(path)
    except MISSHAPEN as error:
        raise LogError(f"{path.name} is not put together as a harness does it ({error}). Get it again.") from error


def _read(path: Path) -> Log:
    with open_log(path) as file:
        if file.is_zip:
            return inspect_log.read_eval(file)
        start = file.peek().lstrip(b"\xef\xbb\xbf \t\r\n")
        if not start:
            raise LogError(f"{path.name} is empty, expected a log. Give another file.")
        if start[:1] == b"[":
            return lm_eval.read_array(file)
        if _is_object_a_line(start, file):
            return lm_eval.read_lines(file)
        return _whole(file)


def _is_object_a_line(start: bytes, file: LogFile) -> bool:
    """Whether the file is JSON Lines; a first line that is damaged does not speak against it."""
    if ".jsonl" in file.path.suffixes:
        return True
    try:
        return "doc_id" in json.loads(start.split(b"\n", 1)[0])
    except (ValueError, TypeError, RecursionError):
        return False


def _whole(file: LogFile) -> Log:
    fields = file.read_json()
    if isinstance(fields, dict) and isinstance(fields.get("eval"), dict):
        return inspect_log.read_json(file, fields)
    if isinstance(fields, dict) and "results" in fields and "configs" in fields:
        raise LogError(
            f"{file.path.name} holds lm-evaluation-harness's results without single answers, expected a "
            "samples_*.jsonl. Run the harness with --log_samples, then give that file; this one is found beside it."
        )
    raise LogError(
        f"{file.path.name} is no log that is known here, expected lm-evaluation-harness's samples_*.jsonl or Inspect's "
        ".json or .eval. Give such a file."
    )
