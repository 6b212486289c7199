import json

import pytest

from explorer.errors import UsageError
from explorer.records import Condition, Instance
from explorer.variants.context_pools import (
    CONDITIONS,
    PAPER_SUITES_INFERRED,
    SYNTAXGYM_ACCEPTABLE,
    candidate_sentences,
    make_pools,
)


def pair(suite, key, good, bad, gold=0, phenomenon=""):
    options = (good, bad) if gold == 0 else (bad, good)
    return Instance(
        f"made/{suite}/{key}", "made", "test", suite, "pair", "sentence", options=options, gold=gold,
        phenomenon=phenomenon,
    )  # fmt: skip


PAIRS = [
    pair("agreement", 1, "The owls hoot.", "The owls hoots.", phenomenon="number"),
    pair("agreement", 2, "The owl hoots.", "The owl hoot.", phenomenon="number"),
    pair("agreement_far", 1, "The owls by the barn hoot.", "The owls by the barn hoots.", phenomenon="number"),
    pair("order", 1, "He left.", "Left he.", gold=1, phenomenon="order"),
]


def texts(sentences):
    return [sentence.text for sentence in sentences]


def test_the_gold_option_is_the_acceptable_one_wherever_it_stands():
    pools = make_pools(PAIRS, ["It rained."])
    assert texts(pools.acceptable["order"]) == ["He left."]
    assert pools.acceptable["order"][0].id == "made/order/1#1"
    assert texts(pools.unacceptable["order"]) == ["Left he."]
    assert pools.by_id["unrelated/000000"].text == "It rained."


def test_what_each_condition_draws_from():
    pools = make_pools(PAIRS, ["It rained."])
    drawn = {condition: texts(candidate_sentences(pools, "agreement", condition)) for condition in CONDITIONS}
    assert drawn == {
        "matched_acceptable": ["The owls hoot.", "The owl hoots."],
        "matched_unacceptable": ["The owls hoots.", "The owl hoot."],
        "mismatched_acceptable": ["The owls by the barn hoot.", "He left."],
        "mismatched_unacceptable": ["The owls by the barn hoots.", "Left he."],
        "unrelated": ["It rained."],
    }
    other = candidate_sentences(pools, "agreement", "mismatched_acceptable", other_phenomenon=True)
    assert texts(other) == ["He left."]
    with pytest.raises(UsageError, match="no condition"):
        candidate_sentences(pools, "agreement", "matched")


def test_the_order_of_the_instances_does_not_matter():
    assert make_pools(PAIRS).acceptable == make_pools(PAIRS[::-1]).acceptable


def item(suite, **regions):
    conditions = tuple(Condition(name, (text,)) for name, text in regions.items())
    return Instance(f"syntaxgym/{suite}/1", "syntaxgym", "test", suite, "regions", "syntaxgym", conditions=conditions)


def test_syntaxgym_conditions_are_sorted_by_the_table():
    pools = make_pools(
        [
            item("number_src", match_sing="The owl hoots.", mismatch_sing="The owl hoot."),
            item("mvrr", reduced_ambig="The owl shown mice flew.", unreduced_unambig="The owl that saw mice flew."),
        ]
    )
    assert texts(pools.acceptable["number_src"]) == ["The owl hoots."]
    assert texts(pools.unacceptable["number_src"]) == ["The owl hoot."]
    assert len(pools.acceptable["mvrr"]) == 2
    assert candidate_sentences(pools, "mvrr", "matched_unacceptable") == ()


def test_other_instances_are_refused_by_name():
    with pytest.raises(UsageError, match="syntaxgym/own_suite/1"):
        make_pools([item("own_suite", one="It rained.")])


def test_the_papers_23_suites():
    assert len(PAPER_SUITES_INFERRED) == 23
    assert len(SYNTAXGYM_ACCEPTABLE) == 34


def test_the_table_names_conditions_that_the_suites_have(data_folder):
    for path in sorted((data_folder / "syntaxgym").glob("*.json")):
        suite = json.loads(path.read_text(encoding="utf-8"))
        names = {condition["condition_name"] for condition in suite["items"][0]["conditions"]}
        good = set(SYNTAXGYM_ACCEPTABLE[suite["meta"]["name"]])
        assert good <= names
        garden_path = path.stem.startswith(("mvrr", "npz", "nn-nv"))
        assert (good == names) == garden_path
