"""Writes the generated rows of starter_data/ anew; rows written by hand stay as they are."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from explorer.benchmarks.starter_grammar.entailment import make_entailments
from explorer.benchmarks.starter_grammar.pairs import make_pairs

DATA = Path(__file__).parent.parent / "starter_data"


def main() -> None:
    _write(DATA / "starter_pairs.jsonl", make_pairs())
    _write(DATA / "starter_entailment.jsonl", [*make_entailments(), *_written(DATA / "starter_entailment.jsonl")])


def _written(path: Path) -> list[dict[str, str]]:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if row["frame"] == "written"]


def _write(path: Path, rows: Sequence[Mapping[str, str]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    print(f"{path.name}: {len(rows)} rows")


if __name__ == "__main__":
    main()
