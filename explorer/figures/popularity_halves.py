"""Accuracy on unpopular and popular instances, task by task: Figures 1 and A of the lexical-popularity paper."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from explorer.figures import theme

ROW = 21  # pixels of a model's line
CERTAIN = 0.05


def popularity_halves(halves: pd.DataFrame) -> go.Figure:
    """A line a model and task from the accuracy of its low half (open) to that of its high half (filled).

    `halves` has the columns task, field, model, low_value, low_n, high_value, high_n (shares and counts), p; rows come
    in the order in which tasks and models are to be shown. A line is thick where p is below 0.05.
    """
    models = list(dict.fromkeys(halves["model"]))
    places, labels = _places(halves, len(models))
    traces: list[go.Scatter] = []
    for number, model in enumerate(models):
        rows = halves[halves["model"] == model]
        heights = [places[field, task] - number for field, task in zip(rows["field"], rows["task"])]
        color = theme.PALETTE[number % len(theme.PALETTE)]
        for certain in (False, True):
            kept = (rows["p"] < CERTAIN) == certain
            traces.append(_lines(rows[kept], [y for y, keep in zip(heights, kept) if keep], color, 5 if certain else 2))
        traces += [_dots(rows, heights, half, color, model, legend=half == "high") for half in ("low", "high")]
    figure = theme.figure(*traces, height=90 + ROW * (int(-min(places.values(), default=0)) + len(models) + 1))
    figure.update_xaxes(
        tickformat=".0%", title_text="Accuracy: open circle low half, filled circle high half", range=_range(halves)
    )
    figure.update_yaxes(
        tickmode="array",
        tickvals=[place for place, _ in labels],
        ticktext=[text for _, text in labels],
        range=[min(places.values(), default=0) - len(models), 1],
        showgrid=False,
        zeroline=False,
    )
    figure.update_layout(showlegend=True)
    return figure


def _places(halves: pd.DataFrame, models: int) -> tuple[dict[tuple[str, str], float], list[tuple[float, str]]]:
    """The height of each task's first line, and the labels: a field in bold above its tasks."""
    places: dict[tuple[str, str], float] = {}
    labels: list[tuple[float, str]] = []
    height = 0.0
    for field in dict.fromkeys(halves["field"]):
        labels.append((height, f"<b>{theme.escape(str(field))}</b>"))
        height -= 1
        for task in dict.fromkeys(halves.loc[halves["field"] == field, "task"]):
            places[field, task] = height
            labels.append((height - (models - 1) / 2, theme.escape(theme.shorten(str(task)))))
            height -= models + 0.6
        height -= 0.4
    return places, labels


def _range(halves: pd.DataFrame) -> list[float]:
    """An axis that holds all dots, and at least 40 points of accuracy: small differences look small."""
    values = halves[["low_value", "high_value"]].to_numpy(dtype=float)
    low, high = (np.nanmin(values), np.nanmax(values)) if np.isfinite(values).any() else (0.5, 1.0)
    middle, reach = (low + high) / 2, max((high - low) / 2 + 0.03, 0.2)
    high = min(1.02, middle + reach)
    return [float(max(-0.02, high - 2 * reach)), float(high)]


def _lines(rows: pd.DataFrame, heights: Sequence[float], color: str, width: int) -> go.Scatter:
    x: list[float | None] = []
    y: list[float | None] = []
    for low, high, height in zip(rows["low_value"], rows["high_value"], heights):
        x += [low, high, None]
        y += [height, height, None]
    return go.Scatter(
        x=x, y=y, mode="lines", line={"color": color, "width": width}, opacity=0.45, hoverinfo="skip", showlegend=False
    )


def _dots(
    rows: pd.DataFrame, heights: Sequence[float], half: str, color: str, model: str, *, legend: bool
) -> go.Scatter:
    shown = pd.DataFrame(
        {
            "task": [theme.escape(str(task)) for task in rows["task"]],
            "low": rows[f"{half}_low"],
            "high": rows[f"{half}_high"],
            "n": rows[f"{half}_n"],
            "p": rows["p"],
        }
    )
    return go.Scatter(
        x=rows[f"{half}_value"],
        y=list(heights),
        mode="markers",
        name=theme.escape(model),
        legendgroup=model,
        showlegend=legend,
        marker={
            "size": 10,
            "symbol": "circle-open" if half == "low" else "circle",
            "color": color,
            "line": {"width": 2, "color": color},
        },
        customdata=shown.to_numpy(),
        hovertemplate=(
            f"<b>%{{customdata[0]}}</b>, {half} half<br>%{{x:.1%}} (%{{customdata[1]:.1%}} to %{{customdata[2]:.1%}})"
            "<br>%{customdata[3]:,} instances, p of the difference %{customdata[4]:.3g}"
            f"<extra>{theme.escape(model)}</extra>"
        ),
    )
