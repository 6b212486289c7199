"""Popularity runs over a counter whose counts can be worked out by hand."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest

from explorer.benchmarks.core.benchmark import Loaded
from explorer.errors import CountError, RunError, UsageError
from explorer.popularity.cached import UNREACHABLE
from explorer.popularity.ips import DecileEdges
from explorer.records import Count, Instance
from explorer.resources import Resources
from explorer.runs import spec as specs
from explorer.runs.folder import RunFolder
from explorer.runs.request import make_spec
from explorer.runs.worker import work
from explorer.studies.popularity import deciles
from explorer.studies.popularity import (
    findings as popularity_findings,
)
from explorer.studies.popularity import (
    groups as popularity_groups,
)
from explorer.studies.popularity import (
    study as popularity_study,
)

COUNTS = {"the cat": 90, "cat sleeps": 8, "cat sleep": 1, "the dogs": 40, "dogs bark": 30, "dogs barks": 0}


class Words:
    """A counter whose tokens are words; a bigram occurs as often as COUNTS says."""

    def __init__(self, index: str = "words") -> None:
        self.index = index
        self.away = False
        self.names: list[str] = []

    def encode(self, texts, *, bare=False):
        for word in (word for text in texts for word in text.lower().strip(".").split()):
            if word not in self.names:
                self.names.append(word)
        return [tuple(self.names.index(word) for word in text.lower().strip(".").split()) for text in texts]

    def decode(self, ids):
        return tuple(f" {self.names[one]}" for one in ids)

    def count(self, ngrams, progress=None):
        if self.away:
            return [Count(self.index, each, math.nan, reason=f"{UNREACHABLE}: no answer") for each in ngrams]
        texts = ["".join(self.decode(each)).strip() for each in ngrams]
        return [Count(self.index, each, float(COUNTS.get(text, 0))) for each, text in zip(ngrams, texts, strict=True)]

    def total_tokens(self):
        return math.nan


def pair(key: str, good: str, bad: str, group: str = "g") -> Instance:
    return Instance(
        id=f"blimp/{group}/{key}", benchmark="blimp", split="train", group=group, kind="pair", format="sentence",
        options=(good, bad), gold=0, phenomenon="subject_verb_agreement", field="formal",
    )  # fmt: skip


PAIRS = (
    pair("0", "The cat sleeps.", "The cat sleep."),
    pair("1", "The dogs bark.", "The dogs barks."),
    pair("2", "Sleeps.", "Sleep."),
)


@pytest.fixture
def world(settings, tiny_gpt2) -> Resources:
    """Resources whose index is the counter above and whose BLiMP is three pairs."""
    resources = Resources(settings)
    for index in ("words", "demo"):
        resources.once(("counter", index), lambda name=index: Words(name))
    resources.once(("instances", "blimp", ()), lambda: Loaded(PAIRS, (), "here", "hash"))
    return resources


def run_of(world: Resources, model, **given) -> RunFolder:
    settings = {"index": "words", "n": 2, **given}
    spec = make_spec(world, study="popularity", model=str(model), benchmark="blimp", settings=settings)
    return RunFolder.create(world.settings.runs, spec)


def do(world: Resources, folder: RunFolder) -> str:
    return work(folder, world, lambda text: None, wait=False)


def test_a_run_rates_each_option_by_the_deciles_of_its_own_selection(world, tiny_gpt2):
    folder = run_of(world, tiny_gpt2)
    assert do(world, folder) == "complete"
    edges = DecileEdges.from_rows(folder.read("findings").to_dict("records"))
    # counts 90 8 1 40 30 0, sorted 0 1 8 30 40 90: quantiles at every half step
    assert edges.values == pytest.approx((0.5, 1, 4.5, 8, 19, 30, 35, 40, 65))
    assert edges.reference == "all options of 3 instances of blimp"
    measures = folder.read("measures").set_index(["instance_id", "measure", "option"])["value"]
    # the cat 90: 10; cat sleeps 8: edges 0.5, 1 and 4.5 lie below: 4; cat sleep 1: 2
    assert measures["blimp/g/0", "ips", 0] == (10 + 4) / 2
    assert measures["blimp/g/0", "ips", 1] == (10 + 2) / 2
    assert measures["blimp/g/0", "relative_difference", -1] == pytest.approx(1 / 7)
    # the dogs 40: 8; dogs bark 30: 6; dogs barks 0: 1
    assert measures["blimp/g/1", "relative_difference", -1] == pytest.approx((7 - 4.5) / 7)


def test_what_a_run_could_not_conclude_says_why(world, tiny_gpt2):
    folder = run_of(world, tiny_gpt2)
    assert do(world, folder) == "complete"
    findings = folder.read("findings")
    without = findings[findings["value"].isna()].set_index("finding")["reason"]
    assert "not known" in without["index_is_pretraining_data"]
    assert without.str.len().min() > 0


def test_a_text_shorter_than_n_is_left_out_and_counted(world, tiny_gpt2):
    folder = run_of(world, tiny_gpt2)
    do(world, folder)
    findings = folder.read("findings").set_index(["finding", "grp"])
    assert findings.loc[("popularity_difference", "overall"), "left_out"] == 1
    assert findings.loc[("popularity_difference", "overall"), "n"] == 2
    measures = folder.read("measures")
    short = measures[
        (measures["instance_id"] == "blimp/g/2") & measures["measure"].isin(["ips", "relative_difference"])
    ]
    assert short["value"].isna().all()
    assert short["reason"].str.contains("fewer than n = 2").all()


def test_the_default_length_is_the_papers_but_for_small_indexes():
    assert deciles.length_of({"n": 0, "index": "v4_piletrain_llama"}) == 7
    assert deciles.length_of({"n": 0, "index": "glassbox"}) == 4
    assert deciles.length_of({"n": 0, "index": "demo"}) == 2
    assert deciles.length_of({"n": 10, "index": "demo"}) == 10
    with pytest.raises(UsageError, match="n is 11"):
        deciles.length_of({"n": 11, "index": "demo"})


def test_edges_of_another_run_are_used_and_named(world, tiny_gpt2):
    first = run_of(world, tiny_gpt2)
    do(world, first)
    second = run_of(world, tiny_gpt2, edges_from=first.run_id, per_group=1)
    assert do(world, second) == "complete"
    ours, theirs = (DecileEdges.from_rows(folder.read("findings").to_dict("records")) for folder in (second, first))
    assert ours.values == theirs.values
    assert ours.reference == f"{theirs.reference}, edges of {first.run_id}"


def test_edges_of_another_length_are_refused(world, tiny_gpt2):
    first = run_of(world, tiny_gpt2)
    do(world, first)
    other = run_of(world, tiny_gpt2, edges_from=first.run_id, n=3)
    assert do(world, other) == "failed"
    assert "n = 2, asked is 3" in other.progress().message


def test_a_run_stops_while_the_service_is_away_and_ends_complete_afterwards(world, tiny_gpt2):
    counter = world.counter("words")
    folder = run_of(world, tiny_gpt2)
    counter.away = True
    assert do(world, folder) == "failed"
    assert "could not be had" in folder.progress().message
    assert not folder.finished()
    counter.away = False
    assert do(world, folder) == "complete"
    assert folder.read("counts")["count"].notna().all()


def test_counts_missing_for_an_outage_are_never_stored_as_gaps(world, tiny_gpt2):
    folder = run_of(world, tiny_gpt2)
    deciles.edges_of(folder.spec, world)  # the deciles are known already
    world.counter("words").away = True
    with pytest.raises(CountError, match="could not be had"):
        popularity_study.rate(folder.spec, world, PAIRS)


def test_parts_counted_in_another_edition_of_the_index_are_refused(world, tiny_gpt2):
    folder = run_of(world, tiny_gpt2)
    do(world, folder)
    with pytest.raises(RunError, match="words, the index is now newer"):
        popularity_findings.require_one_index(folder, "newer")


def frame(scores, correct, *, kind="choice", groups=None) -> pd.DataFrame:
    names = groups or ["g"] * len(scores)
    return pd.DataFrame({"grp": names, "kind": kind, "score": scores, "correct": correct}).astype({"score": float})


def findings_of(rows: list[dict]) -> dict[tuple[str, str], dict]:
    return {(row["finding"], row.get("setting") or ""): row for row in rows}


def test_halves_are_split_at_the_median_with_ties_to_the_low_one():
    found = findings_of(popularity_findings.compare("overall", frame([1, 2, 2, 3, 4], [0, 1, 0, 1, 1])))
    low, high = found["popularity_half", "low"], found["popularity_half", "high"]
    assert (low["value"], low["n"]) == (pytest.approx(1 / 3), 3)
    assert (high["value"], high["n"]) == (1.0, 2)
    assert found["popularity_difference", ""]["value"] == pytest.approx(2 / 3)
    assert json.loads(found["popularity_difference", ""]["detail"])["median"] == 2


def test_a_small_half_brings_the_split_by_rank():
    # 4 of 5 scores tie at the median: the halves hold 4 and 1 items
    found = findings_of(popularity_findings.compare("overall", frame([0, 0, 0, 0, 1], [1, 0, 1, 0, 1])))
    assert "tie at the median" in found["popularity_difference", ""]["reason"]
    assert found["popularity_rank_split", ""]["n"] == 5
    assert "popularity_rank_split" not in {
        row["finding"] for row in popularity_findings.compare("overall", frame([1, 2, 3, 4], [1, 0, 1, 0]))
    }


def test_an_instance_without_a_score_or_a_verdict_is_in_no_half():
    found = findings_of(popularity_findings.compare("overall", frame([1, 2, math.nan, 4], [1, 0, 1, math.nan])))
    assert (found["popularity_half", "low"]["n"], found["popularity_half", "high"]["n"]) == (1, 1)
    assert found["popularity_half", "low"]["left_out"] == 2


def test_pairs_get_intervals_over_paradigms():
    rng = np.random.default_rng(0)
    groups = [name for name in "abcd" for _ in range(20)]
    rows = popularity_findings.compare(
        "overall", frame(rng.random(80), rng.integers(0, 2, 80).astype(float), kind="pair", groups=groups)
    )
    found = findings_of(rows)
    assert json.loads(found["popularity_half", "low"]["detail"])["paradigms"] == 4
    assert json.loads(found["popularity_difference_over_paradigms", ""]["detail"])["paradigms"] == 4
    plain = findings_of(popularity_findings.compare("overall", frame([1, 2, 3, 4], [0, 1, 0, 1])))
    assert "paradigms" not in json.loads(plain["popularity_half", "low"]["detail"])
    assert ("popularity_difference_over_paradigms", "") not in plain


def test_the_slope_and_the_area_say_that_popular_instances_are_right():
    scores = np.linspace(0, 1, 40)
    correct = (scores + np.tile([0.3, -0.3], 20) > 0.5).astype(float)
    found = findings_of(popularity_findings.compare("overall", frame(scores, correct)))
    assert found["popularity_slope", ""]["value"] > 0
    assert found["popularity_slope", ""]["p"] < 0.01
    assert found["popularity_auc", ""]["low"] > 0.5


GROUPED = pd.DataFrame(
    {
        "instance_id": list("abcde"),
        "benchmark": ["blimp", "blimp", "blimp", "copa_superglue", "starter_causes"],
        "phenomenon": ["argument_structure", "s-selection", "island_effects", "", ""],
        "field": ["formal", "formal", "formal", "functional", "functional"],
    }
)


def test_groups_are_the_papers_tasks_then_phenomena_fields_and_everything():
    found = {name: members.tolist() for name, members in popularity_groups.groups_of(GROUPED)}
    assert found == {
        "argument_structure": [True, False, False, False, False],
        "copa": [False, False, False, True, False],
        "argument_structure_and_s_selection": [True, True, False, False, False],
        "phenomenon: s-selection": [False, True, False, False, False],
        "phenomenon: island_effects": [False, False, True, False, False],
        "field: formal": [True, True, True, False, False],
        "field: functional": [False, False, False, True, True],
        "overall": [True, True, True, True, True],
    }


@pytest.mark.parametrize(
    ("group", "kind", "title"),
    [
        ("copa", "task", "COPA"),
        ("phenomenon: island_effects", "phenomenon", "Island effects"),
        ("field: formal", "field", "Formal"),
        ("overall", "overall", "Overall"),
        ("argument_structure: verb swapped", "argument_structure", "Argument structure, verb swapped"),
    ],
)
def test_a_group_has_a_kind_and_a_title(group, kind, title):
    assert popularity_groups.kind_of(group) == kind
    assert popularity_groups.title_of(group) == title


def test_edges_that_another_process_made_are_not_made_again(world, tiny_gpt2):
    spec = run_of(world, tiny_gpt2).spec
    for_parts = popularity_study.STUDY.for_parts
    assert for_parts is not None
    made = for_parts(spec, world, lambda done, of: None)
    there = Resources(world.settings)  # as in a process that is told the run as JSON, which has no counter yet
    for key, edges in made.items():
        there.keep(key, edges)
    assert deciles.edges_of(specs.from_json(specs.to_json(spec)), there) == deciles.edges_of(spec, world)


@pytest.mark.parametrize(
    ("index", "is_here"),
    [("glassbox", True), ("wiki", True), ("v4_piletrain_llama", False), ("mini:x", False), ("http://host:1#x", False)],
)
def test_several_processes_count_in_an_index_on_this_machine_alone(index, is_here):
    study = popularity_study.STUDY
    assert study.may_be_apart(study.resolve({"index": index})) == is_here
