"""Writes data/swap_annotations.jsonl: every swap made in our test sentences, to be judged by someone else.

    python tests/variants/annotate_swaps.py

A row holds the sentence, what became of it, one of its swaps, and an empty verdict. The judge writes "grammatical" or
"ungrammatical" for that swap under "verdict", and for the latter why under "reason"; "by" is "author" where the judge
wrote the code. Verdicts already given are kept for as long as sentence and swap stay the same.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

DATA = Path(__file__).parent / "data"
SENTENCES, ANNOTATIONS = DATA / "swap_sentences.jsonl", DATA / "swap_annotations.jsonl"
SEED = 0


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def perturbed(kit: Any) -> list[tuple[dict[str, Any], Any]]:
    """Each test sentence with what perturbing makes of it."""
    from explorer.variants.perturb import perturb_texts

    rows = read(SENTENCES)
    made = perturb_texts([row["text"] for row in rows], kit, keys=[row["id"] for row in rows], seed=SEED)
    return list(zip(rows, made, strict=True))


def swaps(sentences: list[tuple[dict[str, Any], Any]]) -> list[dict[str, Any]]:
    """A row per swap, in the order of the perturbed sentences."""
    return [
        {
            "id": row["id"],
            "kind": row["kind"],
            "text": row["text"],
            "perturbed": made.text,
            "start": swap.start,
            "original": swap.original,
            "substitute": swap.substitute,
        }
        for row, made in sentences
        for swap in made.swaps
    ]


def key(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["id"], row["text"], row["start"], row["substitute"]


def coverage(sentences: list[tuple[dict[str, Any], Any]]) -> tuple[int, int]:
    """How many words were swapped, and how many stayed although they could be."""
    from explorer.variants.perturb import held_back

    found = [made for _, made in sentences]
    return sum(len(made.swaps) for made in found), sum(held_back(made.left) for made in found)


def main() -> None:
    from explorer import settings
    from explorer.resources import Resources
    from explorer.variants import tools

    sentences = perturbed(tools.build_tools(Resources(settings.read())))
    kept = ("verdict", "reason", "by")
    given = {key(row): {name: row[name] for name in kept if name in row} for row in read(ANNOTATIONS)}
    rows = [{**row, **given.get(key(row), {"verdict": "", "reason": ""})} for row in swaps(sentences)]
    ANNOTATIONS.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    made, stayed = coverage(sentences)
    open_rows = sum(not row["verdict"] for row in rows)
    print(f"{len(rows)} swaps, {open_rows} not yet judged; {made / (made + stayed):.0%} of swappable words swapped")


if __name__ == "__main__":
    main()
