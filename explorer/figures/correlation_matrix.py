"""Measures against measures as a grid of colors: which go together?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from explorer import display
from explorer.figures import theme

CELL = 46  # pixels
CERTAIN = 0.05
STRONG = 0.6  # from which on the color asks for white ink
# Vermilion for opposite, blue for alike; nothing in the middle, so that it stands on any ground.
SCALE = [[0.0, theme.VERMILION], [0.5, "rgba(127,127,127,0.06)"], [1.0, theme.BLUE]]


def correlation_matrix(pairs: pd.DataFrame, names: Sequence[str]) -> go.Figure:
    """A cell a pair of measures with its rho, in bold where the adjusted p is below 0.05.

    `pairs` has the columns first, second, rho, low, high, p, adjusted_p, n; `names` gives the order.
    """
    place = {name: number for number, name in enumerate(names)}
    values = np.full((len(names), len(names)), np.nan)
    hover = [["" for _ in names] for _ in names]
    labels: dict[bool, list[tuple[int, int, str]]] = {False: [], True: []}
    for row in pairs.to_dict("records"):
        i, j = sorted((place[row["first"]], place[row["second"]]))[::-1]  # one triangle says it all
        values[i, j] = row["rho"]
        labels[abs(row["rho"]) > STRONG].append((i, j, _describe(row["rho"], row["adjusted_p"])))
        hover[i][j] = (
            f"<b>{theme.escape(row['first'])}</b><br>and {theme.escape(row['second'])}<br>{display.number(row['rho'])} "
            f"({display.number(row['low'])} to {display.number(row['high'])}), adjusted "
            f"{display.p_in_words(row['adjusted_p'])}"
            f"<br>{row['n']:,} instances"
        )
    cells = go.Heatmap(
        z=values[1:, :-1],
        x=list(range(len(names) - 1)),
        y=list(range(1, len(names))),
        zmin=-1,
        zmax=1,
        colorscale=SCALE,
        customdata=[row[:-1] for row in hover[1:]],
        hovertemplate="%{customdata}<extra></extra>",
        hoverongaps=False,
        xgap=2,
        ygap=2,
        colorbar={"thickness": 12, "tickvals": [-1, -0.5, 0, 0.5, 1], "title": {"text": "rho"}},
    )
    # The ink of the theme, which a heat map's own text does not follow; white on the strong colors.
    texts = [
        go.Scatter(
            x=[j for _, j, _ in own],
            y=[i for i, _, _ in own],
            text=[text for *_, text in own],
            mode="text",
            textfont={"size": 13, **({"color": "#ffffff"} if strong else {})},
            hoverinfo="skip",
            showlegend=False,
        )
        for strong, own in labels.items()
    ]
    shown = [theme.escape(display.name(name, 40)) for name in names]
    figure = theme.figure(cells, *texts, height=150 + CELL * max(3, len(names)))
    figure.update_xaxes(
        tickmode="array", tickvals=list(range(len(names) - 1)), ticktext=shown[:-1], showgrid=False, zeroline=False,
        tickangle=-35,
    )  # fmt: skip
    figure.update_yaxes(
        tickmode="array", tickvals=list(range(1, len(names))), ticktext=shown[1:], showgrid=False, zeroline=False,
        autorange="reversed",
    )  # fmt: skip
    return figure


def _describe(rho: float, p: float) -> str:
    if rho != rho:
        return ""
    text = display.number(rho)
    return f"<b>{text}</b>" if p == p and p < CERTAIN else text
