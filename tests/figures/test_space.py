import datetime

import pytest

from explorer.figures import theme
from explorer.figures.small import LINE, Dot, small_dots
from explorer.figures.space import LABELS, OVER, TITLE, UNDER, leave_space, width
from explorer.ui.corpus.figure_grams import Gram, gram_pyramid


def a_figure(values, **axis):
    figure = theme.figure({"type": "scatter", "x": [1, 2], "y": values, "name": "a"}, height=300)
    figure.update_yaxes(**axis)
    return leave_space(figure).layout.margin


def test_an_axis_has_space_for_its_widest_name():
    assert a_figure(["a name of many letters", "short"]).l == pytest.approx(
        LABELS + width("a name of many letters"), abs=1
    )


def test_a_title_takes_space_beside_labels_and_under_them():
    figure = theme.figure({"type": "scatter", "x": [1, 2], "y": [0, 1]}, height=300)
    bare = leave_space(figure).layout.margin.to_plotly_json()
    figure.update_xaxes(title_text="Times")
    figure.update_yaxes(title_text="Accuracy")
    titled = leave_space(figure).layout.margin
    assert bare["b"] == UNDER
    assert titled.l == bare["l"] + TITLE and titled.b > bare["b"]


def test_a_percent_is_wider_than_the_number_it_is_made_of():
    assert a_figure([0.0, 1.0], tickformat=".0%").l > a_figure([0.0, 1.0]).l


def test_only_a_legend_that_is_shown_takes_space_above():
    one = {"type": "scatter", "x": [1], "y": [1], "name": "a"}
    assert leave_space(theme.figure(one, height=300)).layout.margin.t == 28
    assert leave_space(theme.figure(one, {**one, "name": "b"}, height=300)).layout.margin.t == OVER
    hidden = [{**one, "showlegend": False}, {**one, "showlegend": False}]
    assert leave_space(theme.figure(*hidden, height=300)).layout.margin.t == 28


def test_turned_labels_hang_down_by_their_length():
    tokens = [f"token{number}" for number in range(20)]
    grams = [Gram(number, 1, token, 3.0) for number, token in enumerate(tokens)]
    few = leave_space(gram_pyramid(tokens[:3], grams[:3])).layout.margin.b
    assert leave_space(gram_pyramid(tokens, grams)).layout.margin.b > few + 20


def test_wider_margins_stay_and_a_second_time_changes_nothing():
    figure = theme.figure(
        {"type": "scatter", "x": [1], "y": [1]}, height=300, margin={"l": 300, "t": 9, "b": 1, "r": 5}
    )
    once = leave_space(figure).layout.margin.to_plotly_json()
    assert once["l"] == 300 and once["r"] == 5
    assert leave_space(figure).layout.margin.to_plotly_json() == once


def test_a_small_figure_without_a_name_below_keeps_no_place_for_one():
    dots = [Dot("row", "model", 0.5, 0.4, 0.6, 10)]
    unnamed = small_dots(dots, {"model": "#0072B2"}, tick=".0%")
    named = small_dots(dots, {"model": "#0072B2"}, tick=".0%", across="Points")
    assert unnamed.layout.xaxis.title.text is None
    assert leave_space(unnamed).layout.margin.b < leave_space(named).layout.margin.b


def test_space_is_left_whatever_way_plotly_keeps_a_figure_and_whatever_stands_on_an_axis():
    class Other:
        """A figure of a version that keeps its parts elsewhere."""

        def __init__(self, figure):
            self.layout, self.to_dict = figure.layout, figure.to_dict

    plain, other = (theme.figure({"type": "scatter", "x": [1, 2], "y": [None, 2_500_000]}, height=200) for _ in "ab")
    leave_space(plain)
    leave_space(Other(other))
    assert plain.layout.margin == other.layout.margin and plain.layout.margin.l > 60
    days = theme.figure({"type": "scatter", "x": [1], "y": [datetime.date(2026, 11, 29)]}, height=200)
    assert leave_space(days) is days


@pytest.mark.parametrize("across", ["Margin", "Margin of the right option, in nats, over all tokens"])
def test_rows_of_a_low_figure_have_room_for_their_names(across):
    models = ["a", "b", "c"]
    dots = [Dot(model, model, 0.5) for model in models]
    figure = small_dots(
        dots, dict.fromkeys(models, "#777777"), tick=".2f", across=across, reference=0.0, zero="zero", least=60
    )
    margin = leave_space(figure).layout.margin
    assert figure.layout.height - margin.t - margin.b >= len(models) * LINE
