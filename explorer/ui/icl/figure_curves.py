"""How much a model replicates, and how well it labels, over the number of demonstrations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from explorer import display
from explorer.figures import theme
from explorer.studies.icl.declared import REPLICATION, REPLICATION_EXACT

SETTINGS = ("full", "pairs_labels", "pairs", "general")  # what a prompt holds, the most first
SHADES = theme.in_order(len(SETTINGS))[::-1]
COLORS: Mapping[str, str] = {**dict(zip(SETTINGS, SHADES, strict=True)), "accuracy": theme.GRAY}
SHAPES: Mapping[str, str] = dict(zip(SETTINGS, ("circle", "square", "diamond", "triangle-up"), strict=True))
MANY, LEGEND = 4, 98  # entries from which a legend has several lines on a laptop, and the pixels above the panels then
HEIGHT, WITH_ACCURACY = 420, 540  # pixels
LOWER, UPPER = (0.0, 0.26), (0.36, 1.0)  # of the height: accuracy under replication, each on a scale of its own
# How far a setting's interval stands aside, so that settings that agree stay legible.
ASIDE: Mapping[str, float] = {"full": -0.006, "pairs_labels": 0.006, "general": -0.012}  # of the axis
PERCENT = ".1~%"  # a decimal only where it says something


def replication_curves(rows: pd.DataFrame, names: Mapping[str, str], accuracy: pd.DataFrame | None = None) -> go.Figure:
    """Two lines per setting over k: exact and near-exact completions together (solid), exact alone (dotted).

    `rows` has the columns finding (replication, replication_exact), setting, k, value, low, high, n; `accuracy` k,
    value, low, high of label scoring, drawn in gray in a panel below.
    """
    traces: list[go.Scatter] = []
    most = max(rows["k"].max(), 1)
    for setting in (name for name in COLORS if name in set(rows["setting"])):
        for finding, dash, meaning in (
            (REPLICATION.name, "solid", "exact or near-exact"),
            (REPLICATION_EXACT.name, "dot", "exact"),
        ):
            curve = rows[(rows["setting"] == setting) & (rows["finding"] == finding)].sort_values("k")
            if len(curve):
                traces += _line(
                    curve, names[setting], meaning, COLORS[setting], dash, setting, aside=most * ASIDE.get(setting, 0)
                )
    is_scored = accuracy is not None and len(accuracy) > 0
    if accuracy is not None and is_scored:
        curve = accuracy.sort_values("k")
        traces += _line(
            curve,
            "Accuracy of labels (below; bars: range over orders)",
            "",
            COLORS["accuracy"],
            "dash",
            "accuracy",
            range_of=True,
        )
        traces[-1].yaxis = "y2"
    figure = theme.figure(*traces, height=WITH_ACCURACY if is_scored else HEIGHT)
    figure.update_xaxes(
        title_text="Demonstrations (k)", tickvals=sorted(set(rows["k"])), range=[-0.03 * most, 1.03 * most]
    )
    axis = {"tickformat": PERCENT, "rangemode": "tozero"}
    figure.update_layout(yaxis={**axis, "title": {"text": "Share of test items"}})
    if is_scored:
        figure.update_layout(
            yaxis={"domain": UPPER}, yaxis2={**axis, "domain": LOWER, "title": {"text": "Accuracy"}, "nticks": 4},
            xaxis={"anchor": "y2"}, margin={"t": LEGEND if len(traces) > MANY else 8},
        )  # fmt: skip
    return figure


def _line(
    curve: pd.DataFrame,
    name: str,
    meaning: str,
    color: str,
    dash: str,
    group: str,
    *,
    aside: float = 0.0,
    range_of: bool = False,
) -> list[go.Scatter]:
    label = f"{name}: {meaning}" if meaning else name
    first, shape = dash != "dot", SHAPES.get(group, "circle")
    return [
        go.Scatter(
            x=curve["k"] + aside,
            y=curve["value"],
            mode="lines+markers",
            name=label,
            legendgroup=group,
            line={"color": color, "width": 2.2 if first else 1.6, "dash": dash},
            marker={"size": 7, "color": color, "symbol": f"{shape}{'' if first else '-open'}"},
            error_y=_bars(curve) if first else None,
            cliponaxis=False,
            customdata=[
                [
                    f"{group}|{row['k']:.0f}",
                    theme.hover(
                        f"{label}, k = {row['k']:.0f}",
                        f"{display.share(row['value'])} ({display.share(row['low'])} to {display.share(row['high'])}"
                        + (f", the range of {row['n']:,.0f} orders)" if range_of else f", n = {row['n']:,.0f})"),
                    ),
                ]
                for row in curve.to_dict("records")
            ],
            hovertemplate="%{customdata[1]}<extra></extra>",
        )
    ]


def _bars(curve: pd.DataFrame) -> dict[str, Any]:
    return {
        "type": "data",
        "symmetric": False,
        "array": curve["high"] - curve["value"],
        "arrayminus": curve["value"] - curve["low"],
        "thickness": 1,
        "width": 3,
    }
