"""A measure group by group, each mean with its interval."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from explorer.figures import theme
from explorer.figures.interval_dots import ROW, interval_dots


def group_means(groups: pd.DataFrame, *, title: str, overall: float) -> go.Figure:
    """A dot per group, the highest at the top. `groups` has the columns grp, value, low, high, n."""
    dots, axis = interval_dots(groups, ".4g")
    figure = theme.figure(dots, height=90 + ROW * max(3, len(groups)))
    figure.add_vline(x=overall, line={"color": theme.GRAY, "width": 1, "dash": "dot"})
    figure.add_annotation(
        x=overall, y=1, yref="paper", yanchor="bottom", showarrow=False, text=f"all {theme.written(overall, '.4g')}",
        font={"size": 12, "color": theme.GRAY},
    )  # fmt: skip
    figure.update_xaxes(title_text=f"{theme.escape(title)}, mean with its 95% interval")
    figure.update_yaxes(**axis)
    return figure
