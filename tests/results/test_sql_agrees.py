"""What SQL says of stored verdicts and gaps is what Python says, over random runs with ties, gaps and infinities."""

from __future__ import annotations

import dataclasses
import math
import random

import numpy as np
import pytest

from explorer import prompts
from explorer.records import Instance, RunSpec, Score
from explorer.results import queries, store
from explorer.results.measures import MEASURES
from explorer.rows.builders import instance_row, measure_row, payload, score_row
from explorer.runs.folder import RunFolder
from explorer.scoring.policy import PRESETS
from explorer.scoring.reduce import word_of
from explorer.studies import verdicts
from explorer.studies.accuracy import findings as accuracy_findings
from explorer.studies.memorization import queries as memorization_queries
from explorer.studies.memorization import rows as memorization_rows
from explorer.studies.perturbation import findings as perturbation_findings
from explorer.studies.perturbation import queries as perturbation_queries
from explorer.studies.popularity import queries as popularity_queries

GAPS = (math.nan, -math.inf)
NAMES = {"right": "right", "wrong": "wrong", "tie": "tie", "none": "no verdict"}


def instances(count: int, chance: random.Random) -> list[Instance]:
    made = []
    for number in range(count):
        options = tuple(f"option {i}" for i in range(chance.choice((2, 2, 3, 4))))
        if chance.random() < 0.1:
            options = (options[0], *options[:1], *options[2:])  # the same text twice
        gold = None if chance.random() < 0.05 else chance.randrange(len(options))
        group = f"g{number % 3}"
        made.append(Instance(f"t/{group}/{number}", "t", "test", group, "choice", "choice", "It", "", options, gold))
    return made


def scored(instance: Instance, chance: random.Random) -> list[Score]:
    """Scores with gaps and ties: of each option at most one, sometimes none."""
    found = []
    for request in prompts.requests(instance):
        if chance.random() < 0.05:
            continue
        value = chance.choice(GAPS) if chance.random() < 0.15 else float(-chance.randint(1, 4))
        many = chance.randint(1, 3)
        values = (value,) + (0.0,) * (many - 1)
        reason = "too long" if math.isnan(value) else ""
        text = request.continuation.strip()
        found.append(
            Score(request, ("x",) * many, (1,) * many, values, len(text), len(text), False, False, reason=reason)
        )
    return found


def judged_run(settings, items, model: str, chance: random.Random, preset: str = "natural"):
    """A run of these items, and the word of each verdict as Python gave it."""
    spec = RunSpec("accuracy", 2, model, "t", settings={"preset": preset})
    folder = RunFolder.create(settings.runs, spec)
    tables: dict[str, list] = {"instances": [], "scores": [], "measures": []}
    words = {}
    for place, item in enumerate(items):
        own = scored(item, chance)
        rows = verdicts.judge(item, own, PRESETS[preset], "float32")
        tables["instances"].append(instance_row(item, place))
        tables["scores"] += [score_row(score, n) for n, score in enumerate(own)]
        tables["measures"] += rows
        words[item.id] = NAMES[word_of(next(row["value"] for row in rows if row["measure"] == "correct"))]
    folder.write_part(0, len(items) - 1, tables)
    return spec, folder, words


@pytest.mark.parametrize("seed", range(4))
def test_a_verdict_has_the_same_word_in_sql_and_python(settings, seed):
    chance = random.Random(seed)
    items = instances(150, chance)
    _, first, mine = judged_run(settings, items, "one", chance)
    _, second, theirs = judged_run(settings, items, "two", chance)
    store.ingest_runs(settings, [first, second])
    held = store.open_store(settings)
    assert set(mine.values()) == set(NAMES.values())
    found = queries.items(held, first.run_id)
    assert dict(zip(found["instance_id"], found["verdict"], strict=True)) == mine
    for asked, word in {"wrong": "wrong", "ties": "tie", "right": "right", "no verdict": "no verdict"}.items():
        told = queries.items(held, first.run_id, verdict=asked)
        assert set(told["instance_id"]) == {name for name, one in mine.items() if one == word}

    def outcome(one: str, other: str) -> str:
        if "no verdict" in (one, other):
            return "no verdict"
        if "tie" in (one, other):
            return "a tie"
        both = {("right", "right"): "both right", ("right", "wrong"): "only the first"}
        return {**both, ("wrong", "right"): "only the second"}.get((one, other), "both wrong")

    both = queries.two_runs(held, first.run_id, second.run_id)
    assert dict(zip(both["instance_id"], both["outcome"], strict=True)) == {
        item.id: outcome(mine[item.id], theirs[item.id]) for item in items
    }
    value = held.frame(MEASURES["correct"].query, [first.run_id]).set_index("instance_id")["value"]
    assert {name: NAMES[word_of(None if one != one else one)] for name, one in value.items()} == mine


