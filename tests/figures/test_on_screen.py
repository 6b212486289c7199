import json

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from explorer.figures import theme
from explorer.figures.heatmap import square_heatmap
from explorer.figures.on_paper import on_paper
from explorer.figures.on_screen import on_screen


def a_figure(**layout):
    rows = pd.DataFrame({"x": [1.0, 2.0], "y": [0.1, 0.2]})
    dots = go.Scatter(x=rows["x"], y=rows["y"], error_y={"array": np.array([0.1, 0.1])}, marker={"size": 9})
    return theme.figure(dots, height=300, **layout)


def test_a_page_is_sent_nothing_that_plotly_would_take_for_new_in_a_copy():
    told = on_screen(a_figure()).to_dict()
    assert "template" not in told["layout"] and told["layout"]["datarevision"]
    (dots,) = told["data"]
    assert dots["x"] == [1.0, 2.0] and dots["error_y"]["array"] == [0.1, 0.1]
    assert json.loads(json.dumps(told)) == told  # lists and plain numbers all through


def test_the_house_style_stands_under_what_a_figure_says_itself():
    figure = a_figure(xaxis={"title": {"text": "Times"}, "tickfont": {"size": 11}}, margin={"l": 300})
    layout = on_screen(figure).to_dict()["layout"]
    assert layout["xaxis"]["title"]["text"] == "Times" and layout["xaxis"]["title"]["font"]["size"] == 14
    assert layout["xaxis"]["tickfont"]["size"] == 11 and layout["yaxis"]["tickfont"]["size"] == 12
    assert "linecolor" not in layout["yaxis"] and layout["yaxis"]["gridcolor"]
    assert layout["margin"]["l"] == 300 and layout["margin"]["pad"] == 8
    assert layout["xaxis"]["showgrid"] is False and "showgrid" not in layout["yaxis"]


def test_a_long_title_under_a_figure_is_broken_where_a_narrow_page_would_cut_it():
    title = "Change in the log odds of being right, with its 95% interval"
    layout = on_screen(a_figure(xaxis={"title": {"text": title}})).to_dict()["layout"]
    lines = layout["xaxis"]["title"]["text"].split("<br>")
    assert len(lines) == 2 and " ".join(lines) == title and max(map(len, lines)) < 44
    short = on_screen(a_figure(xaxis={"title": {"text": "Times"}})).to_dict()["layout"]
    assert layout["margin"]["b"] > short["margin"]["b"], "the second line has its space from the start"


def test_rows_without_lines_have_none_through_the_lowest():
    layout = on_screen(a_figure(yaxis={"showgrid": False})).to_dict()["layout"]
    assert layout["yaxis"]["zeroline"] is False
    assert "zeroline" not in on_screen(a_figure()).to_dict()["layout"]["yaxis"]


@pytest.mark.parametrize(
    ("drag", "told"),
    [
        (None, ("pan", "event+select")),
        (False, ("pan", "event+select")),
        ("select", ("select", "event")),
        ("lasso", ("lasso", "event")),
    ],
)
def test_what_can_be_picked_says_so_before_it_is_drawn(drag, told):
    figure = a_figure(dragmode=drag)
    layout = on_screen(figure, picks=True).to_dict()["layout"]
    assert (layout["dragmode"], layout["clickmode"]) == told
    assert "clickmode" not in on_screen(figure).to_dict()["layout"]


def test_a_zero_has_no_sign_on_axes_and_colors_that_write_signs():
    layout = on_screen(a_figure(yaxis={"tickformat": "+.1f"})).to_dict()["layout"]
    assert layout["yaxis"]["labelalias"]["+0.0"] == "0.0" and "labelalias" not in layout["xaxis"]
    cells = pd.DataFrame({"grp": ["a"], "other": ["b"], "value": [0.5]})
    (told, *_) = on_screen(
        square_heatmap(cells, value_name="same", tick=".0%", rows="one", columns="another")
    ).to_dict()["data"]
    assert told["colorbar"]["labelalias"]["+0"] == "0"


def test_a_figure_that_was_on_a_page_is_still_drawn_in_print_style():
    figure = a_figure()
    on_screen(figure, picks=True)
    assert on_paper(figure).layout.paper_bgcolor == "white" and figure.layout.clickmode is None


def test_no_lines_lie_over_cells_nor_between_numbers_beside_them():
    cells = theme.figure(go.Heatmap(x=[0, 10, 20], y=[0, 10, 20], z=[[1, None, 2]] * 3), height=200)
    told = on_screen(cells).to_dict()["layout"]
    for axis in ("xaxis", "yaxis"):
        assert told[axis]["showgrid"] is False and told[axis]["zeroline"] is False and "gridcolor" not in told[axis]
    dots = on_screen(theme.figure(go.Scatter(x=[0], y=[0]), height=200)).to_dict()["layout"]
    assert dots["yaxis"]["gridcolor"] and dots["yaxis"].get("showgrid") is not False
