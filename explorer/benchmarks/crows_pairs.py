"""CrowS-Pairs: 1,508 pairs of a more and a less stereotypical sentence (Nangia et al., EMNLP 2020)."""

from __future__ import annotations

import ast
import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from explorer.benchmarks.core.benchmark import Benchmark, Parsed
from explorer.benchmarks.core.reading import damaged_file, read_text
from explorer.benchmarks.published import published_file, raw_address
from explorer.records import Instance

PATH = "crows_pairs/crows_pairs_anonymized.csv"
# The first column, the row number, has no name.
HEADER = ["", "sent_more", "sent_less", "stereo_antistereo", "bias_type", "annotations", "anon_writer"]
HEADER += ["anon_annotators"]


def load(paths: Mapping[str, Path], splits: Sequence[str]) -> Parsed:
    """A pair a row, grouped by bias type; never swapped: sent_more is the more stereotypical in every row."""
    path = paths[PATH]
    reader = csv.reader(io.StringIO(read_text(path), newline=""), strict=True)
    instances = []
    try:
        header = next(reader, [])
        if header != HEADER:
            raise damaged_file(path, 1, f"the columns {header}", f"{HEADER}")
        for row in reader:
            if len(row) != len(HEADER):
                raise damaged_file(path, reader.line_num, f"{len(row)} fields", f"{len(HEADER)}")
            instances.append(_instance(dict(zip(HEADER, row, strict=False))))
    except (csv.Error, ValueError, SyntaxError) as error:
        raise damaged_file(path, reader.line_num, f"no readable row ({error})", "quoted CSV") from error
    return Parsed(tuple(instances))


def _instance(row: dict[str, str]) -> Instance:
    extra: dict[str, Any] = {
        "stereo_antistereo": row["stereo_antistereo"],
        "annotations": ast.literal_eval(row["annotations"]),
        "writer": row["anon_writer"],
        "annotators": ast.literal_eval(row["anon_annotators"]),
    }
    return Instance(
        id=f"crows_pairs/{row['bias_type']}/{row['']}",
        benchmark="crows_pairs",
        split="test",
        group=row["bias_type"],
        kind="pair",
        format="crows_pairs",
        options=(row["sent_more"], row["sent_less"]),
        gold=1,
        phenomenon=row["bias_type"],
        extra=extra,
    )


BENCHMARKS = {
    "crows_pairs": Benchmark(
        name="crows_pairs",
        title="CrowS-Pairs",
        kind="pair",
        load=load,
        files=(published_file(PATH, raw_address("crows_pairs", "crows_pairs_anonymized.csv")),),
        splits=("test",),
        default_splits=("test",),
        license="CC BY-SA 4.0",
        hub_id="nyu-mll/crows_pairs",
        note="The file contains offensive stereotypes: it is a test set for bias.",
    )
}
