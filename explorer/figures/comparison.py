"""Two runs side by side: item by item, and group by group."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from explorer import display
from explorer.figures import theme
from explorer.figures.models import model_colors

LONG = 25  # rows from which on the axis stands above them
MOST_DOTS = 5000  # more than that are shown as a density
ROW, APART = 24, 0.15  # pixels a row; how far the two runs stand from its middle, in rows

OUTCOMES: Mapping[str, tuple[str, str]] = {  # the color and the symbol of its dots
    "both right": (theme.TWO_AND_TWO[0], "circle"),
    "only the first": (theme.TWO_AND_TWO[1], "triangle-right"),
    "only the second": (theme.TWO_AND_TWO[2], "triangle-up"),
    "both wrong": (theme.TWO_AND_TWO[3], "x"),
    "a tie": (theme.GRAY, "diamond"),
}


def margins_of_two_runs(
    items: pd.DataFrame, first: str, second: str, units: tuple[str, str] = ("nats", "nats")
) -> go.Figure:
    """A dot per instance: its margin in the first run against its margin in the second, each in its unit.

    `items` has the columns instance_id, margin_a, margin_b, outcome (a key of OUTCOMES).
    """
    if len(items) > MOST_DOTS:
        traces = [_density(items)]
    else:
        dots = theme.dots(len(items))
        traces = [_dots(items[items["outcome"] == outcome], outcome, dots) for outcome in OUTCOMES]
        traces = [trace for trace in traces if len(trace.x)]
    figure = theme.figure(*traces, height=440)
    figure.add_vline(x=0, line={"color": theme.GRAY, "width": 1})
    figure.add_hline(y=0, line={"color": theme.GRAY, "width": 1})
    figure.update_xaxes(title_text=f"Margin in {units[0]}: {theme.escape(first)}")
    figure.update_yaxes(title_text=f"Margin in {units[1]}: {theme.escape(second)}")
    return figure


def groups_of_two_runs(groups: pd.DataFrame, first: str, second: str) -> go.Figure:
    """A line per group from its accuracy in the first run to that in the second, the widest gap at the top.

    `groups` has the columns grp, n and, of each run, value_a, low_a, high_a (shares) and so on.
    """
    gaps = (groups["value_b"] - groups["value_a"]).abs()
    rows = groups.loc[gaps.sort_values(kind="stable").index]
    places = list(range(len(rows)))
    ends_x: list[float | None] = []
    ends_y: list[float | None] = []
    for place, a, b in zip(places, rows["value_a"], rows["value_b"], strict=True):
        ends_x += [a, b, None]
        ends_y += [place + APART, place - APART, None]
    traces = [
        go.Scatter(
            x=ends_x, y=ends_y, mode="lines", line={"color": theme.GRAY, "width": 2}, hoverinfo="skip", showlegend=False
        )
    ]
    # One above the other, so that runs which agree are seen both, each with its interval.
    colors = model_colors((first, second))
    for name, run, shift, color in zip((first, second), "ab", (APART, -APART), colors, strict=True):
        value, low, high = (rows[f"{end}_{run}"] for end in ("value", "low", "high"))
        traces.append(
            go.Scatter(
                x=value,
                y=[place + shift for place in places],
                error_x=theme.interval_bars(value, low, high, color),
                mode="markers",
                name=theme.escape(name),
                marker={"size": 9, "color": color},
                customdata=[
                    [theme.escape(display.words(str(group))), display.share(*ends)]
                    for group, *ends in zip(rows["grp"], value, low, high, strict=True)
                ],
                hovertemplate="%{customdata[0]}<br>%{customdata[1]}<extra>" + theme.escape(name) + "</extra>",
            )
        )
    figure = theme.figure(*traces, height=90 + ROW * max(3, len(rows)))
    # Of many rows the end is far below the window.
    side = "top" if len(rows) > LONG else "bottom"
    figure.update_xaxes(tickformat=".0%", title_text="Accuracy, with its 95% interval", side=side)
    figure.update_layout(margin={"t": 96} if side == "top" else {})
    figure.update_yaxes(
        tickmode="array",
        tickvals=places,
        ticktext=[theme.escape(display.name(display.words(str(group)))) for group in rows["grp"]],
        range=[-0.8, len(rows) - 0.2],
    )
    return figure


def _dots(items: pd.DataFrame, outcome: str, dots: theme.Dots) -> go.Scatter | go.Scattergl:
    color, symbol = OUTCOMES[outcome]
    return dots(
        x=items["margin_a"],
        y=items["margin_b"],
        mode="markers",
        name=f"{outcome} ({len(items):,})",
        marker={"size": 7, "opacity": 0.8, "color": color, "symbol": symbol},
        customdata=[theme.escape(name) for name in items["instance_id"]],
        hovertemplate="%{customdata}<br>%{x:.2f} and %{y:.2f}<extra></extra>",
    )


def _density(items: pd.DataFrame) -> go.Heatmap:
    counts, across, up = np.histogram2d(items["margin_a"], items["margin_b"], bins=60)
    return go.Heatmap(
        x=(across[:-1] + across[1:]) / 2,
        y=(up[:-1] + up[1:]) / 2,
        z=np.where(counts.T > 0, np.log10(np.maximum(counts.T, 1)), np.nan),
        customdata=counts.T,
        colorscale=[[0, "rgba(144, 99, 240, 0.15)"], [1, theme.LEAST]],
        showscale=False,
        hovertemplate="%{x:.2f} and %{y:.2f}<br>%{customdata:.0f} instances<extra></extra>",
    )
