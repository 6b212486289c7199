"""The Instance Popularity Score, worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.errors import UsageError
from explorer.popularity.ips import (
    IPS,
    DecileEdges,
    decile_edges,
    rate_counts,
    relative_difference,
    text_ips,
    token_popularity,
)
from explorer.popularity.ngrams import TextNgrams
from explorer.records import Count


def counted(*values: float, reason: str = "") -> dict[tuple[int, ...], Count]:
    """Counts of the n-grams (0,), (1,), ..."""
    return {(i,): Count("x", (i,), v, reason=reason if math.isnan(v) else "") for i, v in enumerate(values)}


def edges(*values: float) -> DecileEdges:
    return decile_edges(counted(*values), reference="the set", index="x", n=1)


def text(*ids: int) -> TextNgrams:
    found = tuple((i,) for i in dict.fromkeys(ids))
    return TextNgrams(1, tuple(ids), found, tuple(range(len(found))), len(found))


def test_edges_are_linear_quantiles_of_the_distinct_ngrams():
    # eleven counts 0, 10, ..., 100: the 10 % quantile lies at place 0.1 * 10 = 1, so at 10, and so on
    assert edges(*range(0, 101, 10)).values == (10, 20, 30, 40, 50, 60, 70, 80, 90)


def test_edges_between_two_counts_are_interpolated():
    # two counts 0 and 100: the 10 % quantile is 0 + 0.1 * 100
    assert edges(0, 100).values == pytest.approx((10, 20, 30, 40, 50, 60, 70, 80, 90))


def test_popularity_is_one_more_than_the_number_of_edges_strictly_below():
    made = edges(*range(0, 101, 10))
    # 10 equals the first edge, so no edge is strictly below it; 10.5 has one below; above all nine it is 10
    assert rate_counts([0, 10, 10.5, 20, 90, 91, 1000], made).tolist() == [1, 1, 2, 2, 9, 10, 10]


def test_a_count_of_zero_is_always_of_popularity_one():
    assert rate_counts([0], edges(0, 0, 0, 5)).tolist() == [1]
    assert rate_counts([0], edges(7, 8, 9)).tolist() == [1]


def test_ties_at_coinciding_edges_are_named():
    # counts 0 x 8, 3, 9: quantile q lies at place 9q, and places 0 to 7 are all 0
    made = edges(*[0] * 8, 3, 9)
    # 10 % to 70 % (place 6.3) are 0; 80 % is at place 7.2: 0 + 0.2 * 3; 90 % at 8.1: 3 + 0.1 * 6
    assert made.values == pytest.approx((0, 0, 0, 0, 0, 0, 0, 0.6, 3.6))
    assert made.coinciding == "edges 1 to 7 coincide at 0"
    # a count of 0 has none strictly below; 0.5 would have seven; 3 has eight (0.6); 9 all nine
    assert rate_counts([0, 0.5, 3, 9], made).tolist() == [1, 8, 9, 10]


def test_edges_that_all_differ_name_nothing():
    assert edges(*range(11)).coinciding == ""


def test_a_set_that_hardly_occurs_carries_a_warning():
    assert edges(*[0] * 95, 1, 2, 3, 4, 5).warning.startswith("95% of the 1-grams never occur in x")
    assert edges(*[0] * 9, 1).warning == ""
    assert edges(*[0] * 9, 1).never == 9


def test_several_groups_of_coinciding_edges_are_all_named():
    made = DecileEdges((0, 0, 1, 2, 2, 2, 5, 6, 6), "the set", "x", 1, "running", 10, 0)
    assert made.coinciding == "edges 1 to 2 coincide at 0; edges 4 to 6 coincide at 2; edges 8 to 9 coincide at 6"


def test_ips_is_the_mean_over_distinct_ngrams():
    # edges 10, 20, ..., 90; counts 0, 15, 95 have popularity 1, 2, 10; the repeated n-gram counts once
    counts = counted(0, 15, 95)
    assert text_ips(text(0, 1, 2, 1, 1), counts, edges(*range(0, 101, 10))) == IPS((1 + 2 + 10) / 3, 3)


def test_a_whole_set_worked_by_hand():
    # Two options that share two of three n-grams; five distinct counts: 0 0 4 8 100.
    counts = counted(0, 0, 4, 8, 100)
    made = decile_edges(counts, reference="the set", index="x", n=1)
    # places 0.4 0.8 1.2 1.6 2.0 2.4 2.8 3.2 3.6 of 0 0 4 8 100
    assert made.values == pytest.approx((0, 0, 0.8, 2.4, 4, 5.6, 7.2, 26.4, 63.2))
    # popularity: 0 -> 1; 4 -> 4 edges below (0 0 0.8 2.4), so 5; 8 -> 7 below, so 8; 100 -> 10
    good, bad = text_ips(text(0, 2, 4), counts, made), text_ips(text(0, 2, 1), counts, made)
    assert good.value == pytest.approx((1 + 5 + 10) / 3)
    assert bad.value == pytest.approx((1 + 5 + 1) / 3)
    assert relative_difference([good, bad], 0) == (pytest.approx((16 - 7) / 16), "")
    assert relative_difference([bad, good], 0) == (pytest.approx((7 - 16) / 7), "")


def test_a_short_text_has_no_ips_and_never_zero():
    short = TextNgrams(7, (1, 2), (), (), 0, "the text has 2 tokens, fewer than n = 7")
    found = text_ips(short, {}, edges(1, 2))
    assert math.isnan(found.value)
    assert found.reason == short.reason
    value, reason = relative_difference([IPS(3.0, 2), found], 0)
    assert math.isnan(value) and "fewer than n = 7" in reason


def test_an_unknown_count_leaves_the_ips_undefined():
    counts = counted(1, math.nan, reason="the service was away")
    found = text_ips(text(0, 1), counts, edges(0, 5))
    assert math.isnan(found.value)
    assert (found.ngrams, found.unknown) == (2, 1)
    assert found.reason == "1 of 2 counts could not be had: the service was away"


def test_a_token_is_as_popular_as_the_ngrams_over_it():
    # 2-grams (0, 1), (1, 0), (0, 1) of the tokens 0 1 0 1, with counts 95 and 15: popularity 10 and 2
    counts = {(0, 1): Count("x", (0, 1), 95), (1, 0): Count("x", (1, 0), 15)}
    found = TextNgrams(2, (0, 1, 0, 1), ((0, 1), (1, 0)), (0, 1), 2)
    made = edges(*range(0, 101, 10))
    assert token_popularity(found, counts, made) == (10, (10 + 2) / 2, (2 + 10) / 2, 10)
    counts[1, 0] = Count("x", (1, 0), math.nan, reason="away")
    assert [math.isnan(each) for each in token_popularity(found, counts, made)] == [False, True, True, False]
    short = TextNgrams(7, (1, 2), (), (), 0, "too short")
    assert all(math.isnan(each) for each in token_popularity(short, {}, made))


def test_unknown_counts_make_no_edges_and_are_counted():
    made = decile_edges(counted(0, math.nan, 100), reference="the set", index="x", n=1)
    assert made.values == edges(0, 100).values
    assert (made.ngrams, made.left_out) == (2, 1)


def test_a_set_without_any_known_count_has_no_deciles():
    with pytest.raises(UsageError, match="there are no deciles"):
        decile_edges({}, reference="the set", index="x", n=7)


def test_with_several_wrong_options_their_mean_is_compared():
    scores = [IPS(4.0, 1), IPS(1.0, 1), IPS(3.0, 1)]
    assert relative_difference(scores, 0) == ((4 - 2) / 4, "")


def test_a_single_option_has_no_difference():
    assert relative_difference([IPS(4.0, 1)], 0)[1] == "there is only one option"


def test_edges_survive_json_and_rows_of_findings():
    made = edges(*[0] * 8, 3, 9)
    assert DecileEdges.from_json(made.to_json()) == made
    rows = made.to_rows()
    assert [row["value"] for row in rows] == list(made.values)
    assert [row["part"] for row in rows] == list(range(1, 10))
    assert DecileEdges.from_rows([{"finding": "accuracy", "detail": "{}"}, *rows]) == made


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"values": [1, 2]}'])
def test_what_are_no_edges_is_told_plainly(content):
    with pytest.raises(UsageError):
        DecileEdges.from_json(content)
    with pytest.raises(UsageError, match="no decile edges"):
        DecileEdges.from_rows([{"finding": "accuracy", "detail": None}])


def test_edges_of_another_index_or_length_are_refused():
    made = edges(0, 5)
    made.check_fits("x", 1, "running")
    for wrong in (("y", 1, "running"), ("x", 7, "running"), ("x", 1, "both")):
        with pytest.raises(UsageError, match="The edges of the set were made with"):
            made.check_fits(*wrong)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=80), st.lists(st.integers(0, 60), min_size=1, max_size=20))
def test_popularity_lies_between_1_and_10_and_rises_with_the_count(reference, asked):
    made = edges(*reference)
    rated = rate_counts(sorted(asked), made)
    assert ((rated >= 1) & (rated <= 10)).all()
    assert (np.diff(rated) >= 0).all()
    assert list(rated) == [1 + sum(edge < count for edge in made.values) for count in sorted(asked)]
