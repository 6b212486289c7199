"""Pairs a second: one sentence at a time, plain padded batches, and packed rows, on the same model and pairs.

    python bench/scoring_naive.py --model gemma-3-270m --pairs 200 [--data DIR] [--paradigm NAME ...]

The first two import only torch and transformers; all three must agree.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))


def one_at_a_time(model: Any, rows: Sequence[Sequence[int]]) -> list[float]:
    """log P of each row after its first token, in nats."""
    sums = []
    for row in rows:
        ids = torch.tensor([row])
        with torch.inference_mode():
            logprobs = model(ids[:, :-1]).logits[0].float().log_softmax(-1)
        sums.append(float(logprobs.gather(1, ids[0, 1:, None]).double().sum()))
    return sums


def padded(model: Any, rows: Sequence[Sequence[int]], size: int) -> list[float]:
    """The same in batches of `size` rows sorted by length, padded at the right, logits at every place."""
    sums = [0.0] * len(rows)
    order = sorted(range(len(rows)), key=lambda i: -len(rows[i]))
    for first in range(0, len(order), size):
        batch = order[first : first + size]
        longest = len(rows[batch[0]])
        ids = torch.zeros((len(batch), longest), dtype=torch.long)
        mask = torch.zeros_like(ids)
        for row, i in enumerate(batch):
            ids[row, : len(rows[i])] = torch.tensor(rows[i])
            mask[row, : len(rows[i])] = 1
        with torch.inference_mode():
            logits = model(ids[:, :-1], attention_mask=mask[:, :-1]).logits.float()
            logprobs = logits.log_softmax(-1).gather(2, ids[:, 1:, None])[..., 0] * mask[:, 1:]
        for row, i in enumerate(batch):
            sums[i] = float(logprobs[row].double().sum())
    return sums


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="gemma-3-270m")
    parser.add_argument("--cache")
    parser.add_argument("--data", help="the folder that holds blimp/ (default: EXPLORER_DATA)")
    parser.add_argument("--paradigm", nargs="*", default=[], help="default: pairs from all of them")
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--batch", type=int, nargs="*", default=[8, 16, 32])
    parser.add_argument("--alone", type=int, default=20, help="pairs to score one at a time")
    args = parser.parse_args()

    from explorer import settings
    from explorer.records import Request
    from explorer.scoring import hf
    from explorer.scoring.score import score

    found = settings.read(cache=args.cache, data=args.data)
    sentences = _sentences(found.data, args.paradigm, args.pairs)
    model = hf.load(args.model, found)
    rows = [model.encode("", sentence, "auto", "offsets").ids for sentence in sentences]
    requests = [Request(str(i), 0, "", sentence) for i, sentence in enumerate(sentences)]
    score(model, requests[:4])

    ours, seconds = _timed(lambda: [one.sum for one in score(model, requests)])
    _show("packed rows", len(sentences), seconds)
    some = rows[: 2 * args.alone]
    alone, seconds = _timed(lambda: one_at_a_time(model.model, some))
    _show("one at a time", len(some), seconds)
    _agree(alone, ours[: len(some)])
    for size in args.batch:
        sums, seconds = _timed(lambda size=size: padded(model.model, rows, size))  # type: ignore[misc]
        _show(f"padded, {size} rows", len(sentences), seconds)
        _agree(sums, ours)


def _sentences(data: Path | None, paradigms: Sequence[str], pairs: int) -> list[str]:
    if data is None:
        sys.exit("Name the folder that holds blimp/ with --data or EXPLORER_DATA.")
    files = [file for file in sorted((data / "blimp").glob("*.jsonl")) if not paradigms or file.stem in paradigms]
    lines = [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]
    if len(files) != 1:
        random.Random(0).shuffle(lines)
    return [line[side] for line in lines[:pairs] for side in ("sentence_good", "sentence_bad")]


def _timed(work: Callable[[], list[float]]) -> tuple[list[float], float]:
    began = time.perf_counter()
    return work(), time.perf_counter() - began


def _show(way: str, sentences: int, seconds: float) -> None:
    print(f"{way:18} {sentences / 2 / seconds:8.2f} pairs/s", flush=True)


def _agree(one: Sequence[float], other: Sequence[float]) -> None:
    apart = max(abs(a - b) for a, b in zip(one, other, strict=True))
    if apart > 1e-3:
        sys.exit(f"The ways differ by {apart:.4f} nats.")


if __name__ == "__main__":
    main()
