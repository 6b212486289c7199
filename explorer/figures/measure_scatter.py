"""Two measures of the same items: a dot per instance that can be picked, or a dot per group."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from explorer import display
from explorer.figures import theme

MOST_COLORS = len(theme.PALETTE) - 1
OTHER = "other groups"


def measure_scatter(items: pd.DataFrame, x: str, y: str, color: str = "") -> go.Figure:
    """A dot per instance, colored by what stands in the column `color` where that has few values.

    `items` has the columns instance_id, grp, x, y, the one that `color` names and perhaps text; `x` and `y` title the
    axes. The number of a dot's row in `items` is its customdata's first entry.
    """
    series = _series(items, color)
    dots = theme.dots(len(items))
    traces = [
        dots(
            x=_spread(part["x"]),
            y=_spread(part["y"]),
            mode="markers",
            name=f"{theme.escape(display.name(display.words(name)))} ({len(part):,})",
            marker={"size": 7, "opacity": 0.35 if name == OTHER else 0.9, "color": shade},
            selected={"marker": {"opacity": 0.95}},
            unselected={"marker": {"opacity": 0.18}},
            customdata=np.column_stack(
                [
                    part.index,
                    [
                        theme.hover(
                            str(row.get("text") or row["instance_id"]),
                            f"{display.significant(row['x'])} and {display.significant(row['y'])}",
                        )
                        for row in part.to_dict("records")
                    ],
                ]
            ),
            hovertemplate="%{customdata[1]}<extra></extra>",
        )
        for name, (part, shade) in series.items()
    ]
    figure = theme.figure(*traces, height=480, dragmode="select")
    figure.update_layout(showlegend=len(traces) > 1)
    figure.update_xaxes(title_text=theme.escape(x))
    figure.update_yaxes(title_text=theme.escape(y))
    return figure


def group_scatter(groups: pd.DataFrame, x: str, y: str) -> go.Figure:
    """A dot per group at its two means, as large as it has instances. `groups` has the columns grp, x, y, n."""
    largest = max(groups["n"].max(), 1) if len(groups) else 1
    dots = go.Scatter(
        x=groups["x"],
        y=groups["y"],
        mode="markers",
        marker={"size": 7 + 13 * np.sqrt(groups["n"] / largest), "opacity": 0.7, "color": theme.BLUE},
        customdata=[
            [
                str(row["grp"]),
                theme.hover(
                    display.words(str(row["grp"])),
                    f"{display.significant(row['x'])} and {display.significant(row['y'])}; {row['n']:,.0f} instances",
                ),
            ]
            for row in groups.to_dict("records")
        ],
        hovertemplate="%{customdata[1]}<extra></extra>",
        showlegend=False,
    )
    figure = theme.figure(dots, height=420)
    figure.update_xaxes(title_text=f"Group mean: {theme.escape(x)}")
    figure.update_yaxes(title_text=f"Group mean: {theme.escape(y)}")
    return figure


def _series(items: pd.DataFrame, color: str) -> Mapping[str, tuple[pd.DataFrame, str]]:
    """The dots of each color: the most frequent values by themselves, all others together in gray."""
    if not color:
        return {"instances": (items, theme.BLUE)}
    counts = items[color].fillna("").astype(str).value_counts()
    frequent = list(counts.index[:MOST_COLORS])
    names = items[color].fillna("").astype(str).where(lambda column: column.isin(frequent), OTHER)
    shades = {**dict(zip(frequent, theme.in_order(len(frequent)), strict=True)), **theme.VERDICTS}
    series = {name: (items[names == name], shades[name]) for name in frequent}
    rest = items[names == OTHER]
    return {OTHER: (rest, theme.GRAY), **series} if len(rest) else series  # gray first: the others lie over it


def _spread(values: pd.Series) -> np.ndarray:
    """The values; where there are only a few distinct ones, moved a little so that dots do not hide each other."""
    numbers = values.to_numpy(dtype=float)
    distinct = np.unique(numbers)
    if distinct.size > 12 or distinct.size < 2 or numbers.size < 40:
        return numbers
    reach = 0.16 * np.diff(distinct).min()
    return numbers + np.random.default_rng(0).uniform(-reach, reach, numbers.size)
