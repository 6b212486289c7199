"""Slices: what is kept comes back, what is damaged counts as none, and a run can be limited to one."""

from __future__ import annotations

import json

import pytest

from explorer import settings as settings_module
from explorer.errors import UsageError
from explorer.resources import Resources
from explorer.runs import slices, spec
from explorer.runs.request import make_spec
from explorer.studies import study

PAIRS = ["starter_pairs/anaphor_agreement/x", "starter_pairs/ellipsis/y"]


@pytest.fixture
def settings(tmp_path):
    return settings_module.read(cache=tmp_path / "cache")


def test_a_slice_comes_back_by_its_name_in_words(settings):
    made = slices.store_slice(settings, "Lost by swaps!", "starter_pairs", [*PAIRS, PAIRS[0]])
    assert made.name == "lost-by-swaps" and list(made.ids) == PAIRS
    assert slices.find(settings, "lost-by-swaps") == made
    assert slices.of_benchmark(settings, "starter_pairs") == [made]
    assert slices.of_benchmark(settings, "blimp") == []


@pytest.mark.parametrize("name", ["", "   ", "../../etc", "---"])
def test_a_name_never_leaves_the_folder(settings, name):
    if slices.name_of(name):
        slices.store_slice(settings, name, "starter_pairs", PAIRS)
        assert {path.parent for path in settings.cache.rglob("*.json")} == {settings.slices}
    else:
        with pytest.raises(UsageError, match="letter or digit"):
            slices.store_slice(settings, name, "starter_pairs", PAIRS)
    assert slices.find(settings, name) is None


def test_a_slice_is_bounded(settings):
    many = [f"starter_pairs/a/{number}" for number in range(slices.MOST_IDS + 1)]
    with pytest.raises(UsageError, match="5,001"):
        slices.store_slice(settings, "all", "starter_pairs", many)
    with pytest.raises(UsageError, match="these are 0"):
        slices.store_slice(settings, "none", "starter_pairs", [])


@pytest.mark.parametrize(
    "change",
    [{"ids": ["other"]}, {"ids": "text"}, {"format": 2}, {"benchmark": 3}, {"name": "another"}, {"more": 1}],
)
def test_a_changed_file_counts_as_none(settings, change):
    slices.store_slice(settings, "mine", "starter_pairs", PAIRS)
    path = settings.slices / "mine.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}), encoding="utf-8")
    assert slices.find(settings, "mine") is None
    assert slices.of_benchmark(settings, "starter_pairs") == []


@pytest.mark.parametrize(
    "change",
    [{"made": 10**400}, {"made": float("nan")}, {"made": True}, {"ids": ["x" * 501]}, {"ids": []}, {"benchmark": "\0"}],
    ids=repr,
)
def test_a_file_made_to_do_harm_counts_as_none(settings, change):
    slices.store_slice(settings, "mine", "starter_pairs", PAIRS)
    path = settings.slices / "mine.json"
    fields = {key: value for key, value in json.loads(path.read_text()).items() if key != "check"}
    path.write_text(json.dumps({**fields, **change}), encoding="utf-8")
    assert slices.of_benchmark(settings, "starter_pairs") == []


def test_a_name_of_another_benchmark_is_not_taken_over(settings):
    slices.store_slice(settings, "mine", "starter_pairs", PAIRS)
    with pytest.raises(UsageError, match="another benchmark"):
        slices.store_slice(settings, "mine", "blimp", ["blimp/a/1"])
    with pytest.raises(UsageError, match="mine"):
        slices.needed(settings, "other", "starter_pairs")


def test_what_somebody_kept_meanwhile_is_not_replaced_before_it_was_told(settings):
    theirs = slices.store_slice(settings, "mine", "starter_pairs", PAIRS, {})
    with pytest.raises(UsageError, match="Somebody has kept 2 other instances as mine"):
        slices.store_slice(settings, "Mine", "starter_pairs", PAIRS[:1], {})
    assert slices.find(settings, "mine") == theirs
    slices.store_slice(settings, "mine", "starter_pairs", PAIRS, {})  # the same instances: nobody loses any
    told = {one.name: one.made for one in slices.of_benchmark(settings, "starter_pairs")}
    assert slices.store_slice(settings, "mine", "starter_pairs", PAIRS[:1], told).ids == tuple(PAIRS[:1])


def test_a_run_takes_the_instances_of_a_slice_alone(settings, tiny_gpt2):
    resources = Resources(settings)
    asked = {"study": "accuracy", "model": str(tiny_gpt2), "benchmark": "starter_pairs"}
    everything = make_spec(resources, **asked)
    some = [one.id for one in resources.instances("starter_pairs").instances[5:9]]
    limited = make_spec(resources, **asked, only=some)
    assert [one.id for one in study("accuracy").select(limited, resources)] == some
    assert len(study("accuracy").select(everything, resources)) == 2800
    # Other instances are another run; a run without a slice is called as before there were any.
    assert spec.run_id(limited) != spec.run_id(everything) and "only" not in everything.settings
    assert spec.from_json(spec.to_json(limited)) == limited
    with pytest.raises(UsageError, match="None of the 1 instances"):
        make_spec(resources, **asked, only=["starter_pairs/nothing/0"])


def test_a_study_that_draws_its_items_takes_no_slice(settings, tiny_gpt2):
    with pytest.raises(UsageError, match="takes no slice"):
        make_spec(Resources(settings), study="icl", model=str(tiny_gpt2), benchmark="starter_entailment", only=["x"])
