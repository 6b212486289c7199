"""A figure as it stands in print: white ground, type that can be read at a column's width, its caption under it.

A column of most proceedings is about 8 cm wide, a page 17 cm. Drawn 480 and 960 pixels wide and set to that width, type
of 14 to 15 pixels comes out at 7 to 8 points.
"""

from __future__ import annotations

import textwrap

import plotly.graph_objects as go

from explorer.figures import theme

COLUMN, PAGE = 480, 960  # pixels
CELLS, NUMBERED = 24, 5  # cells of a grid side by side that a column has room for, without and with a number in each
TYPE = 15
CAPTION = 13  # pixels, and what a letter of it takes on average:
LETTER = 6.2
LINE = 17
MARGIN = 12


def on_paper(figure: go.Figure, caption: str = "") -> go.Figure:
    """A copy of the figure in the print theme, as wide as a column or, where it has panels side by side, as a page."""
    paper_figure = go.Figure(figure)
    width = width_of(paper_figure)
    ink = theme.THEMES["light"]
    lines = textwrap.wrap(caption, int((width - 2 * MARGIN) / LETTER)) if caption else []
    tall = int(paper_figure.layout.height or 400) + (LINE * len(lines) + MARGIN if lines else 0)
    paper_figure.update_layout(
        template=theme.template("light"),
        width=width,
        height=tall,
        autosize=False,
        paper_bgcolor="white",
        plot_bgcolor="white",
        font={"family": theme.FONT, "size": TYPE, "color": "black"},
        legend={"font": {"size": CAPTION}},
        margin={"l": MARGIN, "r": MARGIN + 8, "t": 36, "b": MARGIN},
        modebar={"remove": ["zoom", "pan"]},
    )
    axis = {"gridcolor": ink.grid, "linecolor": "#888888", "tickfont": {"color": "black"}}
    paper_figure.update_xaxes(**axis, title_font={"color": "black", "size": TYPE})
    paper_figure.update_yaxes(**axis, title_font={"color": "black", "size": TYPE})
    if lines:
        paper_figure.update_layout(
            title={
                "text": "<br>".join(map(theme.escape, lines)),
                "font": {"size": CAPTION, "color": "black"},
                "x": 0,
                "xanchor": "left",
                # What is set at this height is the first line; the others stand below it.
                "y": (MARGIN + LINE * (len(lines) - 1)) / tall,
                "yanchor": "bottom",
                "yref": "container",
                "automargin": True,
                "pad": {"l": MARGIN, "t": MARGIN},
            }
        )
    return _as_vectors(paper_figure)


def width_of(figure: go.Figure) -> int:
    """Pixels: a page for panels side by side and for grids of many cells, a column for all else."""
    beside = {trace.xaxis for trace in figure.data if getattr(trace, "xaxis", None)}
    most = NUMBERED if any(getattr(trace, "mode", "") == "text" for trace in figure.data) else CELLS
    grid = any(trace.type == "heatmap" and trace.x is not None and len(trace.x) > most for trace in figure.data)
    return PAGE if len(beside) > 1 or grid else COLUMN


def _as_vectors(figure: go.Figure) -> go.Figure:
    """The figure without traces that a graphics card draws: they would be pictures in an SVG or PDF."""
    if not any(trace.type == "scattergl" for trace in figure.data):
        return figure
    traces = [
        go.Scatter({name: value for name, value in trace.to_plotly_json().items() if name != "type"})
        if trace.type == "scattergl"
        else trace
        for trace in figure.data
    ]
    return go.Figure(traces, figure.layout)
