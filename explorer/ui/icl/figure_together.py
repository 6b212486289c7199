"""All data sets in one picture, as the paper draws them: panels of curves over the number of demonstrations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from explorer import display
from explorer.figures import theme

PANEL, FRAME = 190, 130  # pixels of a row of panels; of what is around them
PERCENT = ".0%"
DASHES = ("solid", "dot")
# A shape a name, since six neighboring colors of one order are hard to tell apart.
SHAPES = ("circle", "square", "diamond", "triangle-up", "cross", "star", "triangle-down")
APART = 0.008  # of the axis, between neighbors, so that the intervals of names that agree stay legible


def panels(
    rows: pd.DataFrame, colors: Mapping[str, str], *, down: Sequence[str], across: Sequence[str], title: str
) -> go.Figure:
    """A grid of panels, one for each of `down` and `across`, with a line per name in its color.

    `rows` has the columns down, across, name, k, value, low, high, n, and `kind`: the first of its values is drawn
    solid, the second dotted; with two of them, where a column is a name, there is no legend.
    """
    kinds, names = list(dict.fromkeys(rows["kind"])), list(colors)
    step = APART * max(float(rows["k"].max()), 1.0) if across != names else 0.0
    height = PANEL * len(down) + FRAME
    figure = make_subplots(
        rows=len(down), cols=len(across), shared_xaxes="all", shared_yaxes="all",
        row_titles=[theme.escape(title) for title in down], column_titles=[theme.escape(title) for title in across],
        horizontal_spacing=0.03, vertical_spacing=24 / height if len(down) > 1 else None,
    )  # fmt: skip
    in_legend: set[tuple[str, str]] = set()
    for keys, curve in rows.groupby(["down", "across", "name", "kind"], sort=False):
        one_down, one_across, name, kind = map(str, keys)
        curve = curve.sort_values("k")
        label = name if len(kinds) < 2 else f"{name}, {kind}"
        shape = SHAPES[names.index(name) % len(SHAPES)] if len(kinds) < 2 else "circle"
        figure.add_trace(
            go.Scatter(
                x=curve["k"] + step * (names.index(name) - (len(names) - 1) / 2),
                y=curve["value"],
                error_y=_interval(curve, colors[name]),
                mode="lines+markers",
                name=theme.escape(label),
                legendgroup=label,
                showlegend=(name, kind) not in in_legend,
                line={"color": colors[name], "width": 1.8, "dash": DASHES[kinds.index(kind) % 2]},
                marker={"size": 7, "color": colors[name], "symbol": shape if kind == kinds[0] else f"{shape}-open"},
                cliponaxis=False,
                customdata=[
                    theme.hover(
                        f"{name}, {one_across}, {one_down}, k = {row['k']:.0f}",
                        f"{kind}: {display.share(row['value'], row['low'], row['high'])}, n = {row['n']:,.0f}",
                    )
                    for row in curve.to_dict("records")
                ],
                hovertemplate="%{customdata}<extra></extra>",
            ),
            row=list(down).index(one_down) + 1,
            col=list(across).index(one_across) + 1,
        )
        in_legend.add((name, kind))
    figure.update_layout(theme.layout(height=height))
    figure.update_layout(
        showlegend=len(kinds) < 2, margin={"t": 84}
    )  # fmt: skip
    figure.update_xaxes(tickvals=sorted(set(rows["k"])))
    figure.update_xaxes(title_text="Demonstrations (k)", row=len(down))
    figure.update_yaxes(tickformat=PERCENT, rangemode="tozero")
    figure.update_yaxes(title_text=title, col=1, row=(len(down) + 1) // 2)
    return figure


def _interval(curve: pd.DataFrame, color: str) -> dict[str, Any]:
    return {
        "type": "data", "symmetric": False, "array": curve["high"] - curve["value"],
        "arrayminus": curve["value"] - curve["low"], "thickness": 1, "width": 0, "color": color,
    }  # fmt: skip
