"""Colors, fonts and one Plotly template a theme; .streamlit/config.toml holds the same colors for the pages.

The palette is Okabe and Ito's (2008), told apart with any kind of color vision. Its colors stand on a white and on a
dark ground alike, so a figure keeps them when the reader changes the theme; only the template's ink and lines change.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import plotly.graph_objects as go

from explorer import display

BLUE = "#0072B2"
VERMILION = "#D55E00"
GREEN = "#009E73"
PURPLE = "#CC79A7"
ORANGE = "#E69F00"
SKY = "#56B4E9"
GRAY = "#7F7F7F"
CRIMSON, BROWN = "#C2456B", "#96702E"  # beside the palette, where one figure has more models than it has colors
Dots = type[go.Scatter] | type[go.Scattergl]
FEW_DOTS = 1_500
PALETTE = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, GRAY)

# From the least to the most of what is no model: seen on a white ground and on a dark one, and no color above.
LEAST, MOST = "#9063f0", "#8a8416"
# Four kinds of what is no model, two and two: a strong and a light violet, a light and a strong olive.
TWO_AND_TWO = ("#7d4be3", "#a07ef2", "#9d9636", "#6f6a00")

DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")  # of lines that are no model's, which are gray

# What a color means wherever it means something.
VERDICTS: Mapping[str, str] = {"right": BLUE, "wrong": VERMILION, "tie": GRAY, "no verdict": GRAY}

# Plotly's formats write a zero with the sign that is asked of other numbers; on an axis and its colors none has one.
ZEROS: Mapping[str, str] = {
    f"{sign}{zero}{unit}": f"{zero}{unit}"
    for sign in ("+", "-", "\u2212")
    for zero in ("0", "0.0", "0.00")
    for unit in ("", "%")
}

FONT = '"Source Sans", "Source Sans 3", "Source Sans Pro", "Helvetica Neue", Arial, sans-serif'


@dataclass(frozen=True, slots=True)
class Theme:
    """The ink of a figure: text, quiet text, grid lines and what lies under a hover label."""

    text: str
    quiet: str
    grid: str
    paper: str


THEMES: Mapping[str, Theme] = {
    "light": Theme(text="#1e2329", quiet="#5b6169", grid="#e6e3db", paper="#ffffff"),
    "dark": Theme(text="#e7e5e0", quiet="#a9adb3", grid="#2f353d", paper="#14171b"),
}


@cache  # each part of it is checked as it is made; a figure copies it
def template(name: str = "light") -> go.layout.Template:
    """The Plotly template of the light or the dark theme."""
    theme = THEMES[name]
    axis: dict[str, Any] = {
        "gridcolor": theme.grid,
        "linecolor": theme.grid,
        "zerolinecolor": theme.grid,
        "tickfont": {"color": theme.quiet, "size": 13},
        "title": {"font": {"color": theme.quiet, "size": 13}, "standoff": 10},
        "automargin": True,
        "labelalias": dict(ZEROS),
        "separatethousands": True,
        # By default each label is measured one by one, the page laid out anew for each.
        "ticklabeloverflow": "allow",
    }
    return go.layout.Template(
        layout={
            "font": {"family": FONT, "size": 14, "color": theme.text},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "colorway": list(PALETTE),
            "xaxis": axis,
            "yaxis": axis,
            "hoverlabel": {
                "bgcolor": theme.paper,
                "bordercolor": theme.grid,
                "font": {"color": theme.text, "size": 13},
            },
        },
        data={"heatmap": [{"colorbar": {"labelalias": dict(ZEROS)}}]},
    )


def layout(*, height: int, name: str = "light", **more: Any) -> dict[str, Any]:
    """The layout of a figure in the house style, `height` pixels high; `more` adds to it or takes its place."""
    return {
        "template": template(name),
        "height": height,
        "margin": {"l": 8, "r": 16, "t": 28, "b": 8},
        # At the top of the whole figure: at that of the plot Plotly would leave it where it was in a narrower window.
        "legend": {"orientation": "h", "x": 0, "xanchor": "left", "y": 1, "yanchor": "top", "yref": "container"},
        "hovermode": "closest",
        "bargap": 0.06,
        **more,
    }


def dots(count: int) -> Dots:
    """The trace that draws so many dots soonest: a graphics card takes a sixth of a second before the first."""
    return go.Scatter if count <= FEW_DOTS else go.Scattergl


def figure(*traces: Any, height: int, name: str = "light", **more: Any) -> go.Figure:
    """A figure of these traces in the house style, `height` pixels high.

    Traces may be dictionaries with their `type`, which are checked once; a trace that is an object is checked twice.
    """
    # The layout at once: an update of it checks every part once more, which takes five times as long.
    return go.Figure(list(traces), layout(height=height, name=name, **more))


def line_across(*, x: float | None = None, y: float | None = None) -> dict[str, Any]:
    """A dotted line, for `shapes`, from edge to edge of a figure at this height or this place across."""
    ends = {"x0": 0, "x1": 1, "xref": "x domain", "y0": y, "y1": y, "yref": "y"} if y is not None else {
        "x0": x, "x1": x, "xref": "x", "y0": 0, "y1": 1, "yref": "y domain"}  # fmt: skip
    return {"type": "line", **ends, "line": {"color": GRAY, "width": 1, "dash": "dot"}}


def line_name(text: str, y: float) -> dict[str, Any]:
    """What a line across is called, for `annotations`: over its right end."""
    return {
        "text": text, "x": 1, "xref": "x domain", "xanchor": "right", "y": y, "yref": "y", "yanchor": "bottom",
        "showarrow": False, "font": {"size": 12, "color": GRAY},
    }  # fmt: skip


def luminance(color: str) -> float:
    """How bright a color (#rrggbb) is, from 0 to 1, as the contrast rule of WCAG 2 weighs it."""
    parts = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    """The contrast of two colors by WCAG 2, from 1 to 21; text needs 4.5."""
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def between(start: str, end: str, share: float) -> str:
    """The color that lies `share` of the way from one to the other, as Plotly's scales blend them."""
    parts = [(int(start[place : place + 2], 16), int(end[place : place + 2], 16)) for place in (1, 3, 5)]
    return "#" + "".join(f"{round(first + share * (second - first)):02x}" for first, second in parts)


def in_order(many: int) -> list[str]:
    """So many colors of groups that have an order and are no models, from the least to the most."""
    return [between(LEAST, MOST, place / (many - 1) if many > 1 else 1.0) for place in range(many)]


def ink_on(ground: str) -> str:
    """Black or white, whichever is read more easily on this ground; one of the two always has 4.5."""
    return max("#000000", "#ffffff", key=lambda ink: contrast(ink, ground))


def interval_bars(
    value: Iterable[float], low: Iterable[float], high: Iterable[float], color: str, thickness: float = 1.4
) -> dict[str, Any]:
    """Bars from each value to the ends of its interval, for `error_x` or `error_y`; none where an end is nan."""
    points = list(zip(value, low, high, strict=True))
    # max(0.0, nan) is 0.0, in this order: a bar without length.
    return {
        "type": "data", "symmetric": False, "color": color, "thickness": thickness, "width": 0,
        "array": [max(0.0, top - middle) for middle, _, top in points],
        "arrayminus": [max(0.0, middle - bottom) for middle, bottom, _ in points],
    }  # fmt: skip


def points(shares: Iterable[float]) -> list[float]:
    """Differences of shares in percentage points, for an axis that is named so; a percent sign would say percent of."""
    return [100 * share for share in shares]


def written(value: float, number: str) -> str:
    """A number in one of Plotly's formats, for a text that Plotly does not write itself; a zero has no sign."""
    # "~" drops closing zeros in the browser's formats and is none of Python's.
    shown = format(value, number.replace("~", ""))
    return ZEROS.get(shown, shown).replace("-", display.MINUS)


def escape(text: str) -> str:
    """Text that Plotly shows as it is: its labels read a little HTML, and names come from files."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def broken(text: str, wide: int = 18) -> str:
    """A label on as many lines as it needs, so that it stands level under what it names."""
    return "<br>".join(escape(line) for line in textwrap.wrap(text, wide))


def hover(*lines: str, wide: int = 60, most: int = 180) -> str:
    """Lines of a hover label: each escaped, cut where it is very long, and broken where it is wide."""
    cut = (line if len(line) <= most else f"{line[: most - 1]}…" for line in lines if line)
    return "<br>".join(escape(part) for line in cut for part in (textwrap.wrap(line, wide) or [""]))
