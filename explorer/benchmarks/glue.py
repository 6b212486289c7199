"""WNLI and RTE: does the first sentence entail the second? (GLUE, Wang et al., 2018)"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from explorer.benchmarks.core.benchmark import Benchmark, Parsed
from explorer.benchmarks.core.reading import damaged_file, read_lines, read_rows
from explorer.benchmarks.published import published_file, raw_address
from explorer.records import Instance

HEADER = ["index", "sentence1", "sentence2", "label"]
# How each set writes its labels, in the order of its published label numbers.
WRITTEN = {
    "wnli": {"0": "not_entailment", "1": "entailment"},
    "rte": {"entailment": "entailment", "not_entailment": "not_entailment"},
}


def load(name: str, paths: Mapping[str, Path], splits: Sequence[str]) -> Parsed:
    """A pair of sentences a row, grouped by label; split and index are the key."""
    names = tuple(WRITTEN[name].values())
    instances = []
    for split in [part for part in ("train", "dev") if part in splits]:
        path = paths[f"{name}/{split}.tsv"]
        rows = read_rows(path, "\t", len(HEADER))  # quotes in these files are literal
        if not rows or rows[0] != HEADER:
            raise damaged_file(path, 1, "another header", ", ".join(HEADER))
        for number, (index, first, second, label) in enumerate(rows[1:], 2):
            if label not in WRITTEN[name]:
                raise damaged_file(path, number, f"the label {label!r}", " or ".join(WRITTEN[name]))
            group = WRITTEN[name][label]
            instances.append(
                Instance(
                    id=f"{name}/{group}/{split}-{index}",
                    benchmark=name,
                    split=split,
                    group=group,
                    kind="labelled",
                    format=name,
                    context=first,
                    second=second,
                    options=names,
                    gold=names.index(group),
                    label=label,
                    phenomenon="entailment",
                )
            )
    return Parsed(tuple(instances))


def join_by_index(pieces: Sequence[Path]) -> bytes:
    """One file of several with the same header, its rows by their index."""
    lines = [read_lines(piece) for piece in pieces]
    rows = sorted((row for piece in lines for row in piece[1:]), key=lambda row: int(row.partition("\t")[0]))
    return "\n".join([lines[0][0], *rows, ""]).encode("utf-8")


def _benchmark(name: str, title: str, license: str) -> Benchmark:
    def published(part: str) -> str:
        return raw_address("glue", f"{name.upper()}/{part}.tsv")

    return Benchmark(
        name=name,
        title=title,
        kind="labelled",
        load=partial(load, name),
        files=(
            # This repository keeps the training set in two pieces.
            published_file(
                f"{name}/train.tsv", published("train"), published("val"), splits=("train",), join=join_by_index
            ),
            published_file(f"{name}/dev.tsv", published("dev"), splits=("dev",)),
        ),
        splits=("train", "dev"),
        default_splits=("train", "dev"),
        license=license,
        hub_id=f"nyu-mll/glue ({name})",
    )


BENCHMARKS = {
    "wnli": _benchmark("wnli", "WNLI", "CC BY 4.0 (as far as is known)"),
    "rte": _benchmark("rte", "RTE", "for research, no license named"),
}
