"""All n-grams of a text as a pyramid: its tokens along the foot, longer n-grams above, darker where more frequent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from explorer import display
from explorer.figures import theme

ROW = 34  # pixels a length of n-gram
WRITTEN = 26  # tokens up to which a cell has room for its count
FOOT = 96  # pixels under the cells
BESIDE = 106  # pixels right of them, of the color bar
LIGHTEST, DARKEST = "#d9e8f2", "#004B78"
NONE = "rgba(127, 127, 127, 0.13)"


@dataclass(frozen=True, slots=True)
class Gram:
    """An n-gram of a text: its first token, its length, its text and how often it occurs, nan where unknown."""

    start: int
    n: int
    text: str
    count: float


# A cell of n tokens is as wide as one, and stands over the middle of what it is made of:
#
#     3             [the cat sat]
#     2       [the cat]     [cat sat]
#     1    [the]      [cat]       [sat]
def gram_pyramid(tokens: Sequence[str], grams: Sequence[Gram], picked: tuple[int, int] | None = None) -> go.Figure:
    """A cell an n-gram; each carries its start and length, and the picked one has a frame."""
    known = [math.log10(1 + gram.count) for gram in grams if gram.count > 0]
    most = max(known, default=1.0)
    longest = max((gram.n for gram in grams), default=1)
    colors = [_color(gram.count, most) for gram in grams]
    wide = len(tokens) > WRITTEN
    cells = go.Bar(
        x=[gram.start + (gram.n - 1) / 2 for gram in grams],
        y=[0.92] * len(grams),
        base=[gram.n - 0.46 for gram in grams],
        width=0.95,
        marker={
            "color": colors,
            "line": {
                "width": [2.5 if (gram.start, gram.n) == picked else 0 for gram in grams],
                "color": theme.VERMILION,
            },
        },
        text=["" if wide else _short(gram.count) for gram in grams],
        textposition="inside",
        insidetextanchor="middle",
        textangle=0,
        insidetextfont={"size": 11, "color": [_ink(color) for color in colors]},
        customdata=[
            [gram.start, gram.n, theme.hover(f"“{gram.text.strip()}”", _count_in_words(gram.count))] for gram in grams
        ],
        hovertemplate="%{customdata[2]}<extra></extra>",
        showlegend=False,
    )
    figure = theme.figure(
        cells, _scale(most), height=FOOT + 40 + ROW * longest, barmode="overlay", dragmode=False,
        margin={"l": 8, "r": BESIDE, "t": 28, "b": 8},
    )  # fmt: skip
    figure.update_xaxes(
        tickmode="array", tickvals=list(range(len(tokens))), ticktext=[_label(token) for token in tokens],
        tickangle=-60 if len(tokens) > 12 else 0, showgrid=False, zeroline=False,
        range=[-0.6, max(len(tokens), 6) - 0.4], fixedrange=True,
        tickfont={"size": 13 if len(tokens) <= WRITTEN else 11},
    )  # fmt: skip
    figure.update_yaxes(
        title_text="Tokens in a row", tickmode="array", tickvals=list(range(1, longest + 1)), showgrid=False,
        zeroline=False, range=[0.45, longest + 0.55], fixedrange=True,
    )  # fmt: skip
    return figure


def _scale(most: float) -> go.Scatter:
    """The color bar, of counts as they are."""
    ticks = [power for power in range(0, 13) if math.log10(1 + 10**power) <= most] or [0]
    return go.Scatter(
        x=[None], y=[None], mode="markers", showlegend=False, hoverinfo="skip",
        marker={
            "color": [0], "cmin": 0, "cmax": most, "colorscale": [[0, LIGHTEST], [1, DARKEST]], "showscale": True,
            "colorbar": {
                "title": {"text": "Times in the corpus", "side": "right"}, "thickness": 12, "outlinewidth": 0,
                "tickvals": [math.log10(1 + 10**power) for power in ticks],
                "ticktext": [display.compact(10**power) for power in ticks],
            },
        },
    )  # fmt: skip


def _color(count: float, most: float) -> str:
    if not count > 0:
        return NONE
    return theme.between(LIGHTEST, DARKEST, math.log10(1 + count) / most)


def _ink(color: str) -> str:
    return theme.GRAY if color == NONE else theme.ink_on(color)  # nothing is written on gray


def _short(count: float) -> str:
    # No gray is read on gray in both themes, and a cell without color says 0 by itself.
    return display.compact(count) if count > 0 else ""


def _count_in_words(count: float) -> str:
    if math.isnan(count):
        return "how often is unknown"
    return f"{display.count(count)} times" if count != 1 else "once"


def _label(token: str) -> str:
    return theme.escape(display.name(token.strip() or "␣", 14))
