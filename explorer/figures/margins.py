"""By how much the model preferred the right option."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from explorer.figures import theme

BINS = 48


def margin_histogram(items: pd.DataFrame) -> go.Figure:
    """How many instances have which margin (nats); right, wrong and ties apart.

    `items` has the columns margin (nats, positive where the gold option won) and verdict (right, wrong, tie).
    """
    known = items[np.isfinite(items["margin"].astype(float))]
    # The outermost hundredth would squeeze all others together; it is counted in the outermost bars.
    low, high = np.quantile(known["margin"], [0.005, 0.995]) if len(known) else (-1.0, 1.0)
    reach = max(abs(low), abs(high), 1e-6)
    edges = np.linspace(-reach, reach, BINS + 1)
    middles = (edges[:-1] + edges[1:]) / 2
    bars = []
    for verdict in ("wrong", "tie", "right"):
        values = np.clip(known.loc[known["verdict"] == verdict, "margin"].astype(float), -reach, reach)
        if len(values):
            counts, _ = np.histogram(values, edges)
            bars.append(
                go.Bar(
                    x=middles,
                    y=counts,
                    width=edges[1] - edges[0],
                    name=f"{verdict} ({len(values):,})",
                    marker={"color": theme.VERDICTS[verdict], "line": {"width": 0}},
                    hovertemplate="margin about %{x:.2f} nats<br>%{y} instances<extra></extra>",
                )
            )
    figure = theme.figure(*bars, height=300, barmode="stack")
    figure.add_vline(x=0, line={"color": theme.GRAY, "width": 1})
    figure.update_xaxes(title_text="Margin of the right option over the best other, in nats")
    figure.update_yaxes(title_text="Instances")
    return figure
