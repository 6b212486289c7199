"""Printed figures as rings, ours as dots with their intervals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from explorer import display
from explorer.figures import theme

LEAST_SPAN = 0.1  # of the numbers themselves, so that 0.1370 and 0.1371 stand beside each other
ROW = 22  # pixels a figure
NOT_COMPARABLE = "not comparable"


def printed_and_ours(rows: pd.DataFrame, title: str, other: str = "") -> go.Figure:
    """A line per figure, in the order given.

    `rows` has the columns label, published, ours, low, high, verdict, differs, other. A dot of ours is filled where it
    is comparable and gray and open where its method differs; a small diamond is another model's number (`other` names
    it), for orientation.
    """
    rows = rows.assign(place=list(range(len(rows)))[::-1])
    answered = rows[rows["ours"].notna()]
    apart = answered["verdict"] == NOT_COMPARABLE
    traces = [
        _ours(
            answered[~apart],
            "ours, with its 95% interval" if answered["low"].notna().any() else "ours",
            theme.LEAST,
            "circle",
        ),
        _ours(answered[apart], "ours, not comparable", theme.GRAY, "circle-open"),
        go.Scatter(
            x=rows["published"],
            y=rows["place"],
            mode="markers",
            name="printed",
            marker={"size": 11, "color": theme.MOST, "symbol": "circle-open", "line": {"width": 2}},
            customdata=[
                theme.hover(str(label), f"{display.significant(value)}, printed")
                for label, value in zip(rows["label"], rows["published"], strict=True)
            ],
            hovertemplate="%{customdata}<extra></extra>",
        ),
    ]
    beside = rows[rows["other"].notna()]
    if other and len(beside):
        traces.append(
            go.Scatter(
                x=beside["other"],
                y=beside["place"],
                mode="markers",
                name=f"{theme.escape(other)}: another model, for orientation",
                marker={"size": 7, "color": theme.GRAY, "symbol": "diamond-open", "line": {"width": 1.5}},
                customdata=[
                    theme.hover(str(label), f"{display.significant(value)}, {other}, another model")
                    for label, value in zip(beside["label"], beside["other"], strict=True)
                ],
                hovertemplate="%{customdata}<extra></extra>",
            )
        )
    figure = theme.figure(*(trace for trace in traces if len(trace.x)), height=100 + ROW * max(3, len(rows)))
    figure.update_layout(showlegend=True)
    figure.update_xaxes(title_text=theme.escape(title[:1].upper() + title[1:]), range=_range(rows))
    figure.update_yaxes(
        tickmode="array",
        tickvals=rows["place"],
        ticktext=[theme.escape(display.name(str(label), 56)) for label in rows["label"]],
        range=[-0.8, len(rows) - 0.2],
        zeroline=False,
    )
    return figure


def _range(rows: pd.DataFrame) -> list[float] | None:
    """The ends of the axis where all numbers are nearly one, which Plotly would draw far apart; else None."""
    known = rows[["published", "ours", "low", "high", "other"]].to_numpy(dtype=float)
    lowest, highest = np.nanmin(known), np.nanmax(known)
    rim = LEAST_SPAN * max(abs(lowest), abs(highest)) / 2
    return None if highest - lowest > rim else [float(lowest - rim), float(highest + rim)]


def _ours(rows: pd.DataFrame, name: str, color: str, symbol: str) -> go.Scatter:
    known = rows["low"].notna()
    return go.Scatter(
        x=rows["ours"],
        y=rows["place"],
        mode="markers",
        name=name,
        marker={"size": 9, "color": color, "symbol": symbol, "line": {"width": 2, "color": color}},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": (rows["high"] - rows["ours"]).where(known, 0).clip(lower=0),
            "arrayminus": (rows["ours"] - rows["low"]).where(known, 0).clip(lower=0),
            "color": color,
            "thickness": 1.4,
            "width": 0,
        },
        customdata=[
            theme.hover(
                str(row["label"]),
                f"{display.significant(row['ours'])}, {row['verdict']}",
                f"What differs: {row['differs']}" if row["differs"] else "",
            )
            for row in rows.to_dict("records")
        ],
        hovertemplate="%{customdata}<extra></extra>",
    )
