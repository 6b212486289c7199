"""Every stored table and column, introduced once, with its meaning and type.

The same tables are Parquet parts in a run folder and tables in DuckDB (there with `run_id` in front).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

# What a study may vary; each is a nullable column of requests, scores, generations, measures and findings.
FACTORS: Mapping[str, tuple[str, str]] = {
    "condition": (
        "VARCHAR",
        "which version of the instance, for example matched_acceptable, original, a SyntaxGym condition",
    ),
    "length": ("INTEGER", "tokens of context before the target"),
    "k": ("INTEGER", "number of demonstrations"),
    "setting": ("VARCHAR", "a study's own setting, for example N, V, NV; full, pairs_labels, pairs"),
    "part": ("INTEGER", "which region (from 1), formula, repeat, order or bin (from 0)"),
    "language": ("VARCHAR", "language of the prompt (en, it, fr, de, es)"),
    "temperature": ("DOUBLE", "sampling temperature"),
}

_FACTOR_TYPES = {name: kind for name, (kind, _) in FACTORS.items()}

TABLES: Mapping[str, Mapping[str, str]] = {
    # One row per instance that the run looked at. `payload` is the whole Instance as JSON (see rows/builders.py).
    "instances": {
        "instance_id": "VARCHAR",
        "benchmark": "VARCHAR",
        "split": "VARCHAR",
        "grp": "VARCHAR",
        "phenomenon": "VARCHAR",
        "field": "VARCHAR",
        "kind": "VARCHAR",
        "gold": "INTEGER",
        "label": "VARCHAR",
        "text_hash": "VARCHAR",
        "position": "INTEGER",  # order in the run, from 0
        "payload": "VARCHAR",
    },
    # Instances made from an instance, or the reason why none was made.
    "variants": {
        "instance_id": "VARCHAR",  # the parent
        "variant_id": "VARCHAR",
        **_FACTOR_TYPES,
        "edit": "VARCHAR",  # JSON: swaps, context ids, seeds
        "accepted": "BOOLEAN",
        "reason": "VARCHAR",
        "payload": "VARCHAR",
    },
    # One row per scored request; `request` numbers them within the instance.
    "scores": {
        "instance_id": "VARCHAR",
        "request": "INTEGER",
        "option": "INTEGER",
        "role": "VARCHAR",
        **_FACTOR_TYPES,
        "logprob": "DOUBLE",  # nats, summed over the continuation
        "tokens": "INTEGER",
        "scored": "INTEGER",
        "chars": "INTEGER",
        "bytes": "INTEGER",
        "greedy": "BOOLEAN",
        "straddles": "BOOLEAN",
        "truncated": "INTEGER",
        "reason": "VARCHAR",
        "context": "VARCHAR",  # as asked; null where it can be rebuilt from the variant
        "continuation": "VARCHAR",
        "token_texts": "VARCHAR[]",
        "token_logprobs": "FLOAT[]",
    },
    "generations": {
        "instance_id": "VARCHAR",
        "request": "INTEGER",
        "role": "VARCHAR",
        **_FACTOR_TYPES,
        "prompt": "VARCHAR",
        "text": "VARCHAR",
        "tokens": "INTEGER",
        "finish": "VARCHAR",
        "verdict": "VARCHAR",
        "reason": "VARCHAR",
    },
    # One row per n-gram of an option's text.
    "counts": {
        "instance_id": "VARCHAR",
        "option": "INTEGER",
        **_FACTOR_TYPES,
        "index_name": "VARCHAR",
        "n": "INTEGER",
        "start": "INTEGER",  # first token of the n-gram in the text
        "ids": "INTEGER[]",
        "count": "DOUBLE",
        "approx": "BOOLEAN",
        "reason": "VARCHAR",
    },
    # One number about an instance; `option` is -1 where it is about the whole instance.
    "measures": {
        "instance_id": "VARCHAR",
        "option": "INTEGER",
        **_FACTOR_TYPES,
        "measure": "VARCHAR",
        "value": "DOUBLE",
        "reason": "VARCHAR",  # why value is nan, or a flag such as tie, undecided
    },
    # One number about many instances.
    "findings": {
        "finding": "VARCHAR",
        "grp": "VARCHAR",  # a group, "overall", "mean over groups" ...
        **_FACTOR_TYPES,
        "value": "DOUBLE",
        "low": "DOUBLE",
        "high": "DOUBLE",
        "p": "DOUBLE",
        "n": "INTEGER",
        "left_out": "INTEGER",
        "reason": "VARCHAR",
        "detail": "VARCHAR",  # JSON for what has no column
    },
}


def schema_of(table: str) -> pa.Schema:
    """The columns of a table as its Parquet files have them."""
    import pyarrow as pa

    types = {
        "VARCHAR": pa.string(),
        "INTEGER": pa.int32(),
        "BIGINT": pa.int64(),
        "DOUBLE": pa.float64(),
        "BOOLEAN": pa.bool_(),
        "VARCHAR[]": pa.list_(pa.string()),
        "FLOAT[]": pa.list_(pa.float32()),
        "INTEGER[]": pa.list_(pa.int32()),
    }
    return pa.schema([(name, types[kind]) for name, kind in TABLES[table].items()])
