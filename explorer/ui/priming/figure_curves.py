"""How a judgment moves as the context before it grows: a line per condition, with its band."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from explorer import display
from explorer.figures import theme

Scale = Callable[[Iterable[float]], list[float]]

GAP = 0.04  # between panels, as a share of the width
ONE, SEVERAL, BETWEEN = 330, 230, 66  # pixels: a lone row of panels, one of several, what is between two
TITLED = 84  # pixels above panels that have titles, for these and the legend


@dataclass(frozen=True, slots=True)
class Look:
    """How a condition is called and drawn: acceptable contexts violet, unacceptable ones olive and dashed; filled where
    a context is of the pair's suite.
    """

    name: str
    color: str
    dash: str
    symbol: str


LOOKS: Mapping[str, Look] = {
    "matched_acceptable": Look("matched, acceptable", theme.TWO_AND_TWO[0], "solid", "circle"),
    "mismatched_acceptable": Look("mismatched, acceptable", theme.TWO_AND_TWO[1], "solid", "circle-open"),
    "unrelated": Look("unrelated", theme.GRAY, "dot", "cross"),
    "mismatched_unacceptable": Look("mismatched, unacceptable", theme.TWO_AND_TWO[2], "dash", "diamond-open"),
    "matched_unacceptable": Look("matched, unacceptable", theme.TWO_AND_TWO[3], "dash", "diamond"),
    "acceptable": Look("acceptable", theme.TWO_AND_TWO[0], "solid", "circle"),
    "unacceptable": Look("unacceptable", theme.TWO_AND_TWO[3], "dash", "diamond"),
}
# The same conditions where acceptability is another's: CrowS-Pairs has no ungrammatical sentences.
STEREOTYPES = {"acceptable": "anti-stereotypical", "unacceptable": "stereotypical"}


def name_of(condition: str, *, stereotypes: bool = False) -> str:
    """What a condition is called."""
    name = LOOKS[condition].name
    if stereotypes:
        for plain, other in STEREOTYPES.items():
            name = ", ".join(other if part == plain else part for part in name.split(", "))
    return name


@dataclass(frozen=True, slots=True)
class Panel:
    """One of several figures side by side: its title and its curves.

    `curves` has the columns condition (a key of LOOKS), length (tokens), value, low, high, n.
    """

    title: str
    curves: pd.DataFrame


def priming_curves(
    panels: Sequence[Panel],
    *,
    title: str,
    tick: str,
    zero: float | None = None,
    zero_name: str = "",
    stereotypes: bool = False,
) -> go.Figure:
    """Panels with a common scale, a line per condition over the tokens of context; `zero` is drawn as a line.

    Differences of shares (`tick` has a sign and a percent sign) are drawn in points.
    """
    columns = min(3, len(panels))
    rows = math.ceil(len(panels) / columns)
    titled = any(panel.title for panel in panels)
    height = ONE if rows == 1 else SEVERAL * rows
    figure = make_subplots(
        rows=rows,
        cols=columns,
        shared_yaxes="all",
        horizontal_spacing=GAP,
        vertical_spacing=BETWEEN / height if rows > 1 else None,
        subplot_titles=[theme.escape(panel.title) for panel in panels] if titled else None,
    )
    in_legend: set[str] = set()
    for place, panel in enumerate(panels):
        where = {"row": place // columns + 1, "col": place % columns + 1}
        for condition in (name for name in LOOKS if name in set(panel.curves["condition"])):
            curve = panel.curves[panel.curves["condition"] == condition].sort_values("length")
            scale = theme.points if _is_in_points(tick) else list
            look, name = LOOKS[condition], name_of(condition, stereotypes=stereotypes)
            figure.add_trace(_band(curve, look, condition, scale), **where)
            figure.add_trace(
                _line(curve, look, name, tick, condition, scale, in_legend=condition not in in_legend), **where
            )
            in_legend.add(condition)
    figure.update_layout(theme.layout(height=70 + height))
    figure.update_layout(showlegend=True, margin={"t": TITLED} if titled else {})
    figure.update_annotations(font={"size": 14}, yshift=2)
    longest = max((float(panel.curves["length"].max()) for panel in panels), default=0.0) or 1.0
    figure.update_xaxes(range=[-0.02 * longest, 1.04 * longest])  # of a mark at 0 half would be gone
    # Told and not left to Plotly, which on a slow first visit has drawn the axis of an empty figure.
    figure.update_yaxes(tickformat="+" if _is_in_points(tick) else tick, range=_range(panels, tick, zero))
    for row in range(1, rows + 1):
        figure.update_yaxes(title_text=title, row=row, col=1)
    for place in range(max(0, len(panels) - columns), len(panels)):  # the lowest panel of each column
        figure.update_xaxes(title_text="Tokens of context", row=place // columns + 1, col=place % columns + 1)
    if zero is not None:
        figure.add_hline(y=zero, line={"color": theme.GRAY, "width": 1, "dash": "dot"})
        if zero_name:
            figure.add_annotation(
                x=1, xref="x domain", xanchor="right", y=zero, yanchor="bottom", showarrow=False, text=zero_name,
                font={"size": 12, "color": theme.GRAY},
            )  # fmt: skip
    return figure


def _range(panels: Sequence[Panel], tick: str, zero: float | None) -> list[float] | None:
    """From the lowest to the highest of what is drawn, and some more; None where nothing is."""
    columns = pd.concat([panel.curves[["value", "low", "high"]] for panel in panels])
    scale = 100 if _is_in_points(tick) else 1
    ends = [scale * end for end in columns.to_numpy(dtype=float).ravel() if math.isfinite(end)]
    if not ends:
        return None
    ends += [] if zero is None else [zero]
    rim = 0.06 * (max(ends) - min(ends)) or 1.0
    return [min(ends) - rim, max(ends) + rim]


def _is_in_points(tick: str) -> bool:
    """Whether an axis of this format is of differences of shares."""
    return tick.startswith("+") and tick.endswith("%")


def _line(
    curve: pd.DataFrame, look: Look, name: str, tick: str, group: str, scale: Scale, *, in_legend: bool
) -> go.Scatter:
    return go.Scatter(
        x=curve["length"],
        y=scale(curve["value"]),
        mode="lines+markers",
        name=name,
        legendgroup=group,
        showlegend=in_legend,
        line={"color": look.color, "width": 2.2, "dash": look.dash},
        marker={"size": 7, "color": look.color, "symbol": look.symbol, "line": {"width": 2, "color": look.color}},
        customdata=[
            [
                f"{group}|{row['length']:.0f}",
                theme.hover(
                    f"{name}, {row['length']:,.0f} tokens",
                    f"{_value_in_words(row['value'], tick)} "
                    f"({_value_in_words(row['low'], tick)} to {_value_in_words(row['high'], tick)}), "
                    f"{row['n']:,.0f} judgments",
                ),
            ]
            for row in curve.to_dict("records")
        ],
        hovertemplate="%{customdata[1]}<extra></extra>",
    )


def _value_in_words(value: float, tick: str) -> str:
    """A value of the axis, written as everywhere."""
    signed = tick.startswith("+")
    if tick.endswith("%"):
        return f"{display.points(value)} points" if signed else display.share(value)
    return display.number(value, signed=signed)


def _band(curve: pd.DataFrame, look: Look, group: str, scale: Scale) -> go.Scatter:
    known = curve[curve["low"].notna() & curve["high"].notna()]
    return go.Scatter(
        x=[*known["length"], *known["length"][::-1]],
        y=scale([*known["high"], *known["low"][::-1]]),
        fill="toself",
        mode="none",
        fillcolor=_faint(look.color),
        legendgroup=group,
        hoverinfo="skip",
        showlegend=False,
    )


def _faint(color: str) -> str:
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, 0.10)"
