"""How often the model was right in each group, with the interval."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from explorer.figures import theme
from explorer.figures.interval_dots import ROW, interval_dots


def accuracy_by_group(
    groups: pd.DataFrame,
    *,
    overall: float | None = None,
    ideal: float | None = None,
    chance: float | None = None,
    color: str = theme.BLUE,
) -> go.Figure:
    """A dot per group with its interval, the best at the top.

    `groups` has the columns grp, value, low, high (shares), n. `overall`, `ideal` and `chance` are drawn as lines;
    `color` is the model's.
    """
    dots, axis = interval_dots(groups, ".1%", color)
    figure = theme.figure(dots, height=70 + ROW * max(3, len(groups)))
    figure.update_xaxes(tickformat=".0%", range=_range(groups), title_text="Accuracy, with its 95% interval")
    figure.update_yaxes(**axis, showgrid=True)
    for value, label, dash in ((overall, "overall", "solid"), (ideal, "ideal", "dash"), (chance, "chance", "dot")):
        if value is not None and value == value:
            figure.add_vline(x=value, line={"color": theme.GRAY, "width": 1, "dash": dash})
            figure.add_annotation(
                x=value, y=1, yref="paper", yanchor="bottom", showarrow=False,
                text=f"{label} {value:.1%}", font={"size": 12, "color": theme.GRAY},
            )  # fmt: skip
    return figure


def _range(groups: pd.DataFrame) -> list[float]:
    low = groups["low"].min() if len(groups) else 0.0
    return [0.39 if low > 0.45 else -0.01, 1.01]  # of a dot at 0 half would be gone