@pytest.mark.parametrize("preset", ["natural", "lm-eval"])
@pytest.mark.parametrize("seed", range(3))
def test_the_row_of_the_reduction_that_a_run_judged_by_is_its_overall_row(settings, seed, preset):
    chance = random.Random(seed)
    items = instances(200, chance)
    spec, folder, words = judged_run(settings, items, "one", chance, preset)
    rows = accuracy_findings.summarize(spec, None, folder)
    whole = [row for row in rows if row["finding"] == "accuracy" and row["grp"] == "overall"]
    overall, by_sum = (next(row for row in whole if row.get("setting") == name) for name in (None, "sum"))
    for name in ("value", "low", "high", "n", "left_out", "detail"):
        assert overall[name] == by_sum[name]
    assert overall["left_out"] == list(words.values()).count("no verdict") > 0
    assert {row["n"] + row["left_out"] for row in whole} == {len(items)}


@pytest.mark.parametrize("seed", range(3))
def test_a_gap_in_one_of_several_other_options_is_a_gap_in_their_mean_in_sql_and_python(settings, seed):
    chance = random.Random(seed)
    items = instances(120, chance)
    rows = [
        measure_row(item.id, name, math.nan if chance.random() < 0.15 else chance.gauss(0, 1), option=option)
        for item in items
        for option in range(len(item.options))
        for name in ("mia_loss", "ips")
    ]
    folder = RunFolder.create(settings.runs, RunSpec("memorization", 2, "one", "t", settings={}))
    tables = {"instances": [instance_row(one, place) for place, one in enumerate(items)], "measures": rows}
    folder.write_part(0, len(items) - 1, tables)
    folder.write_progress(status="complete", total=len(items))
    store.ingest_runs(settings, [folder])
    held = store.open_store(settings)
    mine = memorization_rows.scored_instances(folder).set_index("instance_id")
    labelled = [one.id for one in items if one.gold is not None]
    found = memorization_queries.items(held, folder.run_id, "mia_loss").set_index("instance_id")
    for column, name in (("own", "correct"), ("other", "wrong")):
        expected = mine.loc[labelled, f"mia_loss/{name}"].to_numpy(dtype=float)
        np.testing.assert_allclose(found.loc[labelled, column].to_numpy(dtype=float), expected)
        assert np.isnan(expected).any() and not np.isnan(expected).all()
    gap = held.frame(MEASURES["mia_loss"].query, [folder.run_id]).set_index("instance_id")["value"]
    expected = (mine["mia_loss/correct"] - mine["mia_loss/wrong"]).loc[labelled].to_numpy(dtype=float)
    np.testing.assert_allclose(gap.loc[labelled].to_numpy(dtype=float), expected)
    others = popularity_queries.items(held, folder.run_id).set_index("instance_id")["ips_others"]
    for item in items:
        own = [row["value"] for row in rows if row["instance_id"] == item.id and row["measure"] == "ips"]
        mean = np.mean([value for option, value in enumerate(own) if option != (item.gold or 0)])
        np.testing.assert_allclose(float(others[item.id]), mean)


@pytest.mark.parametrize("seed", range(3))
def test_what_became_of_swapped_instances_is_counted_alike_in_sql_and_python(settings, seed):
    chance = random.Random(seed)
    items = [dataclasses.replace(one, gold=0) for one in instances(120, chance)]
    sides = ({"condition": "original"}, {"condition": "perturbed", "setting": "NV"})
    rows = [
        measure_row(one.id, "correct", chance.choice((1.0, 0.0, 0.5, math.nan)), factors=side)
        for one in items
        for side in sides
    ]
    rows += [measure_row(one.id, "swaps", float(chance.randint(0, 1)), factors=sides[1]) for one in items]
    variants = [
        {
            "instance_id": one.id, "variant_id": f"{one.id}#NV", **sides[1], "edit": None,
            "accepted": chance.random() < 0.9, "reason": "", "payload": payload(one),
        }
        for one in items
    ]  # fmt: skip
    folder = RunFolder.create(settings.runs, RunSpec("perturbation", 2, "one", "t", settings={}))
    tables = {"instances": [instance_row(one, n) for n, one in enumerate(items)], "measures": rows}
    folder.write_part(0, len(items) - 1, {**tables, "variants": variants})
    store.ingest_runs(settings, [folder])
    counts = perturbation_queries.fates(store.open_store(settings), folder.run_id, "NV").set_index("fate")["n"]
    frame = perturbation_findings.paired(
        folder.read("instances"), folder.read("measures"), folder.read("variants"), "NV"
    )  # fmt: skip
    before, after = frame["correct_before"], frame["correct_after"]
    known = before.notna() & after.notna()
    assert counts["lost (right, then wrong)"] == int((known & (before == 1) & (after < 1)).sum())
    assert counts["gained (wrong, then right)"] == int((known & (before < 1) & (after == 1)).sum())
    assert counts["no verdict"] == int((~known & frame["accepted"]).sum()) > 0
    judged = ("lost (right, then wrong)", "gained (wrong, then right)", "right both times", "wrong both times")
    assert sum(counts[name] for name in judged) == int(known.sum())
