import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.errors import OntologyError
from explorer.ontologies import invariance
from explorer.ontologies.buckets import bucketize
from explorer.ontologies.invariance import groups_of, parsed, prediction_invariance, rule_of, summarize
from explorer.ontologies.invariance_buckets import accuracy, by_popularity
from explorer.ontologies.parse import id_rule, parser
from explorer.records import Concept

GO = parser(id_rule("GO", []))


def test_invariance_of_ten_answers_of_which_two_differ():
    # U = 2 distinct of M = 10: 1 - (2 - 1) / (10 - 1)
    assert prediction_invariance(["a"] * 9 + ["b"]) == pytest.approx(1 - 1 / 9)


def test_invariance_is_one_where_all_agree_and_zero_where_none_do():
    assert prediction_invariance(["a", "a"]) == 1
    assert prediction_invariance(["a", "b", "c"]) == 0


@given(st.lists(st.text(max_size=3), min_size=2))
def test_invariance_lies_between_zero_and_one_and_knows_no_order(answers):
    value = prediction_invariance(answers)
    assert 0 <= value <= 1
    assert value == prediction_invariance(answers[::-1])


def test_one_answer_has_no_invariance():
    with pytest.raises(OntologyError, match="at least 2"):
        prediction_invariance(["a"])


def test_the_average_is_over_concepts():
    found = summarize([["a", "a", "a"], ["a", "b", "c"], ["a", "a", "b"]])
    assert found.mean_pi == pytest.approx((1 + 0 + 0.5) / 3)
    assert (found.identical, found.n) == (1, 3)
    assert math.isnan(summarize([]).mean_pi)


@pytest.mark.parametrize("repeats", [1, 0, 3, 7])
def test_a_number_of_repeats_that_does_not_fit_is_an_error(repeats: int):
    with pytest.raises(OntologyError, match="expected"):
        groups_of(["a"] * 10, repeats)


def test_parsed_answers_agree_where_only_the_words_around_an_id_differ():
    raw = [("GO:0000001", "It is GO:0000001.", '"GO:0000001"'), ("no idea", "GO:0000002", "unknown")]
    assert summarize(raw).identical == 0
    assert summarize(parsed(raw, GO)).identical == 1


def test_two_refusals_are_one_answer_and_two_malformed_ids_are_two():
    assert len(set(parsed([("I'm sorry.", "There is no such ID.")], GO)[0])) == 1
    assert len(set(parsed([("GO:12", "GO:13")], GO)[0])) == 2
    assert len(set(parsed([("", " ")], GO)[0])) == 1


def test_answers_are_read_line_by_line_with_any_line_end(tmp_path: Path):
    path = tmp_path / "answers.txt"
    for raw in (b"GO:1\r\n\r\nGO:2\r\n", b"GO:1\n\nGO:2\n", b"GO:1\n\nGO:2"):
        path.write_bytes(raw)
        assert invariance.read_answers(path) == ["GO:1", "", "GO:2"]


def test_without_labels_the_commonest_form_of_an_id_is_the_rule():
    rule = rule_of(["CL:0000001", "it is CL:0000002", "CL:000003", "UBERON:0000001"])
    assert (rule.prefix, rule.digits) == ("CL", (7,))
    assert rule_of(["sorry", "no idea"]).pattern.search("sorry") is None


CONCEPTS = [Concept(f"GO:{i:07d}", f"cup {i}", web_count=float(count)) for i, count in enumerate([0, 0, 5, 9])]
GROUPS = [("GO:9999999", "GO:9999998")] * 2 + [("GO:0000002", "GO:9999999"), ("GO:0000003", "GO:0000003")]


def test_accuracy_is_over_concepts_and_repeats():
    assert accuracy([concept.id for concept in CONCEPTS], GROUPS) == 3 / 8


def test_figures_by_popularity_use_the_ontologys_own_buckets():
    found = by_popularity(CONCEPTS, GROUPS, bucketize([0, 0, 4, 6, 9, 9], buckets=2))
    # distinct 0 4 6 9: buckets 0-4 and 6-9; the count 5 lies in the second
    assert [(one.bucket, one.n, one.mean_pi, one.accuracy) for one in found.buckets] == [
        (1, 2, 0.0, 0.0),
        (2, 2, 0.5, 0.75),
    ]
    assert found.left_out == 0


def test_labels_and_answers_must_be_as_many():
    with pytest.raises(OntologyError, match="one label"):
        accuracy(["GO:0000001"], GROUPS)


def test_the_published_answers_give_the_published_figures(data_folder: Path):
    groups = groups_of(invariance.read_answers(data_folder / "go/pi1_answers_gpt35.txt"), 10)
    found = summarize(groups)
    assert f"{found.mean_pi:.4f}" == "0.9932"
    assert (found.identical, found.n) == (939, 1_000)
    assert summarize(parsed(groups, GO)) == found
