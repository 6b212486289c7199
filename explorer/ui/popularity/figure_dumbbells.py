"""Two accuracies a task and model, joined by a line: unpopular and popular instances (Figures 1 and A of the
lexical-popularity paper), or original and perturbed ones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from explorer import display
from explorer.figures import theme
from explorer.figures.models import model_colors

ROW = 21  # pixels of a model's line
CERTAIN = 0.05
RIM = 0.0075  # of the axis: half of a ring, which is 10 pixels wide, on a page of usual width
FEWEST_UNITS = 5  # paradigms that an interval over them needs


def dumbbells(halves: pd.DataFrame, ends: Mapping[str, str], title: str) -> go.Figure:
    """A line per model and task from one accuracy (open circle) to another (filled); thick where the two differ by more
    than chance.

    `ends` names the two, by the beginning of their columns: `low` stands for low_value, low_low, low_high (share and
    interval) and low_n. Beside these there are task, field, model and p, and where the difference has an interval over
    what was sampled, over_low and over_high, which then decides. Rows come in the order to be shown; a dot carries the
    number of its row, counted from the first.
    """
    halves = halves.assign(place=range(len(halves)), certain=certain(halves))
    models = list(dict.fromkeys(halves["model"]))
    places, labels = _heights_of_tasks(halves, models)
    reach = _range(halves, ends)
    traces: list[go.Scatter] = []
    for model, color in zip(models, model_colors(models), strict=True):
        rows = halves[halves["model"] == model]
        heights = [places[field, task, model] for field, task in zip(rows["field"], rows["task"], strict=True)]
        for clear in (False, True):
            is_drawn = rows["certain"] == clear
            kept_heights = [y for y, keep in zip(heights, is_drawn, strict=True) if keep]
            traces.append(_lines(rows[is_drawn], kept_heights, ends, color, 5 if clear else 2, reach[1] - reach[0]))
        traces += [_dots(rows, heights, ends, end, color, model) for end in ends]
    figure = theme.figure(*traces, height=90 + ROW * (int(-min(places.values(), default=0)) + 2))
    figure.update_xaxes(tickformat=".0%", title_text=title, range=reach, showgrid=True)
    figure.update_yaxes(
        tickmode="array",
        tickvals=[place for place, _ in labels],
        ticktext=[text for _, text in labels],
        range=[min(places.values(), default=0) - 1, 1],
        showgrid=False,
        zeroline=False,
    )
    figure.update_layout(showlegend=True)
    return figure


def certain(halves: pd.DataFrame) -> pd.Series:
    """Whether two accuracies differ beyond chance: by the interval over paradigms where there is one, else by p."""
    by_p = halves["p"] < CERTAIN
    if "over_low" not in halves:
        return by_p
    clear = (halves["over_low"] > 0) | (halves["over_high"] < 0)
    # An interval of two paradigms says nothing about others.
    clear &= ~(halves["over_units"] < FEWEST_UNITS) if "over_units" in halves else True
    return clear.where(halves["over_low"].notna(), by_p)


def _heights_of_tasks(
    halves: pd.DataFrame, models: Sequence[str]
) -> tuple[dict[tuple[str, str, str], float], list[tuple[float, str]]]:
    """The height of each task's line of each model that has one, and the labels: a field in bold above its tasks."""
    places: dict[tuple[str, str, str], float] = {}
    labels: list[tuple[float, str]] = []
    height = 0.0
    for field in dict.fromkeys(halves["field"]):
        labels.append((height, f"<b>{theme.escape(str(field))}</b>"))
        height -= 1
        of_field = halves[halves["field"] == field]
        for task in dict.fromkeys(of_field["task"]):
            models_of_task = set(of_field.loc[of_field["task"] == task, "model"])
            lines = [model for model in models if model in models_of_task]
            places |= {(field, task, model): height - number for number, model in enumerate(lines)}
            labels.append((height - (len(lines) - 1) / 2, theme.escape(display.name(str(task)))))
            height -= len(lines) + 0.6
        height -= 0.4
    return places, labels


def _range(halves: pd.DataFrame, ends: Mapping[str, str]) -> list[float]:
    """An axis that holds all dots, and at least 40 points of accuracy: small differences look small."""
    values = halves[[f"{end}_value" for end in ends]].to_numpy(dtype=float)
    low, high = (np.nanmin(values), np.nanmax(values)) if np.isfinite(values).any() else (0.5, 1.0)
    middle, reach = (low + high) / 2, max((high - low) / 2 + 0.03, 0.2)
    high = min(1.02, middle + reach)
    return [float(max(-0.02, high - 2 * reach)), float(high)]


def _lines(
    rows: pd.DataFrame, heights: Sequence[float], ends: Mapping[str, str], color: str, width: int, span: float
) -> go.Scatter:
    first, second = (rows[f"{end}_value"] for end in ends)
    x: list[float | None] = []
    y: list[float | None] = []
    for low, high, height in zip(first, second, heights, strict=True):
        # A ring is open: the line ends at its rim, and where the dot lies in the ring there is none.
        start = low + math.copysign(RIM * span, high - low)
        if abs(high - low) > RIM * span:
            x += [start, high, None]
            y += [height, height, None]
    return go.Scatter(
        x=x, y=y, mode="lines", line={"color": color, "width": width}, opacity=0.7, hoverinfo="skip", showlegend=False
    )


def _dots(
    rows: pd.DataFrame, heights: Sequence[float], ends: Mapping[str, str], end: str, color: str, model: str
) -> go.Scatter:
    is_first = end == next(iter(ends))
    hovers = [
        [
            row["place"],
            theme.hover(
                f"{row['task']}, {ends[end]}, {model}",
                display.share(row[f"{end}_value"], row[f"{end}_low"], row[f"{end}_high"]),
                f"{row[f'{end}_n']:,.0f} instances; of the difference {_evidence(row)}",
            ),
        ]
        for row in rows.to_dict("records")
    ]
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
        customdata=hovers,
        hovertemplate="%{customdata[1]}<extra></extra>",
    )


def _evidence(row: Mapping[Any, Any]) -> str:
    low, high = row.get("over_low", math.nan), row.get("over_high", math.nan)
    if (row.get("over_units") or math.inf) < FEWEST_UNITS:
        return f"no interval: {row['over_units']:.0f} paradigms are too few"
    if low == low and low is not None:
        return f"{display.points(low)} to {display.points(high)} points over paradigms"
    return display.p_in_words(row["p"])
