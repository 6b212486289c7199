"""Popularity buckets of an ontology: a value per bucket, one line per series (Bombieri et al. 2024, figures 1 to 4)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import cycle
from typing import Any

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from explorer import display
from explorer.figures import theme

Series = tuple[str, pd.DataFrame, str]  # its name, a row per bucket, and the column that is drawn
BUCKET, COUNT = "bucket", "mean_count"
HEIGHT = 320  # pixels
FEWEST_JOINED = 5  # concepts of a bucket: a line through shares of fewer would only leap between 0, a half and 1
FINE = [digit * 10**power for power in range(7) for digit in (1, 2, 5)]  # ticks of a short log scale


def by_bucket(
    series: Sequence[Series],
    title: str,
    *,
    shares: bool = False,
    over: str = BUCKET,
    chance: float | None = None,
    colors: Sequence[str] = (),
) -> go.Figure:
    """A line per series over the buckets' numbers, or over their mean counts; hovering tells the number of concepts.

    Rows have the columns bucket, n, for `over=COUNT` mean_count, and where there is an interval the value's name with
    _low and _high. `shares` shows percent; `chance` is drawn as a line; `colors` are the
    lines' where they are models'.
    """
    lines = [
        _line(line_series, color, shares, over, len(series))
        for line_series, color in zip(series, cycle(colors or theme.in_order(len(series))), strict=False)
    ]
    figure = theme.figure(*lines, height=HEIGHT)
    if over == COUNT:
        # A bucket whose concepts were never found has no place on a log scale.
        log = all((rows[COUNT] > 0).all() for _, rows, _ in series)
        figure.update_xaxes(title_text=f"Mean count of a bucket's labels{', log scale' if log else ''}",
                            type="log" if log else "linear", dtick=1 if log else None,
                            tickformat=",~r" if log else None)  # fmt: skip
    else:
        figure.update_xaxes(title_text="Popularity bucket, from the least to the most popular concepts")
    negative = any((rows[column] < 0).any() for _, rows, column in series)
    figure.update_yaxes(title_text=title, tickformat=".0%" if shares else None,
                        rangemode="normal" if negative else "tozero")  # fmt: skip
    if chance is not None:
        figure.add_hline(y=chance, line={"color": theme.GRAY, "width": 1, "dash": "dot"}, annotation_text="by chance",
                         annotation_font={"size": 12, "color": theme.GRAY})  # fmt: skip
    return figure


def by_way(rows: pd.DataFrame, value: str, title: str) -> go.Figure:
    """A line for each way to repeat a question (columns way, bucket, n and `value`)."""
    return by_bucket(
        [(str(way), buckets, value) for way, buckets in rows.groupby("way", sort=False)], title, shares=True
    )


def sizes(rows: pd.DataFrame) -> go.Figure:
    """Two panels of bars: how many concepts each bucket holds, and their mean count, both on a log scale."""
    figure = make_subplots(rows=1, cols=2, horizontal_spacing=0.1)
    for place, (column, title) in enumerate((("n", "Concepts"), (COUNT, "Mean count")), 1):
        bars = go.Bar(
            x=rows[BUCKET], y=rows[column], marker={"color": theme.BLUE}, showlegend=False,
            hovertemplate=f"bucket %{{x}}<br>{title.lower()} %{{y:,.4~g}}<extra></extra>",
        )  # fmt: skip
        figure.add_trace(bars, row=1, col=place)
        figure.update_yaxes(title_text=f"{title}, log scale", type="log", row=1, col=place)
        if rows[column].max() < 100 * rows[column].min():  # powers of ten alone would leave one tick
            figure.update_yaxes(tickvals=FINE, row=1, col=place)
        else:
            figure.update_yaxes(dtick=1, row=1, col=place)
    figure.update_layout(theme.layout(height=HEIGHT))
    figure.update_xaxes(title_text="Popularity bucket", showgrid=False)
    return figure


def _line(line_series: Series, color: str, shares: bool, over: str, of: int) -> go.Scatter:
    name, rows, column = line_series
    interval: dict[str, Any] = {}
    if f"{column}_low" in rows:
        interval = theme.interval_bars(rows[column], rows[f"{column}_low"], rows[f"{column}_high"], color, 1)
    return go.Scatter(
        x=rows[over],
        y=rows[column],
        mode="lines+markers" if rows["n"].median() >= FEWEST_JOINED else "markers",
        name=theme.escape(name),
        line={"color": color, "width": 1.5},
        marker={"size": 6},
        error_y=interval or None,
        cliponaxis=False,  # a dot at 0 stands whole on the axis
        customdata=[
            [
                int(row[BUCKET]),
                theme.hover(
                    f"{name}: bucket {row[BUCKET]:.0f}, {display.counted(int(row['n']), 'concept')}",
                    display.share(row[column], row.get(f"{column}_low", math.nan), row.get(f"{column}_high", math.nan))
                    if shares
                    else display.significant(row[column], 3),
                ),
            ]
            for row in rows.to_dict("records")
        ],
        hovertemplate="%{customdata[1]}<extra></extra>",
        showlegend=of > 1,
    )
