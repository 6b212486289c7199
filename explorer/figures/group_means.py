"""A measure group by group, each mean with its interval."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from explorer.figures import theme

ROW = 20  # pixels a group


def group_means(groups: pd.DataFrame, *, title: str, overall: float) -> go.Figure:
    """A dot a group, the highest at the top. `groups` has the columns grp, value, low, high, n."""
    rows = groups.sort_values("value", na_position="first", kind="stable")
    places = list(range(len(rows)))
    dots = go.Scatter(
        x=rows["value"],
        y=places,
        mode="markers",
        marker={"size": 8, "color": theme.BLUE},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": (rows["high"] - rows["value"]).clip(lower=0),
            "arrayminus": (rows["value"] - rows["low"]).clip(lower=0),
            "color": theme.BLUE,
            "thickness": 1.4,
            "width": 0,
        },
        customdata=np.column_stack(
            [[theme.escape(str(name)) for name in rows["grp"]], rows["low"], rows["high"], rows["n"]]
        ),
        hovertemplate="<b>%{customdata[0]}</b><br>%{x:.4g} (%{customdata[1]:.4g} to %{customdata[2]:.4g})"
        "<br>%{customdata[3]} instances<extra></extra>",
        showlegend=False,
    )
    figure = theme.figure(dots, height=90 + ROW * max(3, len(rows)))
    figure.add_vline(x=overall, line={"color": theme.GRAY, "width": 1, "dash": "dot"})
    figure.add_annotation(
        x=overall, y=1, yref="paper", yanchor="bottom", showarrow=False, text=f"all {overall:.4g}",
        font={"size": 12, "color": theme.GRAY},
    )  # fmt: skip
    figure.update_xaxes(title_text=f"{theme.escape(title)}, mean with its 95 % interval")
    figure.update_yaxes(
        tickmode="array",
        tickvals=places,
        ticktext=[theme.escape(theme.shorten(str(name))) for name in rows["grp"]],
        range=[-0.8, len(rows) - 0.2],
    )
    return figure
