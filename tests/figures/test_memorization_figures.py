"""Figures of the studies of memorization."""

import pandas as pd

from explorer.ui.icl.figure_curves import replication_curves
from explorer.ui.icl.figure_follow import memorization_against_performance
from explorer.ui.memorization.figure_roc import one_score, roc_curves, two_scores
from explorer.ui.memorization.figure_tasks import bars_by_task

NAMES = {"full": "Full", "pairs": "Pairs"}


def shares() -> pd.DataFrame:
    rows = [
        {"finding": "replication", "setting": setting, "k": k, "value": 0.1, "low": 0.05, "high": 0.2, "n": 20}
        for setting in NAMES
        for k in (0, 25)
    ]
    return pd.DataFrame(rows)


def test_scores_that_are_all_equal_give_the_coins_diagonal():
    line = roc_curves({"constant": ([0, 1], [0, 1], 0.5)}).data[-1]
    assert line.line.shape in (None, "linear")


def test_the_first_dot_over_k_is_whole_and_intervals_do_not_hide_each_other():
    figure = replication_curves(shares(), NAMES)
    assert figure.layout.xaxis.range[0] < min(min(line.x) for line in figure.data)
    assert figure.data[0].x[0] != figure.data[1].x[0]
    assert [[one[0] for one in line.customdata] for line in figure.data] == [
        ["full|0", "full|25"], ["pairs|0", "pairs|25"],
    ]  # fmt: skip


def test_curves_of_no_demonstrations_alone_have_an_axis():
    only = shares()
    figure = replication_curves(only[only["k"] == 0], NAMES)
    assert figure.layout.xaxis.range[0] < figure.layout.xaxis.range[1]


def test_a_setting_has_a_panel_and_dots_on_each_other_have_one_label():
    points = pd.DataFrame(
        {
            "setting": ["full", "full", "pairs"],
            "k": [0, 25, 0],
            "memorized": [0.1, 0.1, 0.1],
            "accuracy": [0.5, 0.5, 0.5],
        }
    )
    figure = memorization_against_performance(points, NAMES)
    assert [list(line.text) for line in figure.data] == [["k = 0, 25", ""], ["k = 0"]]
    assert len({line.xaxis for line in figure.data}) == 2


def test_right_and_wrong_texts_are_counted_in_the_same_bins():
    figure = one_score({"right": [1.0, 2.0], "wrong": [5.0]}, "MIA loss")
    assert figure.data[0].xbins == figure.data[1].xbins
    assert figure.data[0].xbins.start < 1 and figure.data[0].xbins.end > 5
    assert one_score({"right": [0.0, 0.0]}, "TDE accuracy").data[0].xbins.size > 0


def test_the_axes_of_two_texts_say_their_unit():
    items = pd.DataFrame({"instance_id": ["a"], "own": [1.0], "other": [2.0], "verdict": ["right"], "text": ["A."]})
    figure = two_scores(items, "MIA loss", "nats a token", {"right": 1})
    assert figure.layout.xaxis.title.text == "MIA loss of the other text, in nats a token"
    assert two_scores(items, "TDE accuracy", "1 = extracted", {"right": 1}).layout.yaxis.title.text.endswith(
        "right text"
    )


def test_a_key_counts_the_instances_of_each_verdict_not_the_dots_that_are_drawn():
    items = pd.DataFrame({"instance_id": ["a"], "own": [1.0], "other": [2.0], "verdict": ["right"], "text": ["A."]})
    assert two_scores(items, "MIA loss", "nats a token", {"right": 2_647}).data[0].name == "right (2,647)"


def test_names_of_tasks_are_broken_and_level_so_that_none_stands_in_the_panel_below():
    rows = pd.DataFrame(
        [{"field": "Formal tasks", "task": "Determiner-noun agreement", "attack": "MIA loss", "value": 0.6,
          "dummy": 0.4, "n": 20, "decides": True}]
    )  # fmt: skip
    axis = bars_by_task(rows, ["Formal tasks"]).layout.xaxis
    assert list(axis.ticktext) == ["Determiner-noun<br>agreement"] and axis.tickangle == 0
