"""Settings of a study, and which instances a run looks at."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.errors import UsageError
from explorer.records import Instance
from explorer.studies import STUDIES, selection, study
from explorer.studies.study import Setting

ITEMS = [
    Instance(f"t/{group}/{number}", "t", "all", group, "pair", "sentence", options=("x", "y"), gold=0)
    for number in range(30)
    for group in "ab"
]


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_fills_in_its_defaults_and_refuses_a_setting_it_does_not_have(name):
    recipe = study(name)
    assert recipe.name == name
    assert set(recipe.resolve({})) == {key for key, setting in recipe.settings.items() if not setting.is_optional}
    with pytest.raises(UsageError, match="no setting colour"):
        recipe.resolve({"colour": "red"})


def test_a_setting_takes_the_type_of_its_default():
    assert Setting(7, "").parse("n", "5") == 5
    assert Setting((0, 1), "").parse("k", "0, 25,50") == (0, 25, 50)
    assert Setting(True, "").parse("tokens", "no") is False
    with pytest.raises(UsageError, match=r"n got 'seven', expected a whole number, like 7"):
        Setting(7, "").parse("n", "seven")
    with pytest.raises(UsageError, match="expected one of a, b"):
        Setting("a", "", ("a", "b")).parse("form", "c")
    with pytest.raises(UsageError, match="per_group got -1, expected no number below 0"):
        Setting(0, "").parse("per_group", "-1")
    with pytest.raises(UsageError, match="lengths got -5"):
        Setting((0, 100), "").parse("lengths", "0,-5")


@given(st.integers(1, 40), st.integers(0, 5))
def test_a_draw_per_group_is_seeded_balanced_and_in_order(per_group, seed):
    drawn = selection.sample_per_group(ITEMS, per_group, seed)
    assert drawn == selection.sample_per_group(ITEMS, per_group, seed)
    assert Counter(item.group for item in drawn) == {"a": min(30, per_group), "b": min(30, per_group)}
    places = [ITEMS.index(item) for item in drawn]
    assert places == sorted(places)


def test_an_unknown_group_is_named_with_those_there_are():
    assert {item.group for item in selection.of_suites(ITEMS, ["b"])} == {"b"}
    with pytest.raises(UsageError, match=r"no group c .* its groups are a, b"):
        selection.of_suites(ITEMS, ["c"])
