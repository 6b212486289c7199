"""Figures of popularity buckets: lines, their axes and their intervals."""

from __future__ import annotations

import pandas as pd
import pytest

from explorer.figures import theme
from explorer.ui.ontology.figure_buckets import COUNT, by_bucket, by_way, sizes
from explorer.ui.ontology.popularity import in_words


@pytest.fixture
def rows() -> pd.DataFrame:
    return pd.DataFrame(
        {"bucket": [1, 2, 3], "n": [90, 8, 2], "mean_count": [3.0, 40.0, 900.0], "accuracy": [0.0, 0.1, 0.6]}
    )


def test_a_line_a_run_over_buckets_or_over_their_counts(rows):
    figure = by_bucket([("this run", rows, "accuracy"), ("<b>other</b>", rows, "accuracy")], "Accuracy", shares=True)
    assert [trace.name for trace in figure.data] == ["this run", "&lt;b&gt;other&lt;/b&gt;"]
    assert list(figure.data[0].x) == [1, 2, 3]
    over_counts = by_bucket([("this run", rows, "accuracy")], "Accuracy", over=COUNT)
    assert list(over_counts.data[0].x) == [3, 40, 900]
    assert over_counts.layout.xaxis.type == "log"


def test_a_bucket_of_concepts_never_found_keeps_its_place_on_the_axis(rows):
    rows.loc[0, "mean_count"] = 0.0
    assert by_bucket([("run", rows, "accuracy")], "Accuracy", over=COUNT).layout.xaxis.type == "linear"


def test_intervals_are_drawn_where_there_are_some_and_axes_hold_negative_values(rows):
    own = rows.assign(log=[-9.0, -7.0, -2.0], log_low=[-9.5, -8.0, -4.0], log_high=[-8.5, -6.0, -1.0])
    figure = by_bucket([("log P", own, "log")], "log P (nats)", chance=-8.0)
    assert list(figure.data[0].error_y.arrayminus) == pytest.approx([0.5, 1.0, 2.0])
    assert figure.layout.yaxis.rangemode == "normal"
    assert len(figure.layout.shapes) == 1
    assert by_bucket([("run", rows, "accuracy")], "Accuracy").data[0].error_y.array is None


def test_a_line_a_way_and_two_panels_of_sizes(rows):
    ways = pd.concat([rows.assign(way="PI-1"), rows.assign(way="PI-3").iloc[1:]])
    assert [len(trace.x) for trace in by_way(ways, "accuracy", "Accuracy").data] == [3, 2]
    concepts, counts = sizes(rows).data
    assert list(concepts.y) == [90, 8, 2] and list(counts.y) == [3, 40, 900]


def test_a_log_axis_of_less_than_two_decades_has_ticks_between_its_powers_of_ten(rows):
    layout = sizes(rows).layout
    assert {20, 50} <= set(layout.yaxis.tickvals)
    assert layout.yaxis2.tickvals is None and layout.yaxis2.dtick == 1


def test_what_is_no_model_has_no_models_color_and_a_dot_at_zero_is_whole(rows):
    ways = pd.concat([rows.assign(way="PI-1"), rows.assign(way="PI-3")])
    lines = by_way(ways, "accuracy", "Accuracy").data
    assert not {line.line.color for line in lines} & set(theme.PALETTE)
    assert all(line.cliponaxis is False for line in lines)


def test_a_sentence_says_in_which_bucket_each_run_is_most_often_right(rows):
    none = rows.assign(accuracy=0.0)
    assert in_words([("Gemma", none), ("Pythia", rows)]) == (
        "Gemma gives no right ID in any bucket; Pythia is most often right in popularity bucket 3 of 3 (60.0% of 2 "
        "concepts)."
    )
