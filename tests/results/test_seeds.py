"""Runs that differ in their seed alone are found, and their findings merged into one row each."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from explorer.records import RunSpec
from explorer.results import seeds
from explorer.rows.builders import finding_row
from explorer.rows.schema import TABLES
from explorer.runs import spec as specs
from explorer.stats.estimate import Estimate
from explorer.studies.accuracy.declared import ACCURACY


def run(name: str, seed: int, status: str = "complete", **more: object) -> dict:
    spec = RunSpec("accuracy", 1, "m", "copa", seed=seed, settings={"preset": "natural", **more})
    return {"run_id": name, "status": status, "seed": seed, "spec": specs.to_json(spec)}


def test_only_complete_runs_that_were_asked_for_alike_are_one_thing():
    runs = [run("c", 2), run("a", 0), run("b", 1), run("d", 3, "failed"), run("e", 0, bos="never"), run("f", 9, n=3)]
    assert seeds.same_but_seed(pd.DataFrame(runs)) == [["a", "b", "c"]]


def test_a_finding_is_merged_group_by_group():
    rows = []
    for name, whole, part in (("a", 0.6, 0.5), ("b", 0.7, 0.5), ("c", 0.8, math.nan)):
        for group, value in (("overall", whole), ("cause", part)):
            found = finding_row(ACCURACY, group, Estimate(value, value - 0.1, value + 0.1, 50))
            rows.append({"run_id": name, **found})
    frame = pd.DataFrame(rows, columns=["run_id", *TABLES["findings"]])
    merged = seeds.of_runs(frame, [["a", "b", "c"]]).set_index("grp")
    assert (merged.loc["overall", "mean"], merged.loc["overall", "sd"]) == (pytest.approx(0.7), pytest.approx(0.1))
    assert (merged.loc["overall", "low"], merged.loc["overall", "high"]) == (pytest.approx(0.6), pytest.approx(0.8))
    assert merged.loc["cause", "seeds"] == 2 and merged.loc["overall", "n"] == 50
    assert set(merged["run_id"]) == {"a"}
