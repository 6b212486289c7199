"""Distributions laid over each other: popularity, frequency and likeness before and after a perturbation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go

from explorer.figures import theme


def distributions(
    bins: pd.DataFrame,
    series: Mapping[str, str],
    *,
    width: float,
    title: str,
    ticks: Sequence[tuple[float, str]] = (),
    span: tuple[float, float] | None = None,
) -> go.Figure:
    """The share of each series in each bin, as filled steps.

    `bins` has the columns series, bin (its lower end) and n; `series` names them in the order to be drawn.
    """
    traces = []
    for color, (name, label) in zip(theme.in_order(len(series)), series.items(), strict=True):
        of_series = bins[bins["series"] == name]
        total = int(of_series["n"].sum())
        if not total:
            continue
        x, y = _steps(of_series, width, total)
        traces.append(
            go.Scatter(
                x=x, y=y, mode="lines", fill="tozeroy", name=f"{theme.escape(label)} ({total:,})",
                line={"color": color, "width": 2, "shape": "hv"}, fillcolor=_faint(color),
                hovertemplate=f"from %{{x}}: %{{y:.1%}}<extra>{theme.escape(label)}</extra>",
            )
        )  # fmt: skip
    figure = theme.figure(*traces, height=300)
    figure.update_xaxes(title_text=title, range=span)
    if ticks:
        figure.update_xaxes(
            tickmode="array", tickvals=[at for at, _ in ticks], ticktext=[theme.escape(text) for _, text in ticks]
        )
    figure.update_yaxes(title_text="Share", tickformat=".0%", rangemode="tozero")
    figure.update_layout(showlegend=True)
    return figure


def _steps(of_series: pd.DataFrame, width: float, total: int) -> tuple[list[float], list[float]]:
    """Every bin from the first to the last, the empty ones too, and a step down to zero."""
    numbers = (of_series["bin"] / width).round().astype(int)
    counts = dict(zip(numbers, of_series["n"], strict=True))
    shown = range(min(counts) - 1, max(counts) + 2)
    return [number * width for number in shown], [counts.get(number, 0) / total for number in shown]


def _faint(color: str) -> str:
    red, green, blue = (int(color[place : place + 2], 16) for place in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, 0.16)"
