"""From counts to popularity: the steps at a reference set's decile edges."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from explorer.figures import theme


def popularity_edges(edges: Sequence[float]) -> go.Figure:
    """The popularity (1 to 10) of a count: one step at each decile edge, several where edges coincide."""
    x: list[float] = [0.0]
    y: list[float] = [1.0]
    for number, edge in enumerate(edges, start=2):
        x += [edge, edge]
        y += [y[-1], float(number)]
    x.append(max(edges[-1] * 3, 10.0))
    y.append(10.0)
    # A logarithmic axis has no 0: counts are shifted by one, and its ticks say so.
    line = go.Scatter(
        x=[value + 1 for value in x],
        y=y,
        mode="lines",
        line={"color": theme.BLUE, "width": 2.5},
        customdata=x,
        hovertemplate="more than %{customdata:,.0f} occurrences: popularity %{y:.0f}<extra></extra>",
        showlegend=False,
    )
    figure = theme.figure(line, height=260)
    ticks = [0, *(10**power for power in range(13) if 10**power <= x[-1])]
    figure.update_xaxes(
        type="log",
        title_text="Occurrences of an n-gram in the corpus",
        tickmode="array",
        tickvals=[tick + 1 for tick in ticks],
        ticktext=[_short(tick) for tick in ticks],
    )
    figure.update_yaxes(title_text="Popularity", range=[0.7, 10.4], dtick=1)
    return figure


def _short(value: int) -> str:
    for size, letter in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if value >= size:
            return f"{value // size}{letter}"
    return str(value)
