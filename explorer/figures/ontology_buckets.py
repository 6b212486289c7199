"""Popularity buckets of an ontology: a value a bucket, one line a series."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from explorer.figures import theme


def by_bucket(rows: pd.DataFrame, series: Mapping[str, str], title: str, *, shares: bool = False) -> go.Figure:
    """A line a column of `series` over the column bucket; hovering tells the number of concepts (column n).

    `series` names each column; `shares` shows percent.
    """
    traces = [
        go.Scatter(
            x=rows["bucket"],
            y=rows[column],
            mode="lines+markers",
            name=theme.escape(name),
            line={"color": theme.PALETTE[number % len(theme.PALETTE)], "width": 1.5},
            marker={"size": 6},
            customdata=rows["n"],
            hovertemplate=f"bucket %{{x}}, %{{customdata}} concepts<br>%{{y{':.1%' if shares else ':.3g'}}}"
            f"<extra>{theme.escape(name)}</extra>",
            showlegend=len(series) > 1,
        )
        for number, (column, name) in enumerate(series.items())
    ]
    figure = theme.figure(*traces, height=320)
    figure.update_xaxes(title_text="Popularity bucket, from the least to the most popular concepts")
    figure.update_yaxes(title_text=title, tickformat=".0%" if shares else None, rangemode="tozero")
    return figure


def by_way(rows: pd.DataFrame, value: str, title: str) -> go.Figure:
    """The same with a line for each way to repeat a question (columns way, bucket, n and `value`)."""
    ways = list(dict.fromkeys(rows["way"]))
    wide = rows.pivot(index="bucket", columns="way", values=value).reset_index()
    wide["n"] = rows.groupby("bucket")["n"].max().to_numpy()
    return by_bucket(wide, {way: way for way in ways}, title, shares=True)
