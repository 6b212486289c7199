"""A dot per row with its interval, from the lowest value up: what figures of groups are made of."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from explorer import display
from explorer.figures import theme

ROW = 20  # pixels a group


def interval_dots(groups: pd.DataFrame, number: str, color: str = theme.BLUE) -> tuple[go.Scatter, dict[str, object]]:
    """The dots, the highest at the top, and the axis that names them.

    `groups` has the columns grp, value, low, high, n; `number` is the format that values are told in, `color`
    the model's. A dot carries its group's name.
    """
    rows = groups.sort_values("value", na_position="first", kind="stable")
    places = list(range(len(rows)))
    write = display.share if number.endswith("%") else display.significant
    dots = go.Scatter(
        x=rows["value"],
        y=places,
        mode="markers",
        marker={"size": 8, "color": color},
        error_x=theme.interval_bars(rows["value"], rows["low"], rows["high"], color),
        customdata=[
            [
                str(row["grp"]),
                theme.hover(
                    display.words(str(row["grp"])),
                    f"{write(row['value'])} ({_ends(row, write)}), {row['n']:,.0f} instances",
                ),
            ]
            for row in rows.to_dict("records")
        ],
        hovertemplate="%{customdata[1]}<extra></extra>",
        showlegend=False,
    )
    axis: dict[str, object] = {
        "tickmode": "array",
        "tickvals": places,
        "ticktext": [theme.escape(display.name(display.words(str(name)))) for name in rows["grp"]],
        "range": [-0.8, len(rows) - 0.2],
    }
    return dots, axis


def _ends(row: Mapping[Hashable, Any], write: Callable[[float], str]) -> str:
    return "no interval" if math.isnan(row["low"]) else f"{write(row['low'])} to {write(row['high'])}"
