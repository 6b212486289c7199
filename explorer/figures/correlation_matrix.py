"""Measures against measures as a grid of colors: which go together?"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from explorer import display
from explorer.figures import theme

CELL = 46  # pixels
MANY, ABOVE = 6, 60  # measures from which on the key has room in the empty half; pixels of a key above the cells
LINE = 20  # characters of a line of a name
CERTAIN = 0.05
# Vermilion for opposite, blue for alike. The middle is no blank: only on a ground of its own has a number the same
# contrast in both themes and on paper.
MIDDLE = "#eceef0"
SHARED = "#9a9a9a"  # the ground of pairs that share a number
SCALE = [[0.0, theme.VERMILION], [0.5, MIDDLE], [1.0, theme.BLUE]]


class _Label(NamedTuple):
    """The number of a cell: its row and column, its text, the pair that a click gives, what a hover says."""

    row: int
    column: int
    text: str
    pair: str
    hover: str


def correlation_matrix(pairs: pd.DataFrame, names: Sequence[str]) -> go.Figure:
    """A cell a pair of measures with its rho, in bold where the adjusted p is below 0.05; gray where the two share the
    number that decides both.

    `pairs` has the columns first, second, rho, low, high, p, adjusted_p, n and, where known, shared (what the two are
    both computed from, or ""); `names` gives the order. A number carries "first|second" for what is picked.
    """
    place = {name: number for number, name in enumerate(names)}
    values = np.full((len(names), len(names)), np.nan)
    gray = np.full((len(names), len(names)), np.nan)
    labels: dict[str, list[_Label]] = {}
    for row in pairs.to_dict("records"):
        i, j = sorted((place[row["first"]], place[row["second"]]))[::-1]  # one triangle says it all
        shared = str(row.get("shared") or "")
        (gray if shared else values)[i, j] = 0.0 if shared else row["rho"]
        ink = theme.ink_on(SHARED if shared else ground_of(row["rho"]))
        hover = theme.hover(
            f"{row['first']} and {row['second']}",
            f"{display.number(row['rho'])} ({display.number(row['low'])} to {display.number(row['high'])}), adjusted "
            f"{display.p_in_words(row['adjusted_p'])}; {row['n']:,} instances",
            f"Both are computed from: {shared}. They go together by the way they are made." if shared else "",
        )
        text = _describe(row["rho"], math.nan if shared else row["adjusted_p"])
        labels.setdefault(ink, []).append(_Label(i, j, text, f"{row['first']}|{row['second']}", hover))
    cells = go.Heatmap(
        z=values[1:, :-1],
        x=list(range(len(names) - 1)),
        y=list(range(1, len(names))),
        zmin=-1,
        zmax=1,
        colorscale=SCALE,
        hoverinfo="skip",
        xgap=2,
        ygap=2,
        # In the empty half: beside the cells it would take a fifth of a narrow page from them.
        colorbar={
            "orientation": "h",
            "thickness": 12,
            "len": 0.36,
            "x": 1,
            "xanchor": "right",
            # Of few measures the empty half is too low for it.
            "y": 1 if len(names) >= MANY else 1.03,
            "yanchor": "top" if len(names) >= MANY else "bottom",
            "tickvals": [-1, -0.5, 0, 0.5, 1],
            "title": {"text": "rho", "side": "top"},
        },
    )
    made_alike = go.Heatmap(
        z=gray[1:, :-1], x=list(range(len(names) - 1)), y=list(range(1, len(names))), zmin=0, zmax=1,
        colorscale=[[0, SHARED], [1, SHARED]], showscale=False, hoverinfo="skip", xgap=2, ygap=2,
    )  # fmt: skip
    # Two traces of texts, black and white: a heat map's own texts have one color in all cells.
    size = 13 if len(names) <= 10 else 11
    texts = [_texts(labels_of_ink, ink, size) for ink, labels_of_ink in labels.items()]
    shown = [theme.escape(display.name(name, 40)) for name in names]
    figure = theme.figure(
        cells,
        made_alike,
        *texts,
        height=150 + (0 if len(names) >= MANY else ABOVE) + CELL * max(3, len(names)),
        hoverdistance=CELL // 2,
    )
    figure.update_xaxes(
        tickmode="array", tickvals=list(range(len(names) - 1)), ticktext=shown[:-1], showgrid=False, zeroline=False,
        tickangle=-45,
    )  # fmt: skip
    figure.update_yaxes(
        tickmode="array", tickvals=list(range(1, len(names))), ticktext=[_in_lines(name) for name in names[1:]],
        showgrid=False, zeroline=False, autorange="reversed",
    )  # fmt: skip
    return figure


def _texts(labels: Sequence[_Label], ink: str, size: int) -> go.Scatter:
    return go.Scatter(
        x=[label.column for label in labels],
        y=[label.row for label in labels],
        text=[label.text for label in labels],
        mode="text",
        textfont={"size": size, "color": ink},
        customdata=[[label.pair, label.hover] for label in labels],
        hovertemplate="%{customdata[1]}<extra></extra>",
        showlegend=False,
    )


def _in_lines(name: str) -> str:
    """A name beside its row, broken where it is long: cells have the width that names leave."""
    return "<br>".join(theme.escape(line) for line in textwrap.wrap(display.name(name, 40), LINE))


def ground_of(rho: float) -> str:
    """The color of a cell."""
    if rho != rho:
        return MIDDLE
    return theme.between(MIDDLE, theme.BLUE if rho > 0 else theme.VERMILION, min(1.0, abs(rho)))


def _describe(rho: float, p: float) -> str:
    if rho != rho:
        return ""
    # Without the zero that all of them share: a cell is narrow.
    text = display.number(rho).replace("0.", ".", 1) if abs(rho) < 1 else display.number(rho)
    return f"<b>{text}</b>" if p == p and p < CERTAIN else text
