"""Writes the generated files of starter_data/ anew."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from explorer.benchmarks.starter_grammar.pairs import make_pairs

DATA = Path(__file__).parent.parent / "starter_data"


def text(rows: Sequence[Mapping[str, object]]) -> str:
    """Rows as JSON Lines."""
    return "".join(json.dumps(row, ensure_ascii=True) + "\n" for row in rows)


if __name__ == "__main__":
    rows = make_pairs()
    (DATA / "starter_pairs.jsonl").write_text(text(rows), encoding="utf-8")
    print(f"starter_pairs.jsonl: {len(rows)} pairs")
