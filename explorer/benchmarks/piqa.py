"""PIQA: which of two solutions reaches an everyday goal (Bisk et al., AAAI 2020)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from explorer.benchmarks.core.benchmark import Benchmark, Parsed
from explorer.benchmarks.core.reading import damaged_file, read_json_rows, read_lines
from explorer.benchmarks.published import published_file, raw_address
from explorer.records import Instance

ROWS = "piqa/valid.jsonl"
LABELS = "piqa/valid-labels.lst"


def load(paths: Mapping[str, Path], splits: Sequence[str]) -> Parsed:
    """A goal with two solutions a row, blanks at the edges kept; the row number is the key."""
    rows = read_json_rows(paths[ROWS], goal=str, sol1=str, sol2=str)
    labels = read_lines(paths[LABELS])
    if len(labels) != len(rows):
        raise damaged_file(
            paths[LABELS], None, f"{len(labels)} labels", f"{len(rows)}, one for each row of valid.jsonl"
        )
    for number, label in enumerate(labels, 1):
        if label not in ("0", "1"):
            raise damaged_file(paths[LABELS], number, f"the label {label!r}", "0 or 1")
    return Parsed(
        tuple(
            Instance(
                id=f"piqa/validation/{number}",
                benchmark="piqa",
                split="validation",
                group="validation",
                kind="choice",
                format="piqa",
                context=row["goal"],
                options=(row["sol1"], row["sol2"]),
                gold=int(label),
                label=label,
                phenomenon="physical_commonsense",
                field="functional",
            )
            for number, (row, label) in enumerate(zip(rows, labels, strict=True))
        )
    )


BENCHMARKS = {
    "piqa": Benchmark(
        name="piqa",
        title="PIQA",
        kind="choice",
        load=load,
        files=(
            published_file(ROWS, raw_address("piqa", "valid.jsonl")),
            published_file(LABELS, raw_address("piqa", "valid-labels.lst")),
        ),
        splits=("validation",),
        default_splits=("validation",),
        field="functional",
        license="AFL 3.0",
        hub_id="ybisk/piqa",
    )
}
