"""How much a model replicates, and how well it labels, over the number of demonstrations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from explorer.figures import theme
from explorer.studies.icl.declared import REPLICATION, REPLICATION_EXACT

COLORS: Mapping[str, str] = {
    "full": theme.BLUE,
    "pairs_labels": theme.VERMILION,
    "pairs": theme.GREEN,
    "general": theme.PURPLE,
    "accuracy": theme.GRAY,
}
HEIGHT = 420
# Where a dot's k is written and how far its interval stands aside, so that settings that agree stay legible.
PLACES: Mapping[str, str] = {
    "full": "top left", "pairs_labels": "top right", "pairs": "bottom right", "general": "bottom left",
}  # fmt: skip
ASIDE: Mapping[str, float] = {"full": -0.006, "pairs_labels": 0.006, "general": -0.012}  # of the axis
PERCENT = ".1~%"  # a decimal only where it says something


def replication_curves(rows: pd.DataFrame, names: Mapping[str, str], accuracy: pd.DataFrame | None = None) -> go.Figure:
    """Two lines a setting over k: exact and near-exact completions together (solid), exact alone (dotted).

    `rows` has the columns finding (replication, replication_exact), setting, k, value, low, high, n; `accuracy` k,
    value, low, high of label scoring, drawn in gray.
    """
    traces: list[go.Scatter] = []
    most = max(rows["k"].max(), 1)
    for setting in (name for name in COLORS if name in set(rows["setting"])):
        for finding, dash, what in (
            (REPLICATION.name, "solid", "exact or near-exact"),
            (REPLICATION_EXACT.name, "dot", "exact"),
        ):
            curve = rows[(rows["setting"] == setting) & (rows["finding"] == finding)].sort_values("k")
            if len(curve):
                traces += _line(
                    curve, names[setting], what, COLORS[setting], dash, setting, aside=most * ASIDE.get(setting, 0)
                )
    if accuracy is not None and len(accuracy):
        curve = accuracy.sort_values("k")
        traces += _line(curve, "Accuracy of labels", "", COLORS["accuracy"], "dash", "accuracy")
    figure = theme.figure(*traces, height=HEIGHT)
    figure.update_xaxes(
        title_text="Demonstrations (k)", tickvals=sorted(set(rows["k"])), range=[-0.03 * most, 1.03 * most]
    )
    figure.update_yaxes(title_text="Share of test items", tickformat=PERCENT, rangemode="tozero")
    return figure


def memorization_against_performance(points: pd.DataFrame, names: Mapping[str, str]) -> go.Figure:
    """A dot a setting and k: share memorized against accuracy of labels; lines join a setting's dots in order of k.

    `points` has the columns setting, k, memorized, accuracy.
    """
    traces = []
    for setting in (name for name in COLORS if name in set(points["setting"])):
        curve = points[points["setting"] == setting].sort_values("k")
        traces.append(
            go.Scatter(
                x=curve["memorized"],
                y=curve["accuracy"],
                mode="lines+markers+text",
                name=names[setting],
                text=[f"{k}" for k in curve["k"]],
                textposition=PLACES[setting],
                textfont={"color": COLORS[setting]},
                cliponaxis=False,
                line={"color": COLORS[setting], "width": 1.5},
                marker={"size": 9, "color": COLORS[setting]},
                hovertemplate="k = %{text}: %{x:.1%} memorized, %{y:.1%} right<extra>" + names[setting] + "</extra>",
            )
        )
    figure = theme.figure(*traces, height=HEIGHT)
    figure.update_xaxes(title_text="Memorized (exact or near-exact)", tickformat=PERCENT)
    figure.update_yaxes(title_text="Accuracy of labels", tickformat=PERCENT)
    return figure


def _line(
    curve: pd.DataFrame, name: str, what: str, color: str, dash: str, group: str, *, aside: float = 0.0
) -> list[go.Scatter]:
    label = f"{name}: {what}" if what else name
    first = dash != "dot"
    return [
        go.Scatter(
            x=curve["k"] + aside,
            y=curve["value"],
            mode="lines+markers",
            name=label,
            legendgroup=group,
            line={"color": color, "width": 2.2 if first else 1.6, "dash": dash},
            marker={"size": 7, "color": color, "symbol": "circle" if first else "circle-open"},
            error_y=_bars(curve) if first else None,
            cliponaxis=False,
            customdata=curve[["low", "high", "n", "k"]].to_numpy(),
            hovertemplate="k = %{customdata[3]}: %{y:.1%} (%{customdata[0]:.1%} to %{customdata[1]:.1%}, "
            f"n = %{{customdata[2]:,}})<extra>{label}</extra>",
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
