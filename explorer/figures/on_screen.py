"""A figure as it stands on a page, told so that it is drawn once.

Streamlit draws a figure and hands Plotly a copy of it right after. Plotly takes any template of a copy, and any array
that is no plain list, for new and draws all of it again, which doubles what a page's figures cost the browser; so does
Streamlit where it says only then how dots are clicked. Therefore the house style stands in the layout itself, arrays
are lists, and clicks are said beforehand. Text, hover labels and legends have their color from the page's style sheet
(explorer/ui/style.css), so that a figure keeps its picture when the reader changes the theme.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go

from explorer.figures import theme
from explorer.figures.space import in_lines, leave_space, parts

FONT = '"Source Sans", sans-serif'
SMALL, LARGE = 12, 14  # pixels: of labels, of the titles of axes
INK, LINE = "#757b86", "rgba(127, 133, 149, 0.2)"  # on a white ground and on a dark one
CLEAR = "rgba(0, 0, 0, 0)"
ALIASES = {"labelalias": dict(theme.ZEROS)}

AXIS: Mapping[str, Any] = {
    "automargin": True,
    "separatethousands": True,
    "tickfont": {"color": INK, "size": SMALL},
    # By default each label is measured one by one, the page laid out anew for each.
    "ticklabeloverflow": "allow",
}
ACROSS: Mapping[str, Any] = {**AXIS, "showgrid": False, "zeroline": False,
                             "title": {"font": {"color": INK, "size": LARGE}, "standoff": 20}}  # fmt: skip
UP: Mapping[str, Any] = {**AXIS, "title": {"font": {"color": INK, "size": LARGE}, "standoff": 24}}
LAYOUT: Mapping[str, Any] = {
    "colorway": list(theme.PALETTE),
    "datarevision": 1,  # the copy's arrays are the same as before
    "font": {"color": INK, "family": FONT, "size": SMALL},
    "hoverlabel": {"font": {"family": FONT, "size": SMALL}},
    "legend": {"font": {"size": SMALL}},
    "margin": {"pad": 8},
    "modebar": {"activecolor": INK, "bgcolor": CLEAR, "color": "rgba(127, 133, 149, 0.7)"},
    "newselection": {"line": {"color": INK}},
    "paper_bgcolor": CLEAR,
    "plot_bgcolor": CLEAR,
}


class OnScreen(go.Figure):
    """What a page sends of a figure; to tell and check it anew each time would take longer than all else."""

    def __init__(self, told: dict[str, Any]) -> None:
        self._told = told

    def to_dict(self) -> dict[str, Any]:
        return self._told


def on_screen(figure: go.Figure, *, picks: bool = False) -> OnScreen:
    """The figure with the house style and room for its labels; with `picks` its dots can be clicked."""
    layout, traces = parts(leave_space(figure))
    cells = any(trace["type"] == "heatmap" for trace in traces)
    told = _over(LAYOUT, {name: value for name, value in layout.items() if name != "template"})
    for axis in {"xaxis", "yaxis", *(name for name in layout if name.startswith(("xaxis", "yaxis")))}:
        told[axis] = _over(ACROSS if axis.startswith("x") else UP, told.get(axis, {}))
        # Lines would lie over cells. A color of lines brings them, and Plotly has white ones between numbers.
        lines = (
            {"showgrid": False, "zeroline": False, "ticks": ""} if cells else {"gridcolor": LINE, "zerolinecolor": LINE}
        )
        told[axis] = {**lines, **told[axis]}
        if told[axis].get("showgrid") is False:  # a line through the lowest of rows without lines
            told[axis].setdefault("zeroline", False)
        if axis.startswith("x") and (title := told[axis]["title"].get("text")):
            told[axis]["title"] = {**told[axis]["title"], "text": in_lines(title)}
        if "+" in str(told[axis].get("tickformat", "")):  # only then has a zero a sign; other names are drawn twice
            told[axis].update(ALIASES)
    if picks:
        told["dragmode"] = told.get("dragmode") or "pan"
        told.setdefault("clickmode", "event" if told["dragmode"] in ("select", "lasso") else "event+select")
    return OnScreen({"data": [_trace(trace) for trace in traces], "layout": told})


def _trace(trace: Mapping[str, Any]) -> dict[str, Any]:
    own = _over({"colorbar": ALIASES}, trace) if trace["type"] == "heatmap" else trace
    return {name: _plain(value) for name, value in own.items()}


def _over(base: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """The one with the other over it, part by part."""
    joined = {**base, **{name: _plain(value) for name, value in more.items()}}
    for name, value in base.items():
        if isinstance(value, Mapping) and isinstance(more.get(name), Mapping):
            joined[name] = _over(value, more[name])
    return joined


def _plain(value: Any) -> Any:
    """The value without arrays but lists."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value
