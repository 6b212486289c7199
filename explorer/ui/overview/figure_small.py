"""Small figures in one style: rows with a dot a model, or curves; colors are the models', named once above them all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from explorer import display
from explorer.figures import theme

HEIGHT, ROW, FRAME = 240, 21, 50  # pixels: of a figure, of one of its rows, of what is around them
FONT = 12
LABEL = 34  # characters of a row's name


@dataclass(frozen=True, slots=True)
class Dot:
    """A number of a model with its 95% interval, in the row of this name; `run_id` says where it is from."""

    row: str
    model: str
    value: float
    low: float
    high: float
    n: int
    run_id: str


@dataclass(frozen=True, slots=True)
class Curve:
    """A line of dots of one model; `name` is written at its end, once for all curves of this name."""

    model: str
    name: str
    dash: str
    xs: tuple[float, ...]
    dots: tuple[Dot, ...]


def small_dots(
    dots: Sequence[Dot],
    colors: Mapping[str, str],
    *,
    tick: str,
    across: str = "",
    reference: float | None = None,
    zero: str = "",
) -> go.Figure:
    """A row a name, the highest at the top, a dot a model; `reference` is drawn as a line that is called `zero`."""
    means: dict[str, list[float]] = {}
    for dot in dots:
        means.setdefault(dot.row, []).append(dot.value)
    rows = sorted(means, key=lambda row: sum(means[row]) / len(means[row]))
    place = {row: number for number, row in enumerate(rows)}
    models = [model for model in colors if any(dot.model == model for dot in dots)]
    figure = _figure(max(HEIGHT, FRAME + ROW * len(rows)))
    for number, model in enumerate(models):
        own = [dot for dot in dots if dot.model == model]
        # Models of one row stand a little above each other, so that no interval hides another.
        shift = 0.0 if len(models) == 1 else 0.17 - 0.34 * number / (len(models) - 1)
        figure.add_trace(
            go.Scatter(
                x=[dot.value for dot in own],
                y=[place[dot.row] + shift for dot in own],
                mode="markers",
                marker={"size": 8, "color": colors[model]},
                error_x=_error(own, colors[model]),
                customdata=[_data(dot, dot.row) for dot in own],
                hovertemplate=_hover("x", tick, model),
            )
        )
    if reference is not None:
        _reference(figure, reference, zero, across=False)
    figure.update_xaxes(tickformat=tick, nticks=6, title={"text": across, "standoff": 4})
    figure.update_yaxes(
        tickmode="array", tickvals=list(place.values()), range=[-0.7, len(rows) - 0.3], showgrid=False,
        ticktext=[theme.escape(display.name(row, LABEL)) for row in rows],
    )  # fmt: skip
    return figure


def small_curves(
    curves: Sequence[Curve],
    colors: Mapping[str, str],
    *,
    tick: str,
    across: str,
    reference: float | None = None,
    zero: str = "",
    ticks: Mapping[float, str] | None = None,
) -> go.Figure:
    """A line a curve, its interval a band; `across` names the lower axis, `ticks` its places where it has few."""
    figure = _figure(HEIGHT)
    for curve in curves:
        color = colors[curve.model]
        known = [(x, dot) for x, dot in zip(curve.xs, curve.dots, strict=True) if dot.low == dot.low]
        if known:
            figure.add_trace(
                go.Scatter(
                    x=[*(x for x, _ in known), *(x for x, _ in reversed(known))],
                    y=[*(dot.high for _, dot in known), *(dot.low for _, dot in reversed(known))],
                    fill="toself",
                    mode="none",
                    fillcolor=_faint(color),
                    hoverinfo="skip",
                )
            )
    for curve in curves:
        color = colors[curve.model]
        figure.add_trace(
            go.Scatter(
                x=list(curve.xs),
                y=[dot.value for dot in curve.dots],
                mode="lines+markers",
                line={"color": color, "width": 2, "dash": curve.dash},
                marker={"size": 5, "color": color},
                customdata=[_data(dot, dot.row) for dot in curve.dots],
                hovertemplate=_hover("y", tick, curve.model),
            )
        )
    if reference is not None:
        _reference(figure, reference, zero, across=True)
    for name, value in _apart(_ends(curves)).items():
        figure.add_annotation(
            x=1, xref="paper", xanchor="left", xshift=6, y=value, yanchor="middle", showarrow=False,
            text=theme.escape(name), font={"size": FONT, "color": theme.GRAY},
        )  # fmt: skip
    named = max((len(curve.name) for curve in curves), default=0)
    figure.update_layout(margin={"r": 12 + 7 * named})
    figure.update_xaxes(title={"text": across, "standoff": 4}, showgrid=False)
    if ticks:
        figure.update_xaxes(tickmode="array", tickvals=list(ticks), ticktext=list(ticks.values()))
    figure.update_yaxes(tickformat=tick, nticks=5)
    return figure


def _figure(height: int) -> go.Figure:
    figure = theme.figure(height=height, showlegend=False, dragmode=False)
    figure.update_layout(margin={"l": 4, "r": 10, "t": 14, "b": 4})
    figure.update_xaxes(tickfont={"size": FONT}, title={"font": {"size": FONT}}, zeroline=False)
    figure.update_yaxes(tickfont={"size": FONT}, title={"font": {"size": FONT}}, zeroline=False)
    return figure


def _error(dots: Sequence[Dot], color: str) -> dict[str, object]:
    return {
        "type": "data", "symmetric": False, "color": color, "thickness": 1.4, "width": 0,
        "array": [max(0.0, dot.high - dot.value) for dot in dots],
        "arrayminus": [max(0.0, dot.value - dot.low) for dot in dots],
    }  # fmt: skip


def _data(dot: Dot, name: str) -> list[object]:
    return [dot.run_id, theme.escape(name), dot.low, dot.high, dot.n]


def _hover(axis: str, tick: str, model: str) -> str:
    ends = f"%{{customdata[2]:{tick}}} to %{{customdata[3]:{tick}}}"
    return (
        f"<b>%{{customdata[1]}}</b><br>%{{{axis}:{tick}}} ({ends}), n = %{{customdata[4]:,}}"
        f"<extra>{theme.escape(model)}</extra>"
    )


def _reference(figure: go.Figure, value: float, name: str, *, across: bool) -> None:
    line = {"color": theme.GRAY, "width": 1, "dash": "dot"}
    font = {"size": FONT - 1, "color": theme.GRAY}
    if across:
        figure.add_hline(y=value, line=line)
        figure.add_annotation(
            x=1, xref="paper", xanchor="right", y=value, yanchor="bottom", showarrow=False, text=name, font=font
        )
    else:
        figure.add_vline(x=value, line=line)
        figure.add_annotation(x=value, y=1, yref="paper", yanchor="bottom", showarrow=False, text=name, font=font)


def _ends(curves: Sequence[Curve]) -> dict[str, float]:
    """Where the curves of a name end, in the middle of them."""
    ends: dict[str, list[float]] = {}
    for curve in curves:
        if curve.name and curve.dots:
            ends.setdefault(curve.name, []).append(curve.dots[-1].value)
    return {name: sum(values) / len(values) for name, values in ends.items()}


def _apart(ends: Mapping[str, float], least: float = 0.075) -> dict[str, float]:
    """The places with so much between them that no name covers another, as a share of what they span."""
    span = max(max(ends.values(), default=1.0) - min(0.0, *ends.values(), 0.0), 1e-9)
    placed: dict[str, float] = {}
    for name, value in sorted(ends.items(), key=lambda end: end[1]):
        lowest = max(placed.values()) + least * span if placed else value
        placed[name] = max(value, lowest)
    return placed


def _faint(color: str) -> str:
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, 0.12)"
