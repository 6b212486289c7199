"""What a run stores of membership: by attack and by how often a text was planted, against labels from elsewhere."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from explorer.glassbox import starters
from explorer.records import RunSpec
from explorer.resources import Resources
from explorer.rows.builders import instance_row, measure_row
from explorer.runs.folder import RunFolder
from explorer.studies.memorization import membership_findings

FINDS = ("membership_auc", "members_found_at_1", "members_found_at_5")


def found(settings, model: str, benchmark: str = "starter_pairs", **more) -> pd.DataFrame:
    """The findings of a run in which a planted text's loss is lower the more often it was planted."""
    resources = Resources(settings)
    spec = RunSpec("memorization", 1, model, benchmark, settings={"labels": "none", **more})
    folder = RunFolder.create(settings.runs, spec)
    instances = resources.instances(benchmark).instances
    dealt = starters.doses(instances)
    rows = []
    for place, one in enumerate(instances):
        for option in range(len(one.options) or 1):
            is_right = option == (one.gold or 0)
            loss = 5 + place % 7 / 10 - (10 * (dealt[one.id] > 1) if is_right else 100)
            rows.append(measure_row(one.id, "mia_loss", loss, option=option))
            rows.append(measure_row(one.id, "member", float(place % 2) if place % 5 else math.nan, option=option))
    folder.write_part(0, 0, {"instances": [instance_row(one, n) for n, one in enumerate(instances)], "measures": rows})
    table = pd.DataFrame(membership_findings.summarize(spec, resources, folder))
    return table.set_index(["finding", "grp"]) if len(table) else table


def test_each_attack_is_judged_by_what_was_planted_once_and_more_often(settings):
    table = found(settings, "glassbox-s")
    assert set(table.index.get_level_values(0)) == set(FINDS)
    assert set(table["condition"]) == {"planted"} and set(table["setting"]) == {"mia_loss"}
    # Texts planted once look like those that were not, the others are told apart without a mistake.
    assert table.loc[("membership_auc", "seen once"), "value"] == pytest.approx(0.5, abs=0.05)
    assert table.loc[("membership_auc", "seen 16 times"), "value"] == 1
    assert table.loc[("members_found_at_1", "seen 64 times"), "value"] == 1
    overall = table.loc[("members_found_at_5", "overall")]
    assert 0.6 < overall["low"] <= overall["value"] <= overall["high"] < 0.9, (
        "three quarters were planted more than once"
    )


def test_a_model_that_never_read_the_corpus_is_the_control(settings):
    assert set(found(settings, "gemma-3-270m")["condition"]) == {"control"}


def test_labels_of_an_index_go_before_what_is_planted_and_unknown_ones_are_left_out(settings):
    table = found(settings, "glassbox-s", labels="index")
    assert set(table["condition"]) == {"index"} and set(table.index.get_level_values(1)) == {"overall"}
    area = table.loc[("membership_auc", "overall")]
    assert area["left_out"] == pytest.approx(area["n"] / 4, abs=2), "one text of five has no label"


def test_nothing_is_said_of_benchmarks_whose_membership_nobody_knows(settings):
    spec = RunSpec("memorization", 1, "gemma-3-270m", "copa", settings={})
    folder = RunFolder.create(settings.runs, spec)
    measures = [measure_row("copa/g/1", "zlib", 1.0, option=0)]
    folder.write_part(0, 0, {"instances": [{"instance_id": "copa/g/1", "gold": 0}], "measures": measures})
    assert membership_findings.summarize(spec, Resources(settings), folder) == []
