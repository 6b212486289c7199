"""Learns the merges of the glass box's tokenizer anew, which gives corpus and models another name."""

from __future__ import annotations

from explorer import settings
from explorer.glassbox import corpus, tokenizer


def main() -> None:
    merges = tokenizer.train(corpus.unplanted(settings.read()))
    tokenizer.MERGES.write_text("".join(f"{merge}\n" for merge in merges), encoding="utf-8", newline="\n")
    print(f"{tokenizer.MERGES.name}: {len(merges):,} merges")


if __name__ == "__main__":
    main()
