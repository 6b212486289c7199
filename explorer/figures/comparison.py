"""Two runs side by side: item by item, and group by group."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from explorer import display
from explorer.figures import theme
from explorer.figures.models import model_colors

MOST_DOTS = 5000  # more than that are shown as a density
ROW = 22

OUTCOMES = {
    "both right": theme.BLUE,
    "only the first": theme.GREEN,
    "only the second": theme.ORANGE,
    "both wrong": theme.VERMILION,
    "a tie": theme.GRAY,
}


def margins_of_two_runs(items: pd.DataFrame, first: str, second: str) -> go.Figure:
    """A dot an instance: its margin (nats) in the first run against its margin in the second.

    `items` has the columns instance_id, margin_a, margin_b, outcome (a key of OUTCOMES).
    """
    if len(items) > MOST_DOTS:
        traces = [_density(items)]
    else:
        traces = [_dots(items[items["outcome"] == outcome], outcome) for outcome in OUTCOMES]
        traces = [trace for trace in traces if len(trace.x)]
    figure = theme.figure(*traces, height=440)
    figure.add_vline(x=0, line={"color": theme.GRAY, "width": 1})
    figure.add_hline(y=0, line={"color": theme.GRAY, "width": 1})
    figure.update_xaxes(title_text=f"Margin in nats: {theme.escape(first)}")
    figure.update_yaxes(title_text=f"Margin in nats: {theme.escape(second)}")
    return figure


def groups_of_two_runs(groups: pd.DataFrame, first: str, second: str) -> go.Figure:
    """A line a group from its accuracy in the first run to that in the second, the widest gap at the top.

    `groups` has the columns grp, value_a, value_b (shares), n.
    """
    gaps = (groups["value_b"] - groups["value_a"]).abs()
    rows = groups.loc[gaps.sort_values(kind="stable").index]
    places = list(range(len(rows)))
    ends_x: list[float | None] = []
    ends_y: list[float | None] = []
    for place, a, b in zip(places, rows["value_a"], rows["value_b"], strict=True):
        ends_x += [a, b, None]
        ends_y += [place, place, None]
    traces = [
        go.Scatter(
            x=ends_x, y=ends_y, mode="lines", line={"color": theme.GRAY, "width": 2}, hoverinfo="skip", showlegend=False
        )
    ]
    for name, column, color in zip((first, second), ("value_a", "value_b"), model_colors((first, second)), strict=True):
        traces.append(
            go.Scatter(
                x=rows[column],
                y=places,
                mode="markers",
                name=theme.escape(name),
                marker={"size": 9, "color": color},
                customdata=[theme.escape(str(group)) for group in rows["grp"]],
                hovertemplate="%{customdata}<br>%{x:.1%}<extra>" + theme.escape(name) + "</extra>",
            )
        )
    figure = theme.figure(*traces, height=90 + ROW * max(3, len(rows)))
    figure.update_xaxes(tickformat=".0%", title_text="Accuracy")
    figure.update_yaxes(
        tickmode="array",
        tickvals=places,
        ticktext=[theme.escape(display.name(display.words(str(group)))) for group in rows["grp"]],
        range=[-0.8, len(rows) - 0.2],
    )
    return figure


def _dots(items: pd.DataFrame, outcome: str) -> go.Scattergl:
    return go.Scattergl(
        x=items["margin_a"],
        y=items["margin_b"],
        mode="markers",
        name=f"{outcome} ({len(items):,})",
        marker={"size": 6, "opacity": 0.8, "color": OUTCOMES[outcome]},
        customdata=[theme.escape(name) for name in items["instance_id"]],
        hovertemplate="%{customdata}<br>%{x:.2f} and %{y:.2f} nats<extra></extra>",
    )


def _density(items: pd.DataFrame) -> go.Heatmap:
    counts, across, up = np.histogram2d(items["margin_a"], items["margin_b"], bins=60)
    return go.Heatmap(
        x=(across[:-1] + across[1:]) / 2,
        y=(up[:-1] + up[1:]) / 2,
        z=np.where(counts.T > 0, np.log10(np.maximum(counts.T, 1)), np.nan),
        customdata=counts.T,
        colorscale=[[0, "rgba(0,114,178,0.15)"], [1, theme.BLUE]],
        showscale=False,
        hovertemplate="%{x:.2f} and %{y:.2f} nats<br>%{customdata:.0f} instances<extra></extra>",
    )
