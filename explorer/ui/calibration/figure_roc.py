"""ROC curves of a membership attack, a line per number of repetitions, stronger the more often a text was seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go

from explorer.figures import theme
from explorer.stats.auc import RocCurve


def roc_by_dose(curves: Mapping[int, RocCurve]) -> go.Figure:
    """`curves` are by dose, in rising order."""
    chance = {
        "type": "scatter", "x": [0, 1], "y": [0, 1], "mode": "lines", "hoverinfo": "skip", "showlegend": False,
        "line": {"color": theme.GRAY, "width": 1, "dash": "dot"},
    }  # fmt: skip
    colors = theme.in_order(len(curves))
    traces: list[dict[str, Any]] = [chance]
    for number, (dose, curve) in enumerate(curves.items(), 1):
        traces.append(
            {
                "type": "scatter",
                "x": curve.false_positive,
                "y": curve.true_positive,
                "mode": "lines",
                "name": f"seen {'once' if dose == 1 else f'{dose:,} times'}",
                "line": {"color": colors[number - 1], "width": 1 + 2 * number / len(curves)},
                "hovertemplate": "%{y:.0%} found at %{x:.0%} false alarms<extra>%{fullData.name}</extra>",
            }
        )
    return theme.figure(
        *traces,
        height=420,
        xaxis={"title": {"text": "False alarms: texts the corpus lacks"}, "range": [0, 1], "tickformat": ".0%"},
        yaxis={"title": {"text": "Found: texts the corpus has"}, "range": [0, 1.02], "tickformat": ".0%"},
    )
