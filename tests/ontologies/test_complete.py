"""Stopping an answer early never changes what it gives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.ontologies.complete import completeness
from explorer.ontologies.parse import IdRule, parser

GO = IdRule("GO", (7,))
UBERON = IdRule("UBERON", (7, 8))


@pytest.mark.parametrize(
    ("answer", "after_prefix", "complete"),
    [
        ("0001822", True, False),  # an eighth digit may follow
        ("0001822.", True, True),
        ("0001822 ", True, True),
        (" 0001822\n", True, True),
        ("00018220", True, False),
        ("00018220.", True, False),
        ("0001822.", False, False),
        ("GO:0001822", False, False),
        ("The ID is GO:0001822,", False, True),
        ("GO:123 or GO:0001822,", True, True),
        ("", True, False),
    ],
)
def test_an_answer_is_complete_once_no_digit_can_follow(answer, after_prefix, complete):
    assert completeness(GO, after_prefix)(answer) is complete


def test_eight_digits_are_an_id_where_the_ontology_has_such_ids():
    assert completeness(UBERON, after_prefix=True)("60005380 ")
    assert not completeness(UBERON, after_prefix=True)("60005380")


PIECES = st.sampled_from(
    ["GO:", "UBERON:", "go", "0001822", "60005380", "00", "1", " ", "\n", "'", '"', ".", "x", "７"]
)


@given(st.lists(PIECES, max_size=12).map("".join), st.booleans(), st.sampled_from([GO, UBERON]))
def test_what_follows_a_complete_answer_changes_nothing(answer, after_prefix, rule):
    is_complete, parse = completeness(rule, after_prefix), parser(rule, after_prefix)
    for end in range(len(answer) + 1):
        if is_complete(answer[:end]):
            assert parse(answer[:end]) == parse(answer)
            assert parse(answer).kind == "id"
            break
