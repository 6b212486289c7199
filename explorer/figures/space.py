"""Space for what stands around a plot, given before it is drawn.

Plotly draws a figure, measures what its axes write, widens the margins, and draws it once more. Margins that are wide
enough from the start spare that second drawing, a third of all that a page's figures cost the browser. They are
estimates: where one is too small, Plotly still widens it.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from explorer import display

Part = Mapping[str, Any]  # of a figure

LABELS, TITLE = 22, 38  # pixels left of a plot, beside the width of its labels: without a title, and what one adds
UNDER, UNDER_TITLE = 38, 10  # pixels under a plot: the labels of its axis, and what a title adds beside its standoff
STANDOFF = 20  # pixels, which the page's theme puts where a figure says nothing
LONGEST, LINE = 40, 17  # letters of a title in one line; pixels of one more
OVER = 42  # pixels above a plot, of a legend in one line
SIZE = 13  # pixels of a label that says nothing of its size
NARROW, WIDE = frozenset(" ijlft.,:;'|!()[]-·I1r"), frozenset("mwMW%@—")  # letters, as the font draws them


def leave_space(figure: go.Figure) -> go.Figure:
    """The figure with margins for the labels and titles of its axes and for its legend; wider ones stay."""
    layout, traces = parts(figure)
    margin = layout.get("margin", {})
    needed = {"l": _left(layout, traces), "b": _under(layout), "t": OVER if _has_legend(layout, traces) else 0}
    if any(space > margin.get(side, 0) for side, space in needed.items()):
        figure.layout.margin = {**margin, **{side: max(space, margin.get(side, 0)) for side, space in needed.items()}}
    return figure


def parts(figure: go.Figure) -> tuple[Part, Sequence[Part]]:
    """Layout and traces as plain dictionaries: to ask the figure's own objects for all this takes ten times as long."""
    try:
        return figure._layout, figure._data
    except AttributeError:  # a version of Plotly that keeps them elsewhere
        told = figure.to_dict()
        return told.get("layout", {}), told.get("data", [])


def in_lines(title: str) -> str:
    """The title of an axis, broken near its middle where a narrow page would cut it."""
    if len(title) <= LONGEST or "<br>" in title:
        return title
    return "<br>".join(textwrap.wrap(title, len(title) // 2 + 6, break_long_words=False))


def width(text: str, size: float = SIZE) -> float:
    """About how many pixels a text takes; tags of Plotly are not written."""
    longest = 0.0
    for line in text.split("<br>"):
        ems = sum(0.3 if letter in NARROW else 0.85 if letter in WIDE else 0.6 if letter.isupper() else 0.52
                  for letter in line)  # fmt: skip
        longest = max(longest, ems)
    return longest * size


def _left(layout: Part, traces: Sequence[Part]) -> float:
    axis = layout.get("yaxis", {})
    if axis.get("visible") is False or axis.get("side") == "right":
        return 0
    title = TITLE if _title(axis).get("text") else 0
    if axis.get("showticklabels") is False:
        return title
    labels = _labels(axis, traces)
    return math.ceil(LABELS + title + max((width(label, _size(axis)) for label in labels), default=0.0))


def _under(layout: Part) -> float:
    axes = [axis for name, axis in layout.items() if name.startswith("xaxis")]
    return max((_under_axis(axis) for axis in axes), default=UNDER)


def _under_axis(axis: Part) -> float:
    if axis.get("visible") is False or axis.get("side") == "top" or axis.get("showticklabels") is False:
        return 0
    title = _title(axis)
    more = in_lines(title.get("text") or "").count("<br>")
    titled = UNDER_TITLE + LINE * more + title.get("standoff", STANDOFF) if title.get("text") else 0
    # Labels that are turned hang down by their width.
    turned = abs(math.sin(math.radians(axis.get("tickangle") or 0)))
    ticks = _listed(axis.get("ticktext")) if turned else []
    longest = max((width(str(label), _size(axis)) for label in ticks), default=0.0)
    return math.ceil(UNDER + 2 * (_size(axis) - SIZE) + titled + turned * longest)


def _title(axis: Part) -> Part:
    return axis.get("title") or {}


def _size(axis: Part) -> float:
    return float(axis.get("tickfont", {}).get("size", SIZE))


def _labels(axis: Part, traces: Sequence[Part]) -> list[str]:
    """What an upright axis writes, at its widest."""
    if axis.get("ticktext") is not None:
        return [str(label) for label in _listed(axis["ticktext"])]
    values = [value for trace in traces if trace.get("yaxis", "y") == "y" for value in _listed(trace.get("y"))]
    names = [value for value in values if isinstance(value, str)]
    if names:
        return names
    known = [value for value in [*values, *(axis.get("range") or ())]
             if isinstance(value, int | float) and math.isfinite(value)]  # fmt: skip
    if known:
        return [_widest(min(known), max(known), axis.get("tickformat", ""), axis.get("type") == "log")]
    return ["1,000"] if any(trace["type"] == "histogram" for trace in traces) else []  # the browser counts


def _widest(low: float, high: float, form: str, log: bool) -> str:
    """The widest number between two ends, as an axis writes it."""
    sign = display.MINUS if low < 0 else "+" if "+" in form else ""
    most, span = max(abs(low), abs(high)), high - low
    if "%" in form:
        return f"{sign}100%" if most >= 0.9 else f"{sign}80%"
    if log:
        return f"{sign}100M"
    return f"{sign}{most:,.{0 if span > 4 else 1 if span > 0.4 else 2}f}"


def _listed(values: Any) -> list[Any]:
    if values is None:
        return []
    return values.tolist() if hasattr(values, "tolist") else list(values)  # of numpy, or a tuple


def _has_legend(layout: Part, traces: Sequence[Part]) -> bool:
    if layout.get("showlegend") is False or layout.get("legend", {}).get("orientation") != "h":
        return False
    named = [trace for trace in traces if trace["type"] != "heatmap" and trace.get("showlegend") is not False]
    return len(named) > 1 or bool(named and layout.get("showlegend")) or any(map(_wants_legend, named))


def _wants_legend(trace: Part) -> bool:
    return bool(trace.get("showlegend"))
