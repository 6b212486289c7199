"""`score`: log-probabilities of continuations, from a JSONL file to a JSONL file."""

from __future__ import annotations

import argparse
import codecs
import dataclasses
import json
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from explorer.commands import common, output
from explorer.errors import UsageError
from explorer.records import Request, Score
from explorer.scoring.policy import PRESETS
from explorer.settings import Settings

EPILOG = """A line in is a JSON object with "context" and "continuation", both strings; all its other keys are kept.
A line out adds logprob (nats, summed over the continuation), tokens (how many), scored (how many of them have a
log-probability), chars, bytes, greedy, straddles and truncated_tokens. A line that cannot be scored has logprob null
and says why under "error"; the others are scored all the same, and the exit status is then 1."""


def add(subparsers: Any) -> None:
    """`score`."""
    parser = common.parser(subparsers, "score", "score continuations given contexts", epilog=EPILOG)
    parser.add_argument("--model", required=True, metavar="M", help="a known id, a Hugging Face id or a folder")
    parser.add_argument(
        "--in", dest="source", required=True, metavar="FILE", help="requests as JSONL; - is standard input"
    )
    parser.add_argument("--out", required=True, metavar="FILE", help="scores as JSONL; - is standard output")
    parser.add_argument("--preset", choices=tuple(PRESETS), default="natural", help="conventions (default: natural)")
    parser.add_argument(
        "--bos", choices=("auto", "always", "never"), help="token before the context (default: the preset's)"
    )
    parser.add_argument("--dtype", default="auto", metavar="D", help="auto, float32, bfloat16 or float16")
    parser.add_argument("--device", default="auto", metavar="D", help="auto, cpu, cuda, cuda:1 or mps")
    parser.add_argument("--tokens", action="store_true", help="add token_texts and token_logprobs")
    parser.add_argument(
        "--truncate", choices=("error", "left"), default="error", help="what happens to what the window cannot hold"
    )
    parser.add_argument("--token-budget", type=int, metavar="N", help="most tokens in one forward pass")
    parser.set_defaults(run=run)


# What a line out adds to a line in.
ANSWER = {
    "logprob", "tokens", "scored", "chars", "bytes", "greedy", "straddles", "truncated_tokens", "token_texts",
    "token_logprobs", "error",
}  # fmt: skip


@dataclass(slots=True)
class Line:
    """A line of the file in: what it holds, and why it cannot be scored where it cannot."""

    number: int
    fields: dict[str, Any]
    error: str = ""


def run(args: argparse.Namespace, settings: Settings) -> int:
    """Scores every line that can be scored; 1 where some could not."""
    from explorer.resources import Resources
    from explorer.scoring.score import policy_record, score

    if args.token_budget is not None and args.token_budget < 1:
        raise UsageError(f"--token-budget is {args.token_budget}; give a number of at least 1.")
    target = None if args.out == "-" else output.check(Path(args.out))
    policy = PRESETS[args.preset]
    if args.bos:
        policy = dataclasses.replace(policy, bos=args.bos)
    lines = _read(args.source)
    began = time.monotonic()
    model = Resources(settings, _Preparing()).model(args.model, args.dtype, args.device)
    asked = [
        Request(str(line.number), 0, line.fields["context"], line.fields["continuation"])
        for line in lines
        if not line.error
    ]
    progress = common.ProgressLine("Scored") if asked else None
    scores = iter(score(model, asked, policy, progress, token_budget=args.token_budget, truncate=args.truncate))
    for line in lines:
        if not line.error:
            _answer(line, next(scores), args.tokens)
    _write(target, lines)
    failed = [line for line in lines if line.error]
    for line in failed:
        common.say(f"line {line.number}: {line.error}")
    seconds = time.monotonic() - began
    common.say(f"{len(lines) - len(failed):,} of {len(lines):,} lines scored in {seconds:.1f} s")
    if args.json and args.out != "-":
        facts = {"lines": len(lines), "failed": len(failed), "seconds": round(seconds, 3)}
        common.print_json({**facts, **policy_record(model, policy)})
    return 1 if failed else 0


def _read(source: str) -> list[Line]:
    """Every line that is not blank, with its number in the file."""
    try:
        raw = sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
    except OSError as error:
        raise UsageError(f"{source} cannot be read ({error.strerror}). Give a JSONL file with --in.") from error
    numbered = enumerate(raw.removeprefix(codecs.BOM_UTF8).split(b"\n"), start=1)
    return [_parse(number, line) for number, line in numbered if line.strip()]


def _parse(number: int, raw: bytes) -> Line:
    try:
        fields = json.loads(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        return Line(number, {}, f"byte {error.start} is not UTF-8; save the file as UTF-8")
    except (ValueError, RecursionError) as error:
        return Line(number, {}, f"not a JSON object ({error}); each line needs context and continuation")
    if not isinstance(fields, dict):
        return Line(number, {}, f"a JSON {_kind(fields)}, expected an object with context and continuation")
    for key in ("context", "continuation"):
        if not isinstance(fields.get(key), str):
            found = f"is a {_kind(fields[key])}" if key in fields else "is missing"
            return Line(number, fields, f"{key} {found}, expected a string")
    # What an earlier scoring of this line said is not kept beside what this one says.
    return Line(number, {key: value for key, value in fields.items() if key not in ANSWER})


def _kind(value: Any) -> str:
    names = {dict: "object", list: "list", str: "string", bool: "truth value", int: "number", float: "number"}
    return names.get(type(value), "null")


def _answer(line: Line, score: Score, with_tokens: bool) -> None:
    line.fields |= {
        "logprob": _number(score.sum),
        "tokens": len(score.token_ids),
        "scored": score.scored,
        "chars": score.chars,
        "bytes": score.bytes,
        "greedy": score.greedy,
        "straddles": score.straddles,
        "truncated_tokens": score.truncated,
    }
    if with_tokens:
        line.fields |= {
            "token_texts": list(score.tokens),
            "token_logprobs": [_number(value) for value in score.logprobs],
        }
    line.error = score.reason


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def _write(target: Path | None, lines: Sequence[Line]) -> None:
    """All lines at once, under a temporary name first, so that a file is whole or not there."""
    text = "".join(_as_json(line) + "\n" for line in lines)
    if target is None:
        sys.stdout.write(text)
        return
    output.write_text(target, text)


def _as_json(line: Line) -> str:
    fields = line.fields if not line.error else {**line.fields, "logprob": None, "error": line.error}
    if line.error and not line.fields:
        fields = {"line": line.number, **fields}
    plain = json.dumps(fields, ensure_ascii=False)
    try:
        plain.encode("utf-8")
    except UnicodeEncodeError:  # an unpaired surrogate goes out as it came in, escaped
        return json.dumps(fields)
    return plain


class _Preparing:
    """A progress line for each part that has to be fetched, converted or loaded first."""

    def __init__(self) -> None:
        self.text = ""

    def __call__(self, text: str, done: int, total: int) -> None:
        if text != self.text:
            self.text = text
            common.say(text)
