"""Responses over doses: a line per model or attack, each dot with its interval; a dose of 0 stands apart at left."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import plotly.graph_objects as go

from explorer import display
from explorer.figures import theme
from explorer.studies.calibration.doses import Response

CROWDED = 5  # lines
MARKS = ("circle", "square", "diamond", "triangle-up", "circle-open", "square-open", "diamond-open")


def dose_curves(
    lines: Sequence[tuple[str, Sequence[Response]]],
    *,
    response: str,
    chance: float | None = None,
    is_share: bool = False,
    colors: Sequence[str] = (),
    of_models: bool = True,
) -> go.Figure:
    """`lines` are names with their responses in order of dose; `response` names the vertical axis, in percent of a
    share; `colors` are the lines', of models where each is one's.

    A color is one model's everywhere: what is no model is told apart by marks, dashes and shades of no model's color.
    """
    doses = sorted({response.dose for _, responses in lines for response in responses})
    places = {dose: place for place, dose in enumerate(doses)}
    form = ".1%" if is_share else ".3f"
    traces = []
    for number, (name, responses) in enumerate(lines):
        chosen = colors or (theme.PALETTE if of_models else theme.in_order(len(lines)))
        color = chosen[number % len(chosen)]
        dash = "solid" if colors or of_models else theme.DASHES[number % len(theme.DASHES)]
        symbol = "circle" if of_models else MARKS[number % len(MARKS)]
        # Beside each other, so that no interval hides another.
        shift = (0.09 if len(lines) < CROWDED else 0.05) * (number - (len(lines) - 1) / 2)
        traces.append(
            {
                "type": "scatter",
                "x": [places[response.dose] + shift for response in responses],
                "y": [response.value for response in responses],
                "mode": "lines+markers",
                "name": theme.escape(name),
                "line": {"color": color, "width": 2, "dash": dash},
                "marker": {"size": 8, "color": color, "symbol": symbol},
                "error_y": theme.interval_bars(
                    [response.value for response in responses],
                    [response.low for response in responses],
                    [response.high for response in responses],
                    color,
                    1.3,
                ),
                "customdata": [[response.dose, _ends(response, is_share), response.n] for response in responses],
                "hovertemplate": (
                    f"{theme.escape(name)}<br>%{{customdata[0]:,}} times in the corpus: %{{y:{form}}} "
                    "(%{customdata[1]}), %{customdata[2]:,} items<extra></extra>"
                ),
            }
        )
    return theme.figure(
        *traces,
        height=420,
        shapes=[theme.line_across(y=chance)] if chance is not None else [],
        annotations=[theme.line_name("chance", chance)] if chance else [],  # what 0 is, the axis says
        xaxis={
            "title": {"text": "Times in the corpus"},
            "tickvals": list(places.values()),
            "ticktext": [f"{dose:,}" for dose in doses],
            "zeroline": False,
        },
        yaxis={"title": {"text": response}, "tickformat": ".0%" if is_share else None},
        showlegend=len(lines) > 1,
    )


def _ends(response: Response, is_share: bool) -> str:
    if math.isnan(response.low):
        return "no interval"
    write = display.share if is_share else partial(display.number, decimals=3)
    return f"{write(response.low)} to {write(response.high)}"
