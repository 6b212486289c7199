"""Small figures in one style: rows with a dot per model, or curves; colors are the models', named once above all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from explorer import display
from explorer.figures import theme
from explorer.figures.space import leave_space

HEIGHT, ROW, FRAME = 240, 21, 50  # pixels: of a figure, of one of its rows, of what is around them
FONT = 12
LABEL = 34  # characters of a row's name
LINE = 15  # pixels from one name to the next
UNDER = 76  # pixels above and below a plot whose lower axis has a name
TOP, NAMED_TOP = 16, 24  # pixels above a plot, and above one whose reference has its name there
STANDOFF = 12  # pixels between the numbers of the lower axis and its name
RIM = 1.12  # of what is drawn; Plotly leaves a twentieth or so free above and below
MARKS = {"solid": "—", "dash": "╌", "dot": "⋯", "dashdot": "-·"}  # how a line is drawn, before its name
TOGETHER = 0.12  # curves of one name that end within this share of what the figure spans share a name at their end


@dataclass(frozen=True, slots=True)
class Dot:
    """A number of a model in the row of this name, with its 95% interval over n (nan and 0 where it has none).

    run_id  where it is from
    start   where it was before, which is drawn as a ring with a line to the dot; nan for none
    faint   drawn as a ring: the other side of a pair
    """

    row: str
    model: str
    value: float
    low: float = math.nan
    high: float = math.nan
    n: int = 0
    run_id: str = ""
    start: float = math.nan
    faint: bool = False


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
    rows: Sequence[str] = (),
    least: int = HEIGHT,
) -> go.Figure:
    """A row per name with a dot per model: in the order of `rows`, or the highest at the top.

    `reference` is drawn as a line that is called `zero`; the figure is at least `least` pixels high.
    """
    means: dict[str, list[float]] = {}
    for dot in dots:
        means.setdefault(dot.row, []).append(dot.value)
    order = [row for row in reversed(rows) if row in means] or sorted(means, key=lambda row: _mean(means[row]))
    place = {row: number for number, row in enumerate(order)}
    models = [model for model in colors if any(dot.model == model for dot in dots)]
    figure = _figure(max(least, FRAME + ROW * len(order)))
    # Models of one row stand a little above each other, so that none hides another; rows of one model need none.
    crowded = len({(dot.row, dot.model) for dot in dots}) > len(order)
    for number, model in enumerate(models):
        dots_of_model = [dot for dot in dots if dot.model == model]
        shift = 0.17 - 0.34 * number / (len(models) - 1) if crowded and len(models) > 1 else 0.0
        color = colors[model]
        for dot in dots_of_model:
            if dot.start == dot.start:
                figure.add_trace(_way(dot, place[dot.row] + shift, color, tick))
        figure.add_trace(
            go.Scatter(
                x=[dot.value for dot in dots_of_model],
                y=[place[dot.row] + shift for dot in dots_of_model],
                mode="markers",
                showlegend=False,
                marker={
                    "size": 9,
                    "color": color,
                    "symbol": ["circle-open" if dot.faint else "circle" for dot in dots_of_model],
                    "line": {"width": 2, "color": color},
                },
                error_x=_error(dots_of_model, color),
                customdata=[[dot.run_id, _words(dot, tick)] for dot in dots_of_model],
                hovertemplate=_hover(model),
            )
        )
    if reference is not None:
        _reference(figure, reference, zero, across=False)
        figure.update_layout(margin={"t": NAMED_TOP}, height=figure.layout.height + NAMED_TOP - TOP)
    figure.update_xaxes(tickformat=_short(tick), nticks=6)
    if across:  # an empty title would take its place, too
        figure.update_xaxes(title={"text": across, "standoff": STANDOFF})
    figure.update_yaxes(
        tickmode="array", tickvals=list(place.values()), range=[-0.7, len(order) - 0.3], showgrid=False,
        ticktext=[theme.escape(display.name(row, LABEL)) for row in order],
    )  # fmt: skip
    # An axis whose name takes two lines leaves less of a low figure; its rows' names must not touch.
    margin = leave_space(figure).layout.margin
    figure.update_layout(height=max(figure.layout.height, margin.t + margin.b + ROW * len(order)))
    return figure


def small_curves(
    curves: Sequence[Curve],
    colors: Mapping[str, str],
    *,
    tick: str,
    across: str,
    up: str = "",
    reference: float | None = None,
    zero: str = "",
    ticks: Mapping[float, str] | None = None,
    least: int = HEIGHT,
) -> go.Figure:
    """A line per curve, its interval a band; `across`, `up` name the axes, `ticks` the lower one's places if few."""
    figure = _figure(least)
    # One trace for all bands of a color, with a gap between two: each trace costs the browser a millisecond or two.
    for color in dict.fromkeys(colors[curve.model] for curve in curves):
        xs: list[float | None] = []
        ys: list[float | None] = []
        for curve in curves:
            known = [(x, dot) for x, dot in zip(curve.xs, curve.dots, strict=True) if dot.low == dot.low]
            if colors[curve.model] == color and known:
                xs += [None, *(x for x, _ in known), *(x for x, _ in reversed(known))]
                ys += [None, *(dot.high for _, dot in known), *(dot.low for _, dot in reversed(known))]
        if xs:
            figure.add_trace(
                go.Scatter(
                    x=xs[1:],
                    y=ys[1:],
                    fill="toself",
                    mode="none",
                    fillcolor=_faint(color),
                    hoverinfo="skip",
                    showlegend=False,
                )
            )
    for curve in curves:
        color = colors[curve.model]
        figure.add_trace(
            go.Scatter(
                x=list(curve.xs),
                y=[dot.value for dot in curve.dots],
                mode="lines+markers",
                showlegend=False,
                line={"color": color, "width": 2, "dash": curve.dash},
                marker={"size": 5, "color": color},
                customdata=[[dot.run_id, _words(dot, tick)] for dot in curve.dots],
                hovertemplate=_hover(curve.model),
            )
        )
    if reference is not None:
        _reference(figure, reference, zero, across=True)
    _name_curves(figure, curves, colors, least, reference)
    figure.update_xaxes(title={"text": across, "standoff": STANDOFF}, showgrid=False)
    if ticks:
        figure.update_xaxes(tickmode="array", tickvals=list(ticks), ticktext=list(ticks.values()), tickangle=0)
    figure.update_yaxes(title={"text": up, "standoff": STANDOFF}, tickformat=_short(tick), nticks=5)
    return figure


