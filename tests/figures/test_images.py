"""Figures as files: a print theme, a caption, and what is offered where no browser is."""

from __future__ import annotations

import json
import re
import struct

import pytest

from explorer.errors import UsageError
from explorer.figures import images, theme
from explorer.figures.on_paper import COLUMN, PAGE, on_paper

go = pytest.importorskip("plotly.graph_objects")
CAPTION = "Accuracy of each group <b>& margin</b>. Model: toy; benchmark: blimp; n = 12 instances."


def figure(kind=go.Scatter, **layout):
    return theme.figure(kind(x=[1, 2, 3], y=[1, 3, 2], name="a"), height=300, **layout)


@pytest.fixture
def without_browser(monkeypatch, tmp_path):
    monkeypatch.setenv("BROWSER_PATH", str(tmp_path / "none"))
    images.browser.cache_clear()
    yield
    images.browser.cache_clear()


def test_on_paper_a_figure_is_white_has_its_caption_and_leaves_the_original_alone():
    drawn = figure()
    made = on_paper(drawn, CAPTION)
    assert made.layout.paper_bgcolor == made.layout.plot_bgcolor == "white"
    assert made.layout.width == COLUMN and made.layout.height > 300
    assert "&lt;b&gt;&amp; margin" in made.layout.title.text.replace("<br>", " ")
    assert drawn.layout.title.text is None and drawn.layout.width is None


def test_panels_side_by_side_take_a_page():
    from plotly.subplots import make_subplots

    both = make_subplots(cols=2)
    both.add_trace(go.Scatter(y=[1]), row=1, col=1)
    both.add_trace(go.Scatter(y=[1]), row=1, col=2)
    assert on_paper(both).layout.width == PAGE


@pytest.mark.parametrize(("cells", "numbered", "width"), [(5, True, COLUMN), (6, True, PAGE), (24, False, COLUMN)])
def test_a_grid_takes_a_page_where_the_numbers_in_its_cells_would_run_into_each_other(cells, numbered, width):
    grid = theme.figure(go.Heatmap(x=list(range(cells)), y=[0], z=[[0.5] * cells]), height=300)
    if numbered:
        grid.add_trace(go.Scatter(x=list(range(cells)), y=[0] * cells, text=["−0.50"] * cells, mode="text"))
    assert on_paper(grid).layout.width == width


def test_what_a_graphics_card_draws_becomes_lines():
    assert [trace.type for trace in on_paper(figure(go.Scattergl)).data] == ["scatter"]


def test_without_a_browser_there_are_html_and_json_and_a_sentence(without_browser):
    assert list(images.available()) == ["html", "json"]
    assert "No Chromium or Chrome was found" in images.lacking()
    html = images.render(figure(), "html", CAPTION).decode()
    assert "Plotly.newPlot" in html and not re.search(r"<script[^>]+src=", html)
    assert json.loads(images.render(figure(), "json"))["layout"]["width"] == COLUMN
    with pytest.raises(UsageError, match="No Chromium"):
        images.render(figure(), "svg")


def test_an_unknown_format_is_one_sentence():
    with pytest.raises(UsageError, match="no format 'gif'"):
        images.render(figure(), "gif")


@pytest.mark.browser
def test_a_browser_draws_svg_pdf_and_png():
    if images.browser() is None:
        pytest.skip(images.LACKING)
    svg = images.render(figure(), "svg", CAPTION).decode()
    assert svg.startswith("<svg") and "12 instances." in svg and "image/png" not in svg
    assert images.render(figure(), "pdf", CAPTION).startswith(b"%PDF-")
    png = images.render(figure(), "png", CAPTION)
    assert png.startswith(b"\x89PNG") and struct.unpack(">I", png[16:20])[0] == images.SCALE * COLUMN


@pytest.mark.browser
def test_a_program_that_is_no_browser_is_one_sentence(monkeypatch, tmp_path):
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("BROWSER_PATH", str(program))
    monkeypatch.setattr(images, "SECONDS", 5.0)
    images.browser.cache_clear()
    try:
        with pytest.raises(UsageError, match="could not draw the figure"):
            images.render(figure(), "svg")
        assert "could not draw" in images.lacking()
    finally:
        images.browser.cache_clear()
        images._failure.clear()
