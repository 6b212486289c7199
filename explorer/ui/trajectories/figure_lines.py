"""Lines along training tokens, steps, parameters or seeds, each with its interval as a band.

Tokens, steps and parameters stand on a logarithmic axis; a model without training has no place there, so that it stands
apart at the left, behind a gap in the axis.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import plotly.graph_objects as go

from explorer import display
from explorer.figures import theme

HEIGHT = 440  # pixels
CHANCE = 0.5  # of an AUC
APART = 0.55  # decades from the least place to that of 0
MOST_TICKS = 9
DASHES = ("solid", "dash", "dot")
FORMATS: Mapping[str, str] = {"share": ".1~%", "points": "+.1~%"}  # of small shares, too, no two ticks alike


@dataclass(frozen=True, slots=True)
class DrawnLine:
    """A line of a figure.

    x        places, rising
    about    what a hover label says of each dot
    carried  what a picked dot carries
    dash     which stroke: 0, 1 or 2
    """

    name: str
    color: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    about: Sequence[str]
    carried: Sequence[str]
    dash: int = 0


@dataclass(frozen=True, slots=True)
class Axis:
    """The axis that lines lie along: its title, whether it is logarithmic, and names of its places where it has few."""

    title: str
    is_log: bool = True
    names: Mapping[float, str] = field(default_factory=dict)


def trajectory(
    lines: Sequence[DrawnLine],
    axis: Axis,
    *,
    response: str,
    unit: str,
    null: float = math.nan,
    mark: float = math.nan,
    height: int = HEIGHT,
) -> go.Figure:
    """The lines along an axis; `response` names the vertical one, `null` and `mark` are drawn as a line across each."""
    every = sorted({x for line in lines for x in line.x})
    place = _places_across(every, is_log=axis.is_log)
    traces: list[dict[str, Any]] = []
    for line in lines:
        known = [number for number, low in enumerate(line.low) if low == low and line.high[number] == line.high[number]]
        if known:
            across = [place[line.x[number]] for number in known]
            traces.append(
                {
                    "type": "scatter",
                    "x": [*across, *reversed(across)],
                    "y": [*(line.high[number] for number in known), *(line.low[number] for number in reversed(known))],
                    "fill": "toself",
                    "mode": "none",
                    "fillcolor": _faint(line.color),
                    "hoverinfo": "skip",
                    "showlegend": False,
                }
            )
    for line in lines:
        name = theme.escape(line.name)
        traces.append(
            {
                "type": "scatter",
                "x": [place[x] for x in line.x],
                "y": list(line.y),
                "mode": "lines+markers",
                "name": name,
                "line": {"color": line.color, "width": 2, "dash": DASHES[line.dash % len(DASHES)]},
                "marker": {"size": 8, "color": line.color},
                "customdata": [[key, theme.hover(text)] for key, text in zip(line.carried, line.about, strict=True)],
                "hovertemplate": f"{name}<br>%{{customdata[1]}}<extra></extra>",
            }
        )
    across_it = [] if math.isnan(null) else [theme.line_across(y=null)]
    if not math.isnan(mark) and mark in place:
        across_it.append(theme.line_across(x=place[mark]))
    ticks = _ticks(every, place, axis)
    return theme.figure(
        *traces,
        height=height,
        shapes=across_it,
        annotations=[theme.line_name("chance", null)] if null == CHANCE else [],
        xaxis={
            "title": {"text": axis.title}, "tickmode": "array", "tickvals": list(ticks),
            "ticktext": list(ticks.values()), "zeroline": False,
        },
        yaxis={"title": {"text": response}, "tickformat": FORMATS.get(unit), "zeroline": False},
        showlegend=len(lines) > 1,
    )  # fmt: skip


def _places_across(every: Sequence[float], *, is_log: bool) -> dict[float, float]:
    """Where each number stands across; 0 has no logarithm, so that it stands a gap before the least."""
    if not is_log:
        return {x: x for x in every}
    logs = {x: math.log10(x) for x in every if x > 0}
    least = min(logs.values(), default=0.0)
    return {x: logs.get(x, least - APART) for x in every}


def _ticks(every: Sequence[float], place: Mapping[float, float], axis: Axis) -> dict[float, str]:
    """Place → what stands under it: names where they are given, else powers of ten between the ends, and 0."""
    if axis.names:
        return {place[x]: name for x, name in axis.names.items() if x in place}
    if not axis.is_log:
        return {place[x]: display.count(x) for x in every}
    ticks = {place[0.0]: "0"} if 0.0 in place else {}
    above = [x for x in every if x > 0]
    if not above:
        return ticks
    if len(above) <= MOST_TICKS and math.log10(above[-1] / above[0]) < 1.5:
        return ticks | {place[x]: display.compact(x) for x in above}
    powers = range(math.floor(math.log10(above[0])), math.ceil(math.log10(above[-1])) + 1)
    inside = [power for power in powers if above[0] <= 10**power <= above[-1]]
    if len(inside) < 2:
        inside = list(powers)
    return ticks | {float(power): display.compact(10.0**power) for power in inside}


def _faint(color: str) -> str:
    red, green, blue = (int(color[place : place + 2], 16) for place in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, 0.14)"
