"""What leaves the packed file when the same is asked anew."""

from __future__ import annotations

import dataclasses

from explorer.records import RunSpec
from explorer.results.superseded import giving_way
from explorer.runs import spec as specs

COUNTED = RunSpec("popularity", 1, "toy", "copa", settings={"index": "demo", "n": 0, "per_group": 0})


def asked(spec: RunSpec, **settings) -> str:
    return specs.to_json(dataclasses.replace(spec, settings={**spec.settings, **settings}))


def test_a_run_counted_in_an_index_of_earlier_versions_gives_way_to_the_same_in_one_that_is_built():
    held = {"old": asked(COUNTED)}
    assert giving_way(held, [asked(COUNTED, index="glassbox")]) == {"old"}
    assert giving_way(held, [asked(COUNTED, index="glassbox", n=3)]) == set(), "another length is another question"
    assert giving_way(held, [asked(COUNTED, index="glassbox", method="published")]) == set()
    assert giving_way(held, [asked(dataclasses.replace(COUNTED, model="other"), index="glassbox")]) == set()
    assert giving_way(held, [asked(dataclasses.replace(COUNTED, suites=("a",)), index="glassbox")]) == set()


def test_a_run_stays_beside_the_same_in_another_index_that_is_still_there():
    assert giving_way({"old": asked(COUNTED, index="glassbox")}, [asked(COUNTED, index="v4_piletrain_llama")]) == set()


def test_a_run_gives_way_to_the_same_with_further_attacks_and_not_the_other_way_round():
    plain = RunSpec("memorization", 2, "toy", "copa", settings={"min_k": 20.0})
    more = asked(plain, more=["min_k_plus"])
    assert giving_way({"old": asked(plain)}, [more]) == {"old"}
    assert giving_way({"new": more}, [asked(plain)]) == set()
    assert giving_way({"old": asked(plain)}, [asked(plain)]) == set(), "the same run is replaced by its id"


def test_a_run_gives_way_to_the_same_with_its_tokens_and_not_the_other_way_round():
    plain = RunSpec("accuracy", 1, "toy", "starter_pairs", settings={"tokens": False, "preset": "natural"})
    kept = asked(plain, tokens=True)
    assert giving_way({"old": asked(plain)}, [kept]) == {"old"}
    assert giving_way({"new": kept}, [asked(plain)]) == set()
    assert giving_way({"old": asked(plain)}, [asked(plain, tokens=True, preset="paper")]) == set()


def test_a_run_gives_way_to_the_same_of_a_model_trained_anew():
    first = dataclasses.replace(COUNTED, weights="sha256:1")
    again = dataclasses.replace(COUNTED, weights="sha256:2")
    assert giving_way({"old": asked(first)}, [asked(again)]) == {"old"}
    assert giving_way({"old": asked(first)}, [asked(dataclasses.replace(again, model="toy@step8"))]) == set()
    assert giving_way({"old": asked(first)}, [asked(again, n=3)]) == set(), "another question"
    assert giving_way({"old": asked(first)}, [asked(COUNTED)]) == set(), "weights that nobody knows replace none"
