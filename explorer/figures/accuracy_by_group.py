"""How often the model was right in each group, with the interval."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from explorer.figures import theme

ROW = 20  # pixels a group


def accuracy_by_group(
    groups: pd.DataFrame, *, overall: float | None = None, ideal: float | None = None, chance: float | None = None
) -> go.Figure:
    """A dot a group with its interval, the best at the top.

    `groups` has the columns grp, value, low, high (shares), n. `overall`, `ideal` and `chance` are drawn as lines.
    """
    rows = groups.sort_values("value", na_position="first", kind="stable")
    names = [theme.escape(theme.shorten(str(name))) for name in rows["grp"]]
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
        customdata=pd.DataFrame(
            {
                "grp": [theme.escape(str(name)) for name in rows["grp"]],
                "n": rows["n"],
                "low": rows["low"],
                "high": rows["high"],
            }
        ).to_numpy(),
        hovertemplate="<b>%{customdata[0]}</b><br>%{x:.1%} (%{customdata[2]:.1%} to %{customdata[3]:.1%})"
        "<br>%{customdata[1]} instances<extra></extra>",
        showlegend=False,
    )
    figure = theme.figure(dots, height=70 + ROW * max(3, len(rows)))
    figure.update_xaxes(tickformat=".0%", range=_range(rows), title_text="Accuracy, with its 95 % interval")
    figure.update_yaxes(tickmode="array", tickvals=places, ticktext=names, range=[-0.8, len(rows) - 0.2], showgrid=True)
    for value, label, dash in ((overall, "overall", "solid"), (ideal, "ideal", "dash"), (chance, "chance", "dot")):
        if value is not None and value == value:
            figure.add_vline(x=value, line={"color": theme.GRAY, "width": 1, "dash": dash})
            figure.add_annotation(
                x=value, y=1, yref="paper", yanchor="bottom", showarrow=False,
                text=f"{label} {value:.1%}", font={"size": 12, "color": theme.GRAY},
            )  # fmt: skip
    return figure


def _range(rows: pd.DataFrame) -> list[float]:
    low = rows["low"].min() if len(rows) else 0.0
    return [0.0 if not low > 0.45 else 0.4, 1.01]
