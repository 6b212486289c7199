"""ROC curves on logarithmic axes: what attacks find while they raise few false alarms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from explorer.figures import theme

LEAST = 1e-3  # where both axes begin
TICKS = (0.001, 0.01, 0.05, 0.2, 1)


def low_rates(
    curves: Mapping[str, tuple[Sequence[float], Sequence[float]]], rates: Sequence[float] = (0.01, 0.05)
) -> go.Figure:
    """A line per curve (name → shares of false alarms, shares of members found), both axes from 0.001 to 1."""
    figure = theme.figure(height=420)
    ends = np.array([LEAST, 1.0])
    figure.add_trace(
        go.Scatter(x=ends, y=ends, mode="lines", line={"color": theme.GRAY, "dash": "dot", "width": 1},
                   name="by chance", hoverinfo="skip")
    )  # fmt: skip
    shades = theme.in_order(len(curves))
    for place, (name, (false_positive, true_positive)) in enumerate(curves.items()):
        x, y = np.maximum(false_positive, LEAST), np.maximum(true_positive, LEAST)
        figure.add_trace(
            go.Scatter(
                x=x, y=y, mode="lines", name=theme.escape(name),
                line={
                    "width": 2, "shape": "hv", "color": shades[place], "dash": theme.DASHES[place % len(theme.DASHES)],
                },
                hovertemplate="%{y:.1%} of the members at %{x:.1%} false alarms<extra></extra>",
            )
        )  # fmt: skip
    for rate in rates:
        figure.add_vline(x=rate, line={"color": theme.GRAY, "width": 1})
    low = float(np.log10(LEAST))
    figure.update_xaxes(
        type="log", range=[low, 0], tickvals=TICKS, tickformat="~%", title_text="False alarms, share of unseen texts"
    )
    figure.update_yaxes(type="log", range=[low, 0], tickvals=TICKS, tickformat="~%", title_text="Members found")
    return figure
