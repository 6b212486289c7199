import math
import random
from pathlib import Path

import pytest

from explorer.errors import OntologyError
from explorer.ontologies import table
from explorer.ontologies.analysis import Analysis, analyze
from explorer.ontologies.contents import Contents, read_text
from explorer.ontologies.parse import id_rule
from explorer.records import Concept

CONCEPTS = [
    Concept("GO:0000001", "blue cup", web_count=0),
    Concept("GO:0000002", "red cup", web_count=0),
    Concept("GO:0000003", "old plate", web_count=5),
    Concept("GO:0000004", "obsolete jug", web_count=5, obsolete=True),
    Concept("GO:0000005", "old plate", web_count=9),
    Concept("GO:0000006", "tall mug", web_count=math.nan),
]
ANSWERS = ["GO:0000002", "I'm sorry.", "It is GO:0000003.", "GO:0000004", "GO:0000005", "GO:7777777"]
GO = id_rule("GO", [])


def toy(**rest) -> Analysis:
    return analyze(CONCEPTS, ANSWERS, GO, buckets=3, permutations=50, **rest)


def test_an_answer_is_right_if_the_id_it_gives_is():
    found = toy()
    assert (found.all.correct, found.all.n) == (3, 6)
    assert found.outcomes == {"id": 5, "refusal": 1, "malformed": 0, "foreign": 0, "empty": 0}
    assert found.distinct_predictions == 5


def test_as_released_an_answer_is_right_if_its_text_is_the_id():
    found = toy(as_released=True)
    assert found.all.correct == 2
    assert found.distinct_predictions == 6


def test_wrong_answers_are_compared_where_they_give_an_id():
    found = toy().wrong
    # wrong: red cup for blue cup (overlap 1/3, one edit), a refusal, and an id that does not exist (seven edits)
    assert (found.wrong, found.well_formed, found.unknown) == (3, 2, 1)
    assert found.jaccard == pytest.approx(1 / 3)
    assert found.levenshtein == pytest.approx((1 + 7) / 2)


def test_labels_of_the_ontology_serve_predicted_ids_that_were_not_asked_for():
    found = toy(labels={"GO:7777777": "tall jug"})
    assert found.wrong.unknown == 0
    assert found.wrong.jaccard == pytest.approx((1 / 3 + 1 / 3) / 2)


def test_figures_stand_beside_without_obsolete_concepts_and_shared_labels():
    # without the obsolete jug and both old plates: blue cup, red cup and tall mug, none of them right
    assert (toy().unflagged.correct, toy().unflagged.n) == (0, 3)


def test_a_concept_without_a_count_is_in_no_bucket_and_said_so():
    found = toy()
    assert [bucket.n for bucket in found.buckets] == [2, 2, 1]
    assert [bucket.accuracy for bucket in found.buckets] == [0, 1, 1]
    assert found.left_out == found.spearman_items.left_out == 1
    assert found.items[5].bucket == 0


def test_the_json_has_the_promised_keys():
    figures = toy().as_json()
    assert {
        "n", "correct", "accuracy", "malformed", "distinct_predictions", "jaccard_wrong", "levenshtein_wrong",
        "spearman_buckets", "spearman_items", "buckets",
    } <= set(figures)  # fmt: skip
    assert {"rho", "p"} <= set(figures["spearman_buckets"]) & set(figures["spearman_items"])
    assert {"bucket", "n", "mean_count", "accuracy"} <= set(figures["buckets"][0])


def test_without_any_count_there_are_no_buckets_and_no_correlation():
    found = analyze([Concept("GO:0000001", "cup")], ["GO:0000001"], GO)
    assert found.buckets == ()
    assert math.isnan(found.spearman_buckets.value) and found.spearman_buckets.reason
    assert found.all.accuracy == 1


def test_answers_and_concepts_must_be_as_many():
    with pytest.raises(OntologyError, match="one each"):
        analyze(CONCEPTS, ANSWERS[:2], GO)


@pytest.fixture(scope="module")
def pythia(data_folder: Path) -> Contents:
    path = data_folder / "go/predictions_pythia12b.csv"
    return table.read(read_text(path), path.name, predictions=True)


def figures(contents: Contents, prefix: str, as_released: bool, permutations: int = 20) -> Analysis:
    rule = id_rule(prefix, [concept.id for concept in contents.concepts])
    return analyze(contents.concepts, contents.predictions, rule, as_released=as_released, permutations=permutations)


def test_the_published_predictions_of_pythia_give_the_published_figures(pythia: Contents):
    found = figures(pythia, "GO", as_released=True)
    assert (found.all.correct, found.all.n) == (288, 42_854)
    assert f"{100 * found.all.accuracy:.3f}" == "0.672"
    assert found.distinct_predictions == 1_353
    assert f"{found.spearman_buckets.value:.4f}" == "0.8564"
    assert f"{found.spearman_items.value:.3f}" == "0.137"
    assert [f"{100 * found.buckets[i].accuracy:.2f}" for i in (0, 9, 24, 49)] == ["0.01", "0.00", "0.00", "61.80"]
    assert [found.buckets[i].n for i in (0, 49)] == [27_798, 89]
    assert 42_854 - sum(bucket.n for bucket in found.buckets) == 49
    assert f"{found.spearman_repeated.value:.3f}" == "0.868"


@pytest.fixture(scope="module")
def corrected(pythia: Contents) -> Analysis:
    return figures(pythia, "GO", as_released=False)


def test_the_corrected_figures_lose_no_row(corrected: Analysis):
    found = corrected
    assert (found.all.correct, found.all.n) == (288, 42_854)
    assert f"{found.spearman_buckets.value:.4f}" == "0.8506"
    assert sum(bucket.n for bucket in found.buckets) == 42_854
    assert f"{found.spearman_repeated.value:.3f}" == "0.868"
    assert found.outcomes["malformed"] == 11
    assert f"{found.wrong.jaccard:.3f} {found.wrong.levenshtein:.2f}" == "0.116 4.53"


def test_the_corrected_figures_do_not_hang_on_the_order_of_rows(pythia: Contents, corrected: Analysis):
    order = list(range(len(pythia.concepts)))
    random.Random(0).shuffle(order)
    mixed = Contents(
        tuple(pythia.concepts[i] for i in order),
        predictions=tuple(f"The ID is {pythia.predictions[i]}." for i in order),
    )
    first, second = corrected, figures(mixed, "GO", as_released=False)
    assert second.all == first.all
    assert second.spearman_buckets.value == pytest.approx(first.spearman_buckets.value, abs=1e-12)
    assert second.spearman_items.value == pytest.approx(first.spearman_items.value, abs=1e-12)
    assert second.wrong.levenshtein == pytest.approx(first.wrong.levenshtein)


def test_the_published_predictions_of_gpt_on_uberon_give_the_published_figures(data_folder: Path):
    path = data_folder / "uberon/predictions_gpt35.csv"
    contents = table.read(read_text(path), path.name, predictions=True)
    for as_released in (True, False):
        found = figures(contents, "UBERON", as_released)
        assert (found.all.correct, found.all.n) == (54, 15_543)
        assert f"{100 * found.all.accuracy:.3f}" == "0.347"
        assert found.outcomes["refusal"] == 1
