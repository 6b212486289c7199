"""Two accuracies a task and model, joined by a line: unpopular and popular instances (Figures 1 and A of the
lexical-popularity paper), or original and perturbed ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from explorer import display
from explorer.figures import theme
from explorer.figures.models import model_colors

ROW = 21  # pixels of a model's line
CERTAIN = 0.05


def dumbbells(halves: pd.DataFrame, ends: Mapping[str, str], title: str) -> go.Figure:
    """A line a model and task from one accuracy (open circle) to another (filled); thick where p is below 0.05.

    `ends` names the two, by the beginning of their columns: `low` stands for low_value, low_low, low_high (share and
    interval) and low_n. Beside these there are task, field, model and p; rows come in the order to be shown.
    """
    models = list(dict.fromkeys(halves["model"]))
    places, labels = _places(halves, len(models))
    traces: list[go.Scatter] = []
    for number, (model, color) in enumerate(zip(models, model_colors(models), strict=True)):
        rows = halves[halves["model"] == model]
        heights = [places[field, task] - number for field, task in zip(rows["field"], rows["task"], strict=True)]
        for certain in (False, True):
            kept = (rows["p"] < CERTAIN) == certain
            kept_heights = [y for y, keep in zip(heights, kept, strict=True) if keep]
            traces.append(_lines(rows[kept], kept_heights, ends, color, 5 if certain else 2))
        traces += [_dots(rows, heights, ends, end, color, model) for end in ends]
    figure = theme.figure(*traces, height=90 + ROW * (int(-min(places.values(), default=0)) + len(models) + 1))
    figure.update_xaxes(tickformat=".0%", title_text=title, range=_range(halves, ends))
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
            labels.append((height - (models - 1) / 2, theme.escape(display.name(str(task)))))
            height -= models + 0.6
        height -= 0.4
    return places, labels


def _range(halves: pd.DataFrame, ends: Mapping[str, str]) -> list[float]:
    """An axis that holds all dots, and at least 40 points of accuracy: small differences look small."""
    values = halves[[f"{end}_value" for end in ends]].to_numpy(dtype=float)
    low, high = (np.nanmin(values), np.nanmax(values)) if np.isfinite(values).any() else (0.5, 1.0)
    middle, reach = (low + high) / 2, max((high - low) / 2 + 0.03, 0.2)
    high = min(1.02, middle + reach)
    return [float(max(-0.02, high - 2 * reach)), float(high)]


def _lines(rows: pd.DataFrame, heights: Sequence[float], ends: Mapping[str, str], color: str, width: int) -> go.Scatter:
    first, second = (rows[f"{end}_value"] for end in ends)
    x: list[float | None] = []
    y: list[float | None] = []
    for low, high, height in zip(first, second, heights, strict=True):
        x += [low, high, None]
        y += [height, height, None]
    return go.Scatter(
        x=x, y=y, mode="lines", line={"color": color, "width": width}, opacity=0.45, hoverinfo="skip", showlegend=False
    )


def _dots(
    rows: pd.DataFrame, heights: Sequence[float], ends: Mapping[str, str], end: str, color: str, model: str
) -> go.Scatter:
    is_first = end == next(iter(ends))
    shown = rows[[f"{end}_low", f"{end}_high", f"{end}_n"]].assign(
        p=[display.p_in_words(p) for p in rows["p"]], task=[theme.escape(str(task)) for task in rows["task"]]
    )
    return go.Scatter(
        x=rows[f"{end}_value"],
        y=list(heights),
        mode="markers",
        name=theme.escape(model),
        legendgroup=model,
        showlegend=not is_first,
        marker={
            "size": 10,
            "symbol": "circle-open" if is_first else "circle",
            "color": color,
            "line": {"width": 2, "color": color},
        },
        customdata=shown.to_numpy(),
        hovertemplate=(
            f"<b>%{{customdata[4]}}</b>, {ends[end]}<br>%{{x:.1%}} (%{{customdata[0]:.1%}} to %{{customdata[1]:.1%}})"
            "<br>%{customdata[2]:,} instances, of the difference %{customdata[3]}"
            f"<extra>{theme.escape(model)}</extra>"
        ),
    )
