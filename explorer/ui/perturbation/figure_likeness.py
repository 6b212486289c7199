"""Boxes from quantiles: a panel per measure, a box per task."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from explorer.figures import theme

ROW, FRAME = 34, 120  # pixels a task; of what is around them
COLORS: Mapping[str, str] = dict(zip(("formal", "functional"), theme.in_order(2), strict=True))


def boxes_by_task(rows: pd.DataFrame, titles: Mapping[str, str]) -> go.Figure:
    """A panel per measure, a horizontal box a task, the first task at the top.

    `rows` has the columns measure, task, field, place, and the quantiles least (5%), lower, median, upper,
    greatest (95%).
    """
    measures = [name for name in titles if name in set(rows["measure"])]
    tasks = list(dict.fromkeys(rows.sort_values("place")["task"]))
    figure = make_subplots(
        rows=1, cols=len(measures), shared_yaxes=True, horizontal_spacing=0.04,
        subplot_titles=[theme.escape(titles[name]) for name in measures],
    )  # fmt: skip
    for column, measure in enumerate(measures, 1):
        for field, color in COLORS.items():
            some = rows[(rows["measure"] == measure) & (rows["field"] == field)]
            if some.empty:
                continue
            figure.add_trace(
                go.Box(
                    y=some["task"], q1=some["lower"], median=some["median"], q3=some["upper"],
                    lowerfence=some["least"], upperfence=some["greatest"], orientation="h", name=field,
                    legendgroup=field, showlegend=column == 1, line={"color": color, "width": 1.6}, width=0.55,
                ),
                row=1, col=column,
            )  # fmt: skip
    figure.update_layout(theme.layout(height=FRAME + ROW * len(tasks)))
    below = {
        "orientation": "h",
        "yref": "paper",
        "yanchor": "top",
        "y": -34 / (ROW * len(tasks)),
        "x": 0,
    }  # above stand the panels' names
    figure.update_layout(showlegend=True, legend=below)
    figure.update_yaxes(categoryorder="array", categoryarray=list(reversed(tasks)), showgrid=False)
    return figure
