"""BLiMP: 67 paradigms of 1,000 minimal pairs (Warstadt et al., TACL 2020)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from explorer.benchmarks.core.benchmark import Benchmark, Parsed
from explorer.benchmarks.core.reading import read_json_rows, unique_keys
from explorer.benchmarks.published import CHECKSUMS, published_file, raw_address
from explorer.records import Instance

PARADIGMS = tuple(sorted(path[6:-6] for path in CHECKSUMS if path.startswith("blimp/")))

# The formal part of the popularity paper; 8, 6, 2 and 7 paradigms.
FORMAL_PHENOMENA = ("determiner_noun_agreement", "subject_verb_agreement", "anaphor_agreement", "argument_structure")

KEYS = ("sentence_good", "sentence_bad", "field", "linguistics_term", "UID", "pairID")


def load(paths: Mapping[str, Path], splits: Sequence[str]) -> Parsed:
    """A pair a row, acceptable first, grouped by paradigm; the pair ID is the key."""
    instances: list[Instance] = []
    for path in paths.values():
        rows = read_json_rows(path, **dict.fromkeys(KEYS, str))
        instances += map(_instance, rows, unique_keys(row["pairID"] for row in rows))
    return Parsed(tuple(instances))


def _instance(row: dict[str, Any], key: str) -> Instance:
    """The row's instance; what it does not use of the row is kept beside it."""
    good, bad, area, phenomenon, paradigm, _ = map(row.pop, KEYS)
    return Instance(
        id=f"blimp/{paradigm}/{key}",
        benchmark="blimp",
        split="test",
        group=paradigm,
        kind="pair",
        format="sentence",
        options=(good, bad),
        gold=0,
        phenomenon=phenomenon,
        field="formal",
        # One paradigm writes "syntax/semantics" where the others have "syntax_semantics".
        extra={"area": area.replace("/", "_"), **row},
    )


BENCHMARKS = {
    "blimp": Benchmark(
        name="blimp",
        title="BLiMP",
        kind="pair",
        load=load,
        files=tuple(published_file(f"blimp/{name}.jsonl", raw_address("blimp", f"{name}.jsonl")) for name in PARADIGMS),
        splits=("test",),
        default_splits=("test",),
        field="formal",
        license="CC BY 4.0",
        hub_id="nyu-mll/blimp",
    )
}
