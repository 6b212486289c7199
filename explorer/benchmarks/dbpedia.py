"""DBpedia-14: the class of a Wikipedia abstract (Zhang et al., NeurIPS 2015), 1,000 a class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from explorer.benchmarks.core.benchmark import Benchmark, Parsed
from explorer.benchmarks.core.reading import damaged_file, read_lines, read_rows
from explorer.benchmarks.published import published_file
from explorer.records import Instance

ROWS = "dbpedia14/train_sample.csv"
CLASSES = "dbpedia14/classes.txt"


def load(paths: Mapping[str, Path], splits: Sequence[str]) -> Parsed:
    """An abstract a line, its sentences parted by tabs, grouped by class; split and row number are the key."""
    classes = tuple(read_lines(paths[CLASSES]))
    instances = []
    # Neither quoting nor a second separator: only the first comma counts.
    for number, (label, text) in enumerate(read_rows(paths[ROWS], ",", 2, splits=1)):
        if not label.isdecimal() or int(label) >= len(classes):
            raise damaged_file(
                paths[ROWS], number + 1, f"the label {label!r}", f"a number from 0 to {len(classes) - 1}"
            )
        name = classes[int(label)]
        instances.append(
            Instance(
                id=f"dbpedia14/{name}/train-{number}",
                benchmark="dbpedia14",
                split="train",
                group=name,
                kind="labelled",
                format="dbpedia14",
                context=text,
                options=classes,
                gold=int(label),
                label=label,
                phenomenon="topic",
            )
        )
    return Parsed(tuple(instances))


BENCHMARKS = {
    "dbpedia14": Benchmark(
        name="dbpedia14",
        title="DBpedia-14 (sample)",
        kind="labelled",
        load=load,
        files=(published_file(ROWS), published_file(CLASSES)),
        splits=("train",),
        default_splits=("train",),
        license="CC BY-SA 3.0 and GFDL",
        hub_id="fancyzhx/dbpedia_14",
        note="A sample of the training set, 1,000 a class, in another's preprocessing without commas and quotes.",
    )
}
