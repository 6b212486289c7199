"""SyntaxGym's loader and what is odd in its files."""

import json
from collections import Counter, defaultdict

import pytest

from explorer.benchmarks import syntaxgym
from explorer.benchmarks.core import syntaxgym_formula
from explorer.errors import BenchmarkError


def suite(items, name="number_prep", formulas=("(1;%good%) < (1;%bad%)",)):
    return {
        "meta": {"name": name, "metric": "sum"},
        "region_meta": {"2": "verb", "1": "subject"},
        "predictions": [{"type": "formula", "formula": formula} for formula in formulas],
        "items": items,
    }


def item(number, *conditions):
    return {
        "item_number": number,
        "conditions": [
            {
                "condition_name": name,
                "regions": [{"region_number": i, "content": text} for i, text in enumerate(regions, 1)],
            }
            for name, regions in conditions
        ],
    }


def parse(tmp_path, made):
    path = tmp_path / "suite.json"
    path.write_text(made if isinstance(made, str) else json.dumps(made), "utf-8")
    return syntaxgym.load({"syntaxgym/suite.json": path}, ["test"]).instances


def test_an_item_becomes_one_instance_with_its_conditions(tmp_path):
    made = suite([item(3, ("good", ["The cats", "sleep"]), ("bad", ["The cats", "sleeps"]))])
    (instance,) = parse(tmp_path, made)
    assert instance.id == "syntaxgym/number_prep/3"
    assert [condition.name for condition in instance.conditions] == ["good", "bad"]
    assert instance.conditions[1].regions == ("The cats", "sleeps")
    assert (instance.phenomenon, instance.kind) == ("agreement", "regions")
    assert instance.extra == {"formulas": ["(1;%good%) < (1;%bad%)"], "regions": ["subject", "verb"]}


def test_regions_are_kept_as_in_the_file_and_put_in_order_of_their_numbers(tmp_path):
    made = suite([item(1, ("good", ["", " sleep "]))])
    made["items"][0]["conditions"][0]["regions"].reverse()
    (instance,) = parse(tmp_path, made)
    assert instance.conditions[0].regions == ("", " sleep ")


@pytest.mark.parametrize("text", ["", "[]", '{"meta": {}}', '{"meta": {"name": "x"}, "predictions": 3}', "not json"])
def test_a_damaged_suite_is_named(tmp_path, text):
    with pytest.raises(BenchmarkError, match=r"suite\.json"):
        parse(tmp_path, text)


# --- the real files


def test_items_sentences_and_formulas(real):
    instances = real("syntaxgym").instances
    assert sum(len(instance.conditions) for instance in instances) == 3_304
    formulas = {(i.group, formula) for i in instances for formula in i.extra["formulas"]}
    assert len(formulas) == 36


def test_every_formula_parses_and_asks_for_regions_the_items_have(real):
    for instance in real("syntaxgym").instances:
        there = {(c.name, n) for c in instance.conditions for n in range(1, len(c.regions) + 1)}
        for text in instance.extra["formulas"]:
            formula = syntaxgym_formula.parse_formula(text)
            assert {(r.condition, r.number) for r in syntaxgym_formula.regions_of(formula)} <= there
            assert syntaxgym_formula.holds(formula, dict.fromkeys(there, 1.0)) in (True, False)


def test_only_the_second_formula_of_fgd_hierarchy_tests_equality(real):
    found = {
        (i.group, n)
        for i in real("syntaxgym").instances
        for n, text in enumerate(i.extra["formulas"])
        if syntaxgym_formula.tests_equality(syntaxgym_formula.parse_formula(text))
    }
    assert found == {("fgd_hierarchy", 1)}


def test_every_suite_has_a_circuit(real):
    circuits = {instance.group: instance.phenomenon for instance in real("syntaxgym").instances}
    assert Counter(circuits.values()) == {
        "licensing": 10,
        "long_distance_dependencies": 8,
        "garden_path_effects": 7,
        "gross_syntactic_state": 4,
        "agreement": 3,
        "center_embedding": 2,
    }


def test_one_item_in_19_of_the_number_suites_has_its_conditions_in_another_order(real):
    orders = defaultdict(Counter)
    for instance in real("syntaxgym").instances:
        orders[instance.group][tuple(condition.name for condition in instance.conditions)] += 1
    mixed = {group: sorted(order.values()) for group, order in orders.items() if len(order) > 1}
    assert mixed == {"number_orc": [1, 18], "number_prep": [1, 18], "number_src": [1, 18]}


def test_empty_regions_of_the_mvrr_suites(real):
    empty = [
        (i.id, c.name, n)
        for i in real("syntaxgym").instances
        if i.group.startswith("mvrr")
        for c in i.conditions
        for n, text in enumerate(c.regions, 1)
        if not text
    ]
    assert empty == [
        ("syntaxgym/mvrr/27", "unreduced_ambig", 6),
        ("syntaxgym/mvrr_mod/27", "unreduced_ambig", 7),
    ]


def test_blanks_at_the_edges_of_regions_are_kept(real):
    edged = Counter(
        i.group for i in real("syntaxgym").instances for c in i.conditions for text in c.regions if text != text.strip()
    )
    npz = [edged[group] for group in edged if group.startswith("npz")]
    assert len(npz) == 4 and min(npz) == 256 and max(npz) == 447
    assert set(edged) - {g for g in edged if g.startswith("npz")} >= {"fgd-embed3", "fgd-embed4", "subordination_pp-pp"}


@pytest.mark.parametrize("group", ["mvrr", "mvrr_mod"])
def test_item_5_has_two_equal_pairs_of_conditions(real, group):
    (instance,) = [i for i in real("syntaxgym").instances if i.id == f"syntaxgym/{group}/5"]
    sentences = {condition.name: " ".join(condition.regions).split() for condition in instance.conditions}
    assert sentences["reduced_ambig"] == sentences["reduced_unambig"]
    assert sentences["unreduced_ambig"] == sentences["unreduced_unambig"]


def test_a_suite_may_have_one_item(real):
    assert sum(instance.group == "nn-nv-rpl" for instance in real("syntaxgym").instances) == 1
