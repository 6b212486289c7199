"""TREC: what a question asks for, in 6 coarse and 50 fine classes (Li and Roth, COLING 2002)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from explorer.benchmarks.core.benchmark import Benchmark, Parsed
from explorer.benchmarks.core.reading import damaged_file, read_rows
from explorer.benchmarks.published import published_file, raw_address
from explorer.records import Instance

FILES = {"train": "trec/train_5500.label", "test": "trec/TREC_10.label"}
CLASSES = ("ABBR", "ENTY", "DESC", "HUM", "LOC", "NUM")  # in the order of their published numbers


def load(paths: Mapping[str, Path], splits: Sequence[str]) -> Parsed:
    """A question a line, grouped by coarse class; split and row number are the key."""
    instances = []
    for split in [name for name in FILES if name in splits]:
        path = paths[FILES[split]]
        # The first publisher's edition is Latin-1; the rows are the same.
        for number, (label, question) in enumerate(read_rows(path, " ", 2, splits=1, fallback="latin-1")):
            coarse = label.partition(":")[0]
            if coarse not in CLASSES:
                raise damaged_file(path, number + 1, f"the class {label!r}", ", ".join(CLASSES))
            instances.append(
                Instance(
                    id=f"trec/{coarse}/{split}-{number}",
                    benchmark="trec",
                    split=split,
                    group=coarse,
                    kind="labelled",
                    format="trec",
                    context=question,
                    options=CLASSES,
                    gold=CLASSES.index(coarse),
                    label=label,
                    phenomenon="question_class",
                    extra={"fine": label},
                )
            )
    return Parsed(tuple(instances))


BENCHMARKS = {
    "trec": Benchmark(
        name="trec",
        title="TREC questions",
        kind="labelled",
        load=load,
        files=(
            published_file(FILES["train"], raw_address("trec", "train.txt"), splits=("train",)),
            published_file(FILES["test"], raw_address("trec", "test.txt"), splits=("test",)),
        ),
        splits=("train", "test"),
        default_splits=("train", "test"),
        license="for research, no license named",
        hub_id="CogComp/trec",
    )
}