def _figure(height: int) -> go.Figure:
    axis = {"tickfont": {"size": FONT}, "title": {"font": {"size": FONT}}, "zeroline": False}
    return theme.figure(
        height=height, showlegend=False, dragmode=False, margin={"l": 4, "r": 22, "t": TOP, "b": 4}, xaxis=axis,
        yaxis=axis,
    )  # fmt: skip


def _error(dots: Sequence[Dot], color: str) -> dict[str, object]:
    return theme.interval_bars(
        [dot.value for dot in dots], [dot.low for dot in dots], [dot.high for dot in dots], color
    )


def _way(dot: Dot, place: float, color: str, tick: str) -> go.Scatter:
    """From where a dot was to where it is."""
    return go.Scatter(
        x=[dot.start, dot.value],
        y=[place, place],
        mode="lines+markers",
        showlegend=False,
        line={"color": color, "width": 2},
        marker={"size": [9, 0], "symbol": "circle-open", "color": color, "line": {"width": 2, "color": color}},
        customdata=[[dot.run_id, f"<b>{theme.escape(dot.row)}</b><br>before: {theme.written(dot.start, tick)}"]] * 2,
        hovertemplate=_hover(dot.model),
    )


def _words(dot: Dot, tick: str) -> str:
    """What stands beside a dot that is pointed at."""
    ends = f" ({theme.written(dot.low, tick)} to {theme.written(dot.high, tick)})" if dot.low == dot.low else ""
    over = f", n = {dot.n:,}" if dot.n else ""
    return f"<b>{theme.escape(dot.row)}</b><br>{theme.written(dot.value, tick)}{ends}{over}"


