import pytest

from explorer.errors import OntologyError
from explorer.ontologies.buckets import bucketize
from explorer.ontologies.invariance_requests import build_repeated, sample
from explorer.ontologies.prompts import PROMPTS, instances
from explorer.records import Concept

[INSTANCE] = instances([Concept("GO:0000001", "blue cup")], "go", "GO")


def asked(way: str):
    return build_repeated(INSTANCE, PROMPTS["chat"], "GO", "Gene Ontology", way)


def test_the_first_way_repeats_one_prompt_ten_times_at_temperature_zero():
    found = asked("PI-1")
    assert len(found) == 10
    assert {(request.context, request.factors["temperature"]) for request in found} == {(found[0].context, 0.0)}
    assert [request.factors["part"] for request in found] == list(range(10))


def test_the_second_way_goes_from_cold_to_warm_in_steps_of_a_tenth():
    assert [request.factors["temperature"] for request in asked("PI-2")] == [
        0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0,
    ]  # fmt: skip


def test_the_third_way_asks_in_five_languages():
    found = asked("PI-3")
    assert [request.factors["language"] for request in found] == ["en", "it", "fr", "de", "es"]
    assert len({request.context for request in found}) == 5
    assert all("blue cup" in request.context for request in found)


def test_the_ways_name_is_the_setting():
    assert {request.factors["setting"] for request in asked("PI-3")} == {"PI-3"}
    with pytest.raises(OntologyError, match="expected one of PI-1, PI-2, PI-3"):
        asked("PI-4")


def test_a_sample_has_as_many_of_each_bucket_and_repeats_with_its_seed():
    buckets = bucketize([float(i % 5) for i in range(200)] + [9.0], buckets=6)
    rows = sample(buckets, per_bucket=20, seed=1)
    assert [sum(row in bucket.rows for row in rows) for bucket in buckets] == [20, 20, 20, 20, 20, 1]
    assert len(set(rows)) == len(rows)
    assert rows == sample(buckets, per_bucket=20, seed=1) != sample(buckets, per_bucket=20, seed=2)
