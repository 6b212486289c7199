"""Every measure's effect with the others held, a dot and its interval: what leaves out zero survives."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from explorer import display
from explorer.figures import theme

ROW = 34  # pixels a measure


def effects_held(effects: pd.DataFrame) -> go.Figure:
    """A line per measure, the largest effect at the top; blue where its interval leaves out zero, else gray.

    `effects` has the columns title, value, low, high (log odds per standard deviation), survives, p, n.
    """
    rows = effects.assign(size=effects["value"].abs()).sort_values(["survives", "size"], kind="stable")
    ends = np.array([_in_words(*interval) for interval in zip(rows["value"], rows["low"], rows["high"], strict=True)])
    figure = theme.figure(height=90 + ROW * max(3, len(rows)))
    for survives, color in ((True, theme.BLUE), (False, theme.GRAY)):
        of_kind = rows["survives"].to_numpy() == survives
        some = rows[of_kind]
        figure.add_trace(
            go.Scatter(
                x=some["value"],
                y=np.flatnonzero(of_kind),
                mode="markers",
                marker={"size": 10, "color": color, "symbol": "circle" if survives else "circle-open",
                        "line": {"width": 2, "color": color}},
                error_x=theme.interval_bars(some["value"], some["low"], some["high"], color, 2),
                customdata=np.column_stack([some["title"].map(theme.escape), ends[of_kind], some["n"]]),
                hovertemplate="<b>%{customdata[0]}</b><br>%{customdata[1]}<br>%{customdata[2]} items"
                "<extra></extra>",
                showlegend=False,
            )
        )  # fmt: skip
    figure.add_vline(x=0, line={"color": theme.GRAY, "width": 1})
    figure.update_xaxes(title_text="Change in log odds of being right per standard deviation, all others held")
    figure.update_yaxes(
        tickmode="array", tickvals=list(range(len(rows))), ticktext=[theme.escape(name) for name in rows["title"]],
        range=[-0.7, len(rows) - 0.3], showgrid=False,
    )  # fmt: skip
    return figure


def _in_words(value: float, low: float, high: float) -> str:
    shown, least, most = (display.number(value_or_end, signed=True) for value_or_end in (value, low, high))
    return f"{shown} (no interval)" if math.isnan(low) else f"{shown} ({least} to {most})"
