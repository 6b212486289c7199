"""One instance's margin as the context before it grows: a line per condition."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from explorer import display
from explorer.figures import theme
from explorer.ui.priming.figure_curves import LOOKS, name_of


def margin_curves(points: pd.DataFrame, *, stereotypes: bool = False) -> go.Figure:
    """`points` has the columns condition, length (tokens) and value (nats)."""
    traces = []
    for condition in (name for name in LOOKS if name in set(points["condition"])):
        curve = points[points["condition"] == condition].sort_values("length")
        look, name = LOOKS[condition], name_of(condition, stereotypes=stereotypes)
        traces.append(
            go.Scatter(
                x=curve["length"],
                y=curve["value"],
                mode="lines+markers",
                name=name,
                line={"color": look.color, "width": 2.2, "dash": look.dash},
                marker={
                    "size": 7,
                    "color": look.color,
                    "symbol": look.symbol,
                    "line": {"width": 2, "color": look.color},
                },
                customdata=[display.nats(value, signed=True) for value in curve["value"]],
                hovertemplate=f"%{{x:,}} tokens: %{{customdata}}<extra>{name}</extra>",
            )
        )
    figure = theme.figure(*traces, height=340)
    figure.update_layout(showlegend=True)
    figure.add_hline(y=0, line={"color": theme.GRAY, "width": 1, "dash": "dot"})
    figure.update_xaxes(title_text="Tokens of context", rangemode="tozero")
    figure.update_yaxes(title_text="Margin in nats")
    return figure
