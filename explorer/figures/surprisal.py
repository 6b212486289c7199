"""Where in a text the model is surprised."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from explorer.figures import theme

Line = tuple[str, Sequence[str], Sequence[float]]  # name, tokens, surprisals


def surprisal_lines(lines: Sequence[Line], unit: str) -> go.Figure:
    """A line per text: the surprisal of each of its tokens, in `unit` (nats or bits)."""
    traces = [
        go.Scatter(
            x=list(range(1, len(tokens) + 1)),
            y=list(values),
            mode="lines+markers",
            name=theme.escape(name),
            line={"width": 2, "color": theme.PALETTE[place % len(theme.PALETTE)]},
            marker={"size": 7},
            customdata=[theme.escape(token) for token in tokens],
            hovertemplate=f"“%{{customdata}}”<br>%{{y:.2f}} {unit}<extra>{theme.escape(name)}</extra>",
        )
        for place, (name, tokens, values) in enumerate(lines)
    ]
    figure = theme.figure(*traces, height=280)
    longest = max((tokens for _, tokens, _ in lines), key=len, default=())
    if len(lines) == 1 and len(longest) <= 30:
        figure.update_xaxes(
            tickmode="array", tickvals=list(range(1, len(longest) + 1)), ticktext=[theme.escape(t) for t in longest]
        )
    figure.update_xaxes(title_text="Token")
    figure.update_yaxes(title_text=f"Surprisal ({unit})", rangemode="tozero")
    return figure
