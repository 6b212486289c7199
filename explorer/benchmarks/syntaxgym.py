"""SyntaxGym: 34 suites of items in two to six conditions, cut into regions (Hu et al., ACL 2020)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from explorer.benchmarks.core.benchmark import Benchmark, Parsed
from explorer.benchmarks.core.reading import damaged_file, read_text, unique_keys
from explorer.benchmarks.published import CHECKSUMS, published_file, raw_address
from explorer.records import Condition, Instance

SUITES = tuple(sorted(path[10:-5] for path in CHECKSUMS if path.startswith("syntaxgym/")))

# The paper's six circuits, by how a suite's name begins.
CIRCUITS = {
    "center_embed": "center_embedding",
    "cleft": "long_distance_dependencies",
    "fgd": "long_distance_dependencies",
    "mvrr": "garden_path_effects",
    "nn-nv-rpl": "garden_path_effects",
    "npz": "garden_path_effects",
    "npi": "licensing",
    "reflexive": "licensing",
    "number": "agreement",
    "subordination": "gross_syntactic_state",
}


def load(paths: Mapping[str, Path], splits: Sequence[str]) -> Parsed:
    """An instance an item, its conditions by name and its regions as in the file; the item number is the key."""
    return Parsed(tuple(instance for path in paths.values() for instance in _read_suite(path)))


def circuit_of(suite: str) -> str:
    """The circuit of a suite, "" for a suite the paper does not have."""
    return next((name for start, name in CIRCUITS.items() if suite.startswith(start)), "")


def _read_suite(path: Path) -> list[Instance]:
    try:
        suite = json.loads(read_text(path))
        name = suite["meta"]["name"]
        formulas = [prediction["formula"] for prediction in suite["predictions"]]
        regions = [suite["region_meta"][number] for number in sorted(suite["region_meta"], key=int)]
        keys = unique_keys(str(item["item_number"]) for item in suite["items"])
        return [
            Instance(
                id=f"syntaxgym/{name}/{key}",
                benchmark="syntaxgym",
                split="test",
                group=name,
                kind="regions",
                format="syntaxgym",
                phenomenon=circuit_of(name),
                field="formal",
                conditions=tuple(_condition(condition) for condition in item["conditions"]),
                extra={"formulas": formulas, "regions": regions},
            )
            for key, item in zip(keys, suite["items"], strict=True)
        ]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        actual = f"no readable suite ({type(error).__name__}: {error})"
        raise damaged_file(path, None, actual, "meta, region_meta, predictions and items with conditions") from error


def _condition(condition: dict[str, Any]) -> Condition:
    regions = sorted(condition["regions"], key=lambda region: int(region["region_number"]))
    return Condition(condition["condition_name"], tuple(region["content"] for region in regions))


BENCHMARKS = {
    "syntaxgym": Benchmark(
        name="syntaxgym",
        title="SyntaxGym",
        kind="regions",
        load=load,
        files=tuple(
            published_file(f"syntaxgym/{name}.json", raw_address("syntaxgym", f"{name}.json")) for name in SUITES
        ),
        splits=("test",),
        default_splits=("test",),
        field="formal",
        license="MIT",
        hub_id="cpllab/syntaxgym",
    )
}
