"""`score`: log-probabilities of continuations, from a JSONL file to a JSONL file."""

from __future__ import annotations

import argparse
import dataclasses
import math
import time
from pathlib import Path
from typing import Any

from explorer.commands import common, jsonl, output
from explorer.commands.jsonl import Line
from explorer.errors import UsageError
from explorer.records import Request, Score
from explorer.scoring.policy import NOT_CAUSAL_PRESETS, PRESETS
from explorer.scoring.word_scores import BY, By, sum_by_word
from explorer.settings import Settings

EPILOG = """A line in is a JSON object with "context" and "continuation", both strings; all its other keys are kept.
A line out adds logprob (nats, summed over the continuation), tokens (how many), scored (how many of them have a
log-probability), chars, bytes, greedy, straddles and truncated_tokens. A line that cannot be scored has logprob null
and says why under "error", one that is no object also holds itself under "raw"; the others are scored all the same,
and the exit status is then 1."""
ADDED_KEYS = {
    "logprob",
    "tokens",
    "scored",
    "chars",
    "bytes",
    "greedy",
    "straddles",
    "truncated_tokens",
    "token_texts",
    "token_logprobs",
    "word_texts",
    "word_logprobs",
    "word_error",
    "error",
}


def add(subparsers: Any) -> None:
    """`score`."""
    parser = common.command_parser(subparsers, "score", epilog=EPILOG)
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
        "--words",
        choices=tuple(BY),
        help="add word_texts and word_logprobs: tokens added up to words; auto: between blanks, in scripts without "
        "blanks by characters (a line's own words, a list of strings, come first)",
    )
    parser.add_argument(
        "--truncate", choices=("error", "left"), default="error", help="what happens to what the window cannot hold"
    )
    parser.add_argument("--token-budget", type=int, metavar="N", help="most tokens in one forward pass")
    parser.set_defaults(run=score_lines)


def score_lines(args: argparse.Namespace, settings: Settings) -> int:
    """Scores every line that can be scored; 1 where some could not."""
    from explorer.resources import Resources
    from explorer.scoring.score import policy_record, score

    if args.token_budget is not None and args.token_budget < 1:
        raise UsageError(f"--token-budget is {args.token_budget}; give a number of at least 1.")
    if args.out != "-":
        output.check_writable(Path(args.out))
    policy = PRESETS[args.preset]
    if args.bos:
        policy = dataclasses.replace(policy, bos=args.bos)
    lines = jsonl.read_lines(args.source, ("context", "continuation"))
    for line in lines:
        # The scores that an earlier call left in a line are not kept beside those of this one.
        line.fields = {key: value for key, value in line.fields.items() if key not in ADDED_KEYS}
    started = time.monotonic()
    resources = Resources(settings, _PreparationLines())
    # Masked models and those of an encoder and a decoder are loaded as such, and asked one request after another.
    scorer_of_kind = (
        resources.scorer(args.model, args.dtype, args.device) if policy.preset in NOT_CAUSAL_PRESETS else None
    )
    model: Any = getattr(scorer_of_kind, "model", None) or resources.model(args.model, args.dtype, args.device)
    requests = [
        Request(str(line.number), 0, line.fields["context"], line.fields["continuation"])
        for line in lines
        if not line.error
    ]
    progress = common.ProgressLine("Scored") if requests else None
    scores = iter(
        scorer_of_kind.score(requests, policy, progress)
        if scorer_of_kind
        else score(model, requests, policy, progress, token_budget=args.token_budget, truncate=args.truncate)
    )
    for line in lines:
        if not line.error:
            scored = next(scores)
            _add_score(line, scored, with_tokens=args.tokens)
            if args.words:
                _add_words(line, scored, args.words)
    jsonl.write_lines(args.out, lines, {"logprob": None})
    failed = jsonl.report_errors(lines)
    seconds = time.monotonic() - started
    common.report(f"{len(lines) - failed:,} of {len(lines):,} lines scored in {seconds:.1f} s")
    if args.json and args.out != "-":
        facts = {"lines": len(lines), "failed": failed, "seconds": round(seconds, 3)}
        common.print_json({**facts, **policy_record(model, policy)})
    return 1 if failed else 0


def _add_score(line: Line, score: Score, *, with_tokens: bool) -> None:
    line.fields |= {
        "logprob": _json_number(score.sum),
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
            "token_logprobs": [_json_number(value) for value in score.logprobs],
        }
    line.error = score.reason


def _add_words(line: Line, score: Score, by: By) -> None:
    words_field = line.fields.get("words")
    words_given = [str(word) for word in words_field] if isinstance(words_field, list) else []
    words = sum_by_word(score.tokens, score.logprobs, by, words_given)
    if isinstance(words, str):
        line.fields |= {"word_texts": None, "word_logprobs": None, "word_error": words}
        return
    line.fields |= {
        "word_texts": [word.text for word in words],
        "word_logprobs": [_json_number(word.logprob) for word in words],
    }


def _json_number(value: float) -> float | None:
    return None if math.isnan(value) else value


class _PreparationLines:
    """Prints a line for each part that has to be fetched, converted or loaded first."""

    def __init__(self) -> None:
        self.part = ""

    def __call__(self, part: str, done: int, total: int) -> None:
        if part != self.part:
            self.part = part
            common.report(part)
