"""Writes the requests of priming curves to a file, so that every contender of bench/priming.py scores the same texts.

    python bench/curves.py --model gemma-3-270m --items 320 --out curves.jsonl.gz

A line is one item: its growing contexts, shortest first, and its two targets (each with its leading blank).
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from explorer import benchmarks, settings
from explorer.variants import running_text
from explorer.variants.context_pools import make_pools
from explorer.variants.contexts import LENGTHS, make_contexts, rebuild

ROOM = 1000  # tokens of context, whatever the model's window


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokenizer", required=True, help="a folder with tokenizer.json")
    parser.add_argument("--benchmark", default="blimp")
    parser.add_argument("--items", type=int, default=320)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--data", help="folder with benchmark files")
    args = parser.parse_args()

    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(Path(args.tokenizer) / "tokenizer.json"))
    tokens = running_text.TokenCounter(lambda text: tokenizer.encode(text, add_special_tokens=False).ids)
    instances = benchmarks.load(args.benchmark, settings.read(data=args.data)).instances
    pools = make_pools(instances)
    step = len(instances) // args.items
    items = instances[::step][: args.items]
    by_id = {item.id: item for item in items}
    made = make_contexts(items, pools, tokens, lambda item: ROOM, conditions=["matched_acceptable"], lengths=LENGTHS)
    with gzip.open(args.out, "wt", encoding="utf-8") as file:
        for context in made:
            item = by_id[context.items[0]]
            texts = [rebuild(context, pools, point.sentences) for point in context.checkpoints]
            targets = [running_text.target(option) for option in item.options]
            file.write(json.dumps({"id": item.id, "contexts": texts, "targets": targets}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