def _short(tick: str) -> str:
    """The format without zeros at the end, for an axis."""
    return tick.replace("f", "~f")


def _hover(model: str) -> str:
    return f"%{{customdata[1]}}<extra>{theme.escape(model)}</extra>"


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


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


def _name_curves(
    figure: go.Figure, curves: Sequence[Curve], colors: Mapping[str, str], height: int, reference: float | None
) -> None:
    """A name at the end of its curves; where the curves of a name end far apart, a key of the dashes above them all."""
    ends: dict[str, list[float]] = {}
    for curve in curves:
        if curve.name and curve.dots:
            ends.setdefault(curve.name, []).append(curve.dots[-1].value)
    values = [dot.value for curve in curves for dot in curve.dots]
    span = max(values, default=1.0) - min(values, default=0.0) or 1.0
    if any(max(of_name) - min(of_name) > TOGETHER * span for of_name in ends.values()):
        dashes = {curve.name: curve.dash for curve in curves if curve.name}
        for name, dash in dashes.items():
            figure.add_trace(
                go.Scatter(
                    x=[None], y=[None], mode="lines", name=theme.escape(name), showlegend=True, hoverinfo="skip",
                    line={"color": theme.GRAY, "width": 2, "dash": dash},
                )
            )  # fmt: skip
        figure.update_layout(showlegend=True, legend={"font": {"size": FONT}, "y": 1.0}, margin={"t": 26})
        return
    # Lines of one color are told apart by their dashes, and so are their names.
    marks = {curve.name: MARKS.get(curve.dash, "●") for curve in curves}
    if len({colors[curve.model] for curve in curves}) > 1:
        marks = dict.fromkeys(marks, "●")
    # A name of one curve carries its color, since names that were moved apart stand beside no line's end.
    alone = {name: next(curve.model for curve in curves if curve.name == name) for name, of_name in ends.items()
             if len(of_name) == 1}  # fmt: skip
    apart = LINE / max(1, height - UNDER) * _drawn_span(curves, reference)
    for name, value in _apart({name: _mean(of_name) for name, of_name in ends.items()}, apart).items():
        dot = f'<span style="color:{colors[alone[name]]}">{marks[name]}</span> ' if name in alone else ""
        figure.add_annotation(
            x=1, xref="paper", xanchor="left", xshift=6, y=value, yanchor="middle", showarrow=False,
            text=dot + theme.escape(name), font={"size": FONT, "color": theme.GRAY},
        )  # fmt: skip
    mark = 12 * max((len(marks[name]) for name in alone), default=0)
    figure.update_layout(margin={"r": 12 + mark + 7 * max((len(name) for name in ends), default=0)})


def _drawn_span(curves: Sequence[Curve], reference: float | None) -> float:
    """From the lowest to the highest place that is drawn: intervals, the reference and the rim that Plotly leaves."""
    ends = [end for curve in curves for dot in curve.dots for end in (dot.value, dot.low, dot.high) if end == end]
    ends += [] if reference is None else [reference]
    return RIM * ((max(ends, default=1.0) - min(ends, default=0.0)) or 1.0)


def _apart(ends: Mapping[str, float], least: float) -> dict[str, float]:
    """The places with at least so much between them that no name covers another; a crowd keeps its middle."""
    crowds: list[list[tuple[str, float]]] = []
    for end in sorted(ends.items(), key=lambda end: end[1]):
        crowds.append([end])
        while len(crowds) > 1 and _lowest(crowds[-1], least) < _lowest(crowds[-2], least) + least * len(crowds[-2]):
            crowds[-2:] = [crowds[-2] + crowds[-1]]
    return {name: _lowest(crowd, least) + least * number for crowd in crowds for number, (name, _) in enumerate(crowd)}


def _lowest(crowd: Sequence[tuple[str, float]], least: float) -> float:
    """Where the lowest of names that stand one above the other begins, so that their middle is their curves'."""
    return _mean([value for _, value in crowd]) - least * (len(crowd) - 1) / 2


def _faint(color: str) -> str:
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, 0.12)"
