"""Trains the tokenizer of the demonstration index anew, which gives the index another name."""

from __future__ import annotations

import json

from explorer import settings
from explorer.popularity import demo_corpus
from explorer.popularity.demo_tokenizer import MERGES, VOCABULARY, load
from explorer.popularity.tokenizer import train


def main() -> None:
    trained = train((each.text for each in demo_corpus.documents(settings.read())), VOCABULARY)
    merges = json.loads(trained.data)["model"]["merges"]
    lines = [merge if isinstance(merge, str) else " ".join(merge) for merge in merges]
    MERGES.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
    print(f"{MERGES.name}: {len(lines):,} merges, hash {load().hash}")


if __name__ == "__main__":
    main()
