"""WinoGrande 1.1: which name fills the gap of a sentence (Sakaguchi et al., AAAI 2020)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from explorer.benchmarks.core.benchmark import Benchmark, Parsed
from explorer.benchmarks.core.reading import damaged_file, read_json_rows, read_lines, unique_keys
from explorer.benchmarks.published import published_file, raw_address
from explorer.records import Instance


def load(name: str, stem: str, paths: Mapping[str, Path], splits: Sequence[str]) -> Parsed:
    """A sentence with one "_" and two options a row; the question ID is the key, its stem names the twin."""
    path, labels_path = paths[f"winogrande/{stem}.jsonl"], paths[f"winogrande/{stem}-labels.lst"]
    rows = read_json_rows(path, qID=str, sentence=str, option1=str, option2=str, answer=str)
    if read_lines(labels_path) != [row["answer"] for row in rows]:
        raise damaged_file(labels_path, None, "other labels", f"the answers of {path.name}")
    instances = []
    for number, (key, row) in enumerate(zip(unique_keys(row["qID"] for row in rows), rows, strict=True), 1):
        if row["answer"] not in ("1", "2") or row["sentence"].count("_") != 1:
            raise damaged_file(path, number, "another answer or number of gaps", 'answer "1" or "2" and one "_"')
        instances.append(
            Instance(
                id=f"{name}/{stem}/{key}",
                benchmark=name,
                split=stem,
                group=stem,
                kind="choice",
                format="winogrande",
                context=row["sentence"],
                options=(row["option1"], row["option2"]),
                gold=int(row["answer"]) - 1,
                label=row["answer"],
                phenomenon="pronoun_resolution",
                field="functional",
                extra={"stem": row["qID"].rpartition("-")[0]},
            )
        )
    return Parsed(tuple(instances))


def _benchmark(name: str, title: str, stem: str) -> Benchmark:
    return Benchmark(
        name=name,
        title=title,
        kind="choice",
        load=partial(load, name, stem),
        files=tuple(
            published_file(f"winogrande/{stem}{ending}", raw_address("winogrande", f"{stem}{ending}"))
            for ending in (".jsonl", "-labels.lst")
        ),
        splits=(stem,),
        default_splits=(stem,),
        field="functional",
        license="CC BY 2.0",
        hub_id="allenai/winogrande",
    )


BENCHMARKS = {
    "winogrande": _benchmark("winogrande", "WinoGrande", "dev"),
    "winogrande_train_xs": _benchmark("winogrande_train_xs", "WinoGrande (smallest training set)", "train_xs"),
}
