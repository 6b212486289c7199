"""Gene Ontology and Uberon as a naming task: the identifier of a label, with web counts (Bombieri et al., 2024)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from explorer.benchmarks.core.benchmark import Benchmark, Parsed
from explorer.benchmarks.core.reading import damaged_file, read_rows, unique_keys
from explorer.benchmarks.published import published_file, raw_address
from explorer.records import Instance


def load(name: str, paths: Mapping[str, Path], splits: Sequence[str]) -> Parsed:
    """A concept a row, obsolete and repeated labels included; its identifier is the key."""
    path = paths[f"{name}/{name}_dataset.csv"]
    rows = read_rows(path, ";", 4)  # identifier, label, annotations, web count
    instances = []
    for number, (key, row) in enumerate(zip(unique_keys(row[0] for row in rows), rows, strict=True), 1):
        identifier, label, annotations, web_count = row
        prefix, colon, digits = identifier.partition(":")
        if not colon or not digits.isdecimal() or not annotations.isdecimal() or not web_count.isdecimal():
            raise damaged_file(
                path, number, f"{identifier};…;{annotations};{web_count}", "PREFIX:digits;label;count;count"
            )
        instances.append(
            Instance(
                id=f"{name}/{prefix}/{key}",
                benchmark=name,
                split="all",
                group=prefix,
                kind="concept",
                format="concept",
                context=label,
                options=(identifier,),
                gold=0,
                label=identifier,
                phenomenon="identifier",
                extra={"annotations": int(annotations), "web_count": int(web_count)},
            )
        )
    return Parsed(tuple(instances))


def _benchmark(name: str, title: str, license: str) -> Benchmark:
    return Benchmark(
        name=name,
        title=title,
        kind="concept",
        load=partial(load, name),
        files=(published_file(f"{name}/{name}_dataset.csv", raw_address("ontologies", f"{name}_dataset.csv")),),
        splits=("all",),
        default_splits=("all",),
        license=license,
    )


BENCHMARKS = {
    "go": _benchmark("go", "Gene Ontology", "CC0 1.0 (labels CC BY 4.0)"),
    "uberon": _benchmark("uberon", "Uberon", "CC0 1.0 (labels CC BY 3.0)"),
}
