"""Writes the requests of priming curves to a file, so that every contender of bench/priming.py scores the same texts.

    python bench/curves.py --model gemma-3-270m --items 320 --out curves.jsonl.gz

A line is one item: its growing contexts, shortest first, and its two targets (each with its leading blank). With
--plain there is one context, the benchmark's own prompt: plain accuracy, as in `run accuracy`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from explorer import benchmarks, prompts, settings
from explorer.records import Instance
from explorer.variants import running_text
from explorer.variants.context_pools import make_pools
from explorer.variants.contexts import LENGTHS, make_contexts, rebuild_text

ROOM = 1000  # tokens of context, whatever the model's window


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokenizer", required=True, help="a folder with tokenizer.json")
    parser.add_argument("--benchmark", default="blimp")
    parser.add_argument("--items", type=int, default=320)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--data", help="folder with benchmark files")
    parser.add_argument("--plain", action="store_true", help="the benchmark's own prompts, without priming")
    args = parser.parse_args()
    instances = benchmarks.load(args.benchmark, settings.read(data=args.data)).instances
    step = max(1, len(instances) // args.items)
    items = instances[::step][: args.items]
    lines = plain(items) if args.plain else curves(items, instances, args.tokenizer)
    with gzip.open(args.out, "wt", encoding="utf-8") as file:
        for line in lines:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def plain(items: Sequence[Instance]) -> Iterator[dict[str, Any]]:
    """Each item's own prompt and its two continuations."""
    for item in items:
        first, second = prompts.requests(item)
        yield {"id": item.id, "contexts": [first.context], "targets": [first.continuation, second.continuation]}


def curves(items: Sequence[Instance], instances: Sequence[Instance], tokenizer_folder: str) -> Iterator[dict[str, Any]]:
    """Each item's growing context at every checkpoint, and its two targets."""

    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(Path(tokenizer_folder) / "tokenizer.json"))
    tokens = running_text.TokenCounter(lambda text: tokenizer.encode(text, add_special_tokens=False).ids)
    pools = make_pools(instances)
    by_id = {item.id: item for item in items}
    made = make_contexts(items, pools, tokens, lambda item: ROOM, conditions=["matched_acceptable"], lengths=LENGTHS)
    for context in made:
        item = by_id[context.items[0]]
        texts = [rebuild_text(context, pools, point.sentences) for point in context.checkpoints]
        targets = [running_text.as_target(option) for option in item.options]
        yield {"id": item.id, "contexts": texts, "targets": targets}


if __name__ == "__main__":
    main()
