"""Printed figures as rings, ours as dots with their intervals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from explorer import display
from explorer.figures import theme

ROW = 22  # pixels a figure


def printed_and_ours(rows: pd.DataFrame, title: str) -> go.Figure:
    """A line a figure, in the order given. `rows` has the columns label, published, ours, low, high, verdict."""
    places = list(range(len(rows)))[::-1]
    known = rows["low"].notna()
    dots = go.Scatter(
        x=rows["ours"],
        y=places,
        mode="markers",
        name="ours, with its 95% interval",
        marker={"size": 9, "color": theme.BLUE},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": (rows["high"] - rows["ours"]).where(known, 0).clip(lower=0),
            "arrayminus": (rows["ours"] - rows["low"]).where(known, 0).clip(lower=0),
            "color": theme.BLUE,
            "thickness": 1.4,
            "width": 0,
        },
        customdata=np.column_stack([[theme.escape(str(label)) for label in rows["label"]], rows["verdict"]]),
        hovertemplate="<b>%{customdata[0]}</b><br>%{x:.4g}, %{customdata[1]}<extra>ours</extra>",
    )
    rings = go.Scatter(
        x=rows["published"],
        y=places,
        mode="markers",
        name="printed",
        marker={"size": 11, "color": theme.ORANGE, "symbol": "circle-open", "line": {"width": 2}},
        customdata=[theme.escape(str(label)) for label in rows["label"]],
        hovertemplate="<b>%{customdata}</b><br>%{x:.4g}<extra>printed</extra>",
    )
    figure = theme.figure(dots, rings, height=100 + ROW * max(3, len(rows)))
    figure.update_layout(showlegend=True)
    figure.update_xaxes(title_text=theme.escape(title[:1].upper() + title[1:]))
    figure.update_yaxes(
        tickmode="array",
        tickvals=places,
        ticktext=[theme.escape(display.name(str(label), 56)) for label in rows["label"]],
        range=[-0.8, len(rows) - 0.2],
    )
    return figure
