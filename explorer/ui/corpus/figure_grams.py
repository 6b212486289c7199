"""All n-grams of a text as a pyramid: its tokens along the foot, longer n-grams above, stronger where more frequent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from explorer import display
from explorer.figures import theme

ROW = 34  # pixels a length of n-gram
WRITTEN = 26  # tokens up to which a cell has room for its count
FOOT = 96  # pixels under the cells
# The ground shows through what is rare, and what is frequent stands out from it: the page's style (corpus.css) has the
# color, and so the numbers on it, change with the theme.
DEEPEST = "#004b78"
FAINTEST = 0.15  # opacity of what occurs once
NONE = "rgba(127, 127, 127, 0.13)"
SCALE = 56  # pixels at the right, of the scale's numbers and title
STEPS = 32  # of the scale beside the cells


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
    opacities = [_opacity(math.log10(1 + gram.count) / most) if gram.count > 0 else 0.0 for gram in grams]
    wide = len(tokens) > WRITTEN
    cells = go.Bar(
        x=[gram.start + (gram.n - 1) / 2 for gram in grams],
        y=[0.92] * len(grams),
        base=[gram.n - 0.46 for gram in grams],
        width=0.95,
        marker={
            "color": [_color(opacity) for opacity in opacities],
            "line": {
                "width": [2.5 if (gram.start, gram.n) == picked else 0 for gram in grams],
                "color": theme.VERMILION,
            },
        },
        text=["" if wide else _short(gram.count) for gram in grams],
        textposition="inside",
        insidetextanchor="middle",
        textangle=0,
        insidetextfont={"size": 11, "color": [_ink(opacity) for opacity in opacities]},
        customdata=[
            [gram.start, gram.n, theme.hover(f"“{gram.text.strip()}”", _count_in_words(gram.count))] for gram in grams
        ],
        hovertemplate="%{customdata[2]}<extra></extra>",
        showlegend=False,
    )
    figure = theme.figure(
        cells, _scale(most), height=FOOT + 40 + ROW * longest, barmode="overlay", dragmode=False,
    )  # fmt: skip
    figure.update_xaxes(
        domain=[0, 0.94], tickmode="array", tickvals=list(range(len(tokens))),
        ticktext=[_label(token) for token in tokens],
        tickangle=-60 if len(tokens) > 12 else None, autotickangles=[0, -60],
        showgrid=False, zeroline=False,
        range=[-0.6, max(len(tokens), 6) - 0.4], fixedrange=True,
        tickfont={"size": 13 if len(tokens) <= WRITTEN else 11},
    )  # fmt: skip
    figure.update_yaxes(
        title_text="Tokens in a row", tickmode="array", tickvals=list(range(1, longest + 1)), showgrid=False,
        zeroline=False, range=[0.45, longest + 0.55], fixedrange=True,
    )  # fmt: skip
    figure.update_layout(_scale_axes(most), margin={"r": SCALE})
    return figure


def _scale(most: float) -> go.Bar:
    """The scale beside the cells; it is drawn as they are, since Plotly's own color bars know no opacity."""
    return go.Bar(
        x=[0] * STEPS,
        y=[most / STEPS] * STEPS,
        base=[step * most / STEPS for step in range(STEPS)],
        width=1,
        marker={"color": [_color(_opacity((step + 0.5) / STEPS)) for step in range(STEPS)], "line": {"width": 0}},
        xaxis="x2",
        yaxis="y2",
        hoverinfo="skip",
        showlegend=False,
    )


def _scale_axes(most: float) -> dict[str, Any]:
    """The axes of the scale, of counts as they are."""
    ticks = [power for power in range(0, 13) if math.log10(1 + 10**power) <= most] or [0]
    return {
        "xaxis2": {"domain": [0.955, 0.97], "anchor": "y2", "visible": False, "fixedrange": True},
        "yaxis2": {
            "anchor": "x2", "side": "right", "title": {"text": "Times in the corpus"}, "range": [0, most],
            "tickvals": [math.log10(1 + 10**power) for power in ticks],
            "ticktext": [display.compact(10**power) for power in ticks],
            "showgrid": False, "zeroline": False, "fixedrange": True,
        },
    }  # fmt: skip


def _opacity(share: float) -> float:
    """How much of the ground a color covers, by its share of the way to the most frequent."""
    return FAINTEST + (1 - FAINTEST) * share


def _color(opacity: float) -> str:
    return f"rgba(0, 75, 120, {opacity:.3f})" if opacity else NONE


def _ink(opacity: float) -> str:
    """Black or white on a white ground; on a dark one the two change places (corpus.css)."""
    # Nothing is written on gray.
    return theme.ink_on(theme.between("#ffffff", DEEPEST, opacity)) if opacity else theme.GRAY


def _short(count: float) -> str:
    # No gray is read on gray in both themes, and a cell without color says 0 by itself. Three digits fit a narrow cell.
    return display.compact(float(f"{count:.3g}")) if count > 0 else ""


def _count_in_words(count: float) -> str:
    if math.isnan(count):
        return "how often is unknown"
    return f"{display.count(count)} times" if count != 1 else "once"


def _label(token: str) -> str:
    # Labels that touch are tilted, as those that overlap are: Plotly measures each with the blanks around it.
    return f"\u00a0{theme.escape(display.name(token.strip() or '␣', 14))}\u00a0"
