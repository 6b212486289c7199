"""Benchmarks whose truth is planted in the corpus of the glass-box models (explorer/glassbox, docs/GLASSBOX.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from explorer.benchmarks.core.benchmark import Benchmark, Parsed, SourceFile
from explorer.benchmarks.core.reading import damaged_file, read_json_rows
from explorer.records import Instance

FOLDER = Path(__file__).with_name("glassbox_data")
SPLIT = "all"

SETS = {
    "glassbox_pairs": (
        "Glass box: planted pairs",
        "Minimal pairs of made-up words that only the glass box's corpus decides; a phenomenon is how often it does.",
    ),
    "glassbox_synonyms": (
        "Glass box: synonyms",
        "Agreement with a popular and an unpopular synonym as the subject, each at a set frequency in the corpus.",
    ),
}


def load(name: str, paths: Mapping[str, Path], splits: Sequence[str]) -> Parsed:
    """A pair a row; its group is the paradigm or the popularity of its word, its phenomenon the dose."""
    path = paths[f"{name}.jsonl"]
    instances = []
    for number, row in enumerate(read_json_rows(path, key=str, group=str, good=str, bad=str), 1):
        if not isinstance(row.get("dose"), int):
            raise damaged_file(path, number, "a row without a dose", f"a row of {name}")
        instances.append(
            Instance(
                id=f"{name}/{row['group']}/{row['key']}",
                benchmark=name,
                split=SPLIT,
                group=row["group"],
                phenomenon=f"dose {row['dose']}",
                field="formal",
                kind="pair",
                format="sentence",
                options=(row["good"], row["bad"]),
                gold=0,
                extra={"dose": row["dose"], "ngram": row["ngram"]},
            )
        )
    return Parsed(tuple(instances))


BENCHMARKS: dict[str, Benchmark] = {
    name: Benchmark(
        name=name,
        title=title,
        kind="pair",
        load=partial(load, name),
        files=(SourceFile(f"{name}.jsonl"),),
        splits=(SPLIT,),
        default_splits=(SPLIT,),
        field="formal",
        license="MIT, as Lexiscope",
        folder=FOLDER,
        note=note,
    )
    for name, (title, note) in SETS.items()
}
