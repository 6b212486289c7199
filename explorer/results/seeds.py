"""Runs that differ in their seed alone, as one thing: which they are, and one row per finding over all of them."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from explorer.results import queries
from explorer.rows.schema import FACTORS
from explorer.stats.over_seeds import OverSeeds, over_seeds

if TYPE_CHECKING:
    from explorer.results.store import Store

KEY = ("finding", "grp", *FACTORS)
COLUMNS = tuple(field.name for field in dataclasses.fields(OverSeeds))


def same_but_seed(runs: pd.DataFrame) -> list[list[str]]:
    """The ids of complete runs that were asked for alike but for the seed, two or more together, by seed.

    `runs` has the columns run_id, status, seed, spec (JSON).
    """
    alike: dict[str, dict[int, str]] = {}
    for row in runs[runs["status"] == "complete"].to_dict("records"):
        alike.setdefault(_without_seed(str(row["spec"])), {}).setdefault(int(row["seed"] or 0), str(row["run_id"]))
    return [[seeds[seed] for seed in sorted(seeds)] for seeds in alike.values() if len(seeds) > 1]


def stored_sets(store: Store) -> list[list[str]]:
    """The same of all runs in the database."""
    return same_but_seed(queries.runs(store))


def _without_seed(spec: str) -> str:
    fields = json.loads(spec)
    fields.pop("seed", None)
    return json.dumps(fields, sort_keys=True)


def merge_seeds(findings: pd.DataFrame, run_ids: Iterable[str] | None = None) -> pd.DataFrame:
    """A row per finding, group and factors: mean, sd and range over seeds beside the mean ends of the single intervals.

    `findings` has the columns of the table and run_id, of runs that differ in their seed; `run_ids` limits them.
    """
    rows = findings if run_ids is None else findings[findings["run_id"].isin(list(run_ids))]
    rows = rows[rows["value"].notna()]
    merged_rows = []
    for key, group in rows.groupby(list(KEY), sort=False, dropna=False):
        pooled = over_seeds(group["value"], group["low"], group["high"])
        merged_rows.append(
            {**dict(zip(KEY, key, strict=True)), **dataclasses.asdict(pooled), "n": int(group["n"].median())}
        )
    return pd.DataFrame(merged_rows, columns=[*KEY, *COLUMNS, "n"])


def of_runs(findings: pd.DataFrame, groups: Sequence[Sequence[str]]) -> pd.DataFrame:
    """The same of several sets of runs; the column run_id has the first of each set."""
    frames = [merge_seeds(findings, ids).assign(run_id=ids[0]) for ids in groups]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=["run_id", *KEY, *COLUMNS, "n"])
