"""How well scores of memorization tell right from wrong answers: true against false positives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from explorer.figures import theme

HEIGHT = 440
BINS = 40


def roc_curves(curves: Mapping[str, tuple[Sequence[float], Sequence[float], float]]) -> go.Figure:
    """A line a name: (false positive rates, true positive rates, area); the diagonal is a coin's.

    Corners are joined straight: equal scores are told apart by chance, as the area counts them.
    """
    traces: list[go.Scatter] = [
        go.Scatter(
            x=[0, 1], y=[0, 1], mode="lines", name="a coin", line={"color": theme.GRAY, "width": 1, "dash": "dot"},
            hoverinfo="skip",
        )
    ]  # fmt: skip
    for number, (name, (false, true, area)) in enumerate(curves.items()):
        traces.append(
            go.Scatter(
                x=list(false),
                y=list(true),
                mode="lines",
                name=f"{name}, AUC {area:.2f}",
                line={"color": theme.PALETTE[number % len(theme.PALETTE)], "width": 2},
                hovertemplate=f"%{{y:.0%}} of right answers at %{{x:.0%}} of wrong ones<extra>{name}</extra>",
            )
        )
    figure = theme.figure(*traces, height=HEIGHT)
    figure.update_xaxes(title_text="Wrong answers taken for right", tickformat=".0%", range=[-0.01, 1.01])
    figure.update_yaxes(title_text="Right answers found", tickformat=".0%", range=[-0.01, 1.01])
    return figure


def two_scores(points: Mapping[str, tuple[Sequence[float], Sequence[float]]], title: str) -> go.Figure:
    """A dot an instance: the score of the right text against that of the other; on the line both are alike."""
    colors = theme.VERDICTS
    traces = [
        go.Scattergl(
            x=list(other), y=list(right), mode="markers", name=name,
            marker={"size": 5, "opacity": 0.55, "color": colors.get(name, theme.GRAY)},
            hovertemplate=f"right text %{{y:.3f}}, other %{{x:.3f}}<extra>{name}</extra>",
        )
        for name, (right, other) in points.items()
    ]  # fmt: skip
    figure = theme.figure(*traces, height=HEIGHT)
    values = [value for right, other in points.values() for side in (right, other) for value in side]
    if values:
        ends = [min(values), max(values)]
        figure.add_trace(
            go.Scatter(
                x=ends, y=ends, mode="lines", line={"color": theme.GRAY, "width": 1, "dash": "dot"}, hoverinfo="skip",
                showlegend=False,
            )
        )  # fmt: skip
    figure.update_xaxes(title_text=f"{theme.escape(title)} of the other text")
    figure.update_yaxes(title_text=f"{theme.escape(title)} of the right text")
    return figure


def one_score(values: Mapping[str, Sequence[float]], title: str) -> go.Figure:
    """How many texts have which score, the right and the wrong answers over one another, in the same bins."""
    every = [value for scores in values.values() for value in scores]
    low, high = min(every, default=0.0), max(every, default=1.0)
    width = (high - low) / BINS or 1.0
    traces = [
        go.Histogram(
            x=list(scores), name=f"{name} ({len(scores):,})", opacity=0.6,
            marker={"color": theme.VERDICTS.get(name, theme.GRAY)},
            xbins={"start": low - width / 2, "end": high + width, "size": width},
            hovertemplate=f"%{{y:,}} {name} at %{{x}}<extra></extra>",
        )
        for name, scores in values.items()
    ]  # fmt: skip
    figure = theme.figure(*traces, height=HEIGHT, barmode="overlay")
    figure.update_xaxes(title_text=theme.escape(title))
    figure.update_yaxes(title_text="Texts")
    return figure
